package store

import (
	"context"
	"errors"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/tenant"
)

const columns = `id, name, plan, environment, mfa_required, agreement_accepted_at, created_at`

const insertTenant = `
	INSERT INTO tenant (id, name, plan, environment, created_at) VALUES ($1, $2, $3, $4, $5)
	ON CONFLICT (id) DO NOTHING`

const selectTenant = `SELECT ` + columns + ` FROM tenant WHERE id = $1`

// Create is tenant.Store's.
func (s *Store) Create(ctx context.Context, t tenant.Tenant) (tenant.Tenant, error) {
	var stored *tenant.Tenant
	b := pg.Tenant(t.ID)
	b.Exec(insertTenant, t.ID, t.Name, t.Plan, t.Environment, t.CreatedAt)
	pg.Row(b, &stored, selectTenant, t.ID)
	if err := s.DB.Send(ctx, b); err != nil {
		return tenant.Tenant{}, err
	}
	if stored == nil {
		return tenant.Tenant{}, errors.New("a tenant just stored is not there") //nolint:err113 // cannot be
	}
	return *stored, nil
}

// Read is tenant.Store's.
func (s *Store) Read(ctx context.Context, id string) (*tenant.Tenant, error) {
	var found *tenant.Tenant
	b := pg.Tenant(id)
	pg.Row(b, &found, selectTenant, id)
	err := s.DB.Send(ctx, b)
	return found, err
}

const updatePlan = `UPDATE tenant SET plan = $2 WHERE id = $1 RETURNING ` + columns

// ChangePlan is tenant.Store's.
func (s *Store) ChangePlan(ctx context.Context, id, plan string, e audit.Entry) (*tenant.Tenant, error) {
	var changed *tenant.Tenant
	b := pg.Tenant(id)
	audit.ChangeRow(b, &changed, e, updatePlan, id, plan)
	endSessions(b, id)
	err := s.DB.Send(ctx, b)
	return changed, err
}
