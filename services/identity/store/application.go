package store

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

const applicationColumns = `id, tenant_id, name, launch_url, secret_sealed, environment, created_at`

// administrate lets a batch see and change the applications of all tenants and of none.
func administrate(b *pg.Batch) {
	b.Exec(`SELECT set_config('app.administrator', 'on', true)`)
}

const insertApplication = `
	INSERT INTO external_application (id, tenant_id, name, launch_url, secret_sealed, environment, created_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7)`

// CreateApplication is identity.ApplicationStore's. The idempotency key is the caller's tenant's.
func (s *Store) CreateApplication(ctx context.Context, a identity.Application, key idempotency.Key, entries ...audit.Entry) (*idempotency.Record, error) {
	b := pg.Tenant(key.Tenant)
	key.Lock(b)
	key.Keep(b, statusCreated, []byte{}, a.ID)
	audit.Keep(b, entries...)
	administrate(b)
	b.Exec(insertApplication, a.ID, a.TenantID, a.Name, a.LaunchURL, a.SecretSealed, a.Environment, a.CreatedAt)
	if err := s.DB.Send(ctx, b); err != nil {
		return key.Repeat(ctx, s.DB, err)
	}
	return nil, nil //nolint:nilnil // no repeat
}

const selectApplication = `SELECT ` + applicationColumns + ` FROM external_application WHERE id = $1`

// FindApplication is identity.ApplicationStore's.
func (s *Store) FindApplication(ctx context.Context, id string) (*identity.Application, error) {
	var found *identity.Application
	b := credential(id)
	pg.Row(b, &found, selectApplication, id)
	err := s.DB.Send(ctx, b)
	return found, err
}

const (
	listApplications = `
		SELECT ` + applicationColumns + ` FROM external_application
		WHERE environment = $1 AND ($2::uuid IS NULL OR id > $2)
		ORDER BY id LIMIT $3 OFFSET $4`
	countApplications = `SELECT count(*) FROM external_application WHERE environment = $1`
)

// ListApplications is identity.ApplicationStore's.
func (s *Store) ListApplications(ctx context.Context, environment string, part page.Request) ([]identity.Application, int64, error) {
	var list []identity.Application
	var total int64
	b := pg.Global()
	administrate(b)
	pg.Value(b, &total, countApplications, environment)
	pg.Rows(b, &list, listApplications, environment, cursor(part.After), part.Size+1, part.Offset())
	err := s.DB.Send(ctx, b)
	return list, total, err
}

const applicationsFor = `
	SELECT ` + applicationColumns + ` FROM external_application
	WHERE (tenant_id = $1 OR tenant_id IS NULL) AND environment = $2
	ORDER BY lower(name), id LIMIT $3`

// ApplicationsFor is identity.ApplicationStore's.
func (s *Store) ApplicationsFor(ctx context.Context, environment, tenant string) ([]identity.Application, error) {
	var list []identity.Application
	b := pg.Tenant(tenant)
	pg.Rows(b, &list, applicationsFor, tenant, environment, identity.MostApplications)
	err := s.DB.Send(ctx, b)
	return list, err
}

const deleteApplication = `DELETE FROM external_application WHERE id = $1 AND environment = $2`

// DeleteApplication is identity.ApplicationStore's.
func (s *Store) DeleteApplication(ctx context.Context, environment, id string, e audit.Entry) (bool, error) {
	var deleted int64
	b := pg.Global()
	administrate(b)
	audit.Change(b, &deleted, e, deleteApplication, id, environment)
	err := s.DB.Send(ctx, b)
	return deleted == 1, err
}
