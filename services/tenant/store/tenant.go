package store

import (
	"context"
	"errors"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/tenant"
)

// columns are a tenant's, selected from tenants: with the acceptance of the agreement in effect now.
const (
	columns = `t.id, t.name, t.plan, t.environment, t.mfa_required, a.accepted_at AS agreement_accepted_at, t.created_at`
	tenants = `tenant t LEFT JOIN agreement_acceptance a ON a.tenant_id = t.id AND a.agreement_id = ` + inEffect
)

// The Owner is stored with the tenant and never again: a repeat must not let in who has left since.
const insertTenant = `
	WITH made AS (
		INSERT INTO tenant (id, name, plan, environment, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (id) DO NOTHING RETURNING id, created_at
	), told AS (
		INSERT INTO ` + audit.Table + ` SELECT $8::json FROM made
	)
	INSERT INTO membership (tenant_id, user_id, role_ids, created_at)
	SELECT $1, $6, ARRAY[$7::uuid], created_at FROM made WHERE $6::uuid IS NOT NULL`

const selectTenant = `SELECT ` + columns + ` FROM ` + tenants + ` WHERE t.id = $1`

func insert(b *pg.Batch, t tenant.Tenant, owner string, e audit.Entry) {
	b.Exec(insertTenant, t.ID, t.Name, t.Plan, t.Environment, t.CreatedAt, given(owner), tenant.RoleOwner, audit.List(e))
}

// Create is tenant.Store's.
func (s *Store) Create(ctx context.Context, t tenant.Tenant, owner string, e audit.Entry) (tenant.Tenant, error) {
	var stored *tenant.Tenant
	b := pg.Tenant(t.ID)
	insert(b, t, owner, e)
	pg.Row(b, &stored, selectTenant, t.ID)
	if err := s.DB.Send(ctx, b); err != nil {
		return tenant.Tenant{}, err
	}
	if stored == nil {
		return tenant.Tenant{}, errors.New("a tenant just stored is not there") //nolint:err113 // cannot be
	}
	return *stored, nil
}

const statusCreated = 201

// CreateOnce is tenant.Store's.
func (s *Store) CreateOnce(ctx context.Context, t tenant.Tenant, key idempotency.Key, answer []byte, e audit.Entry) (*idempotency.Record, error) {
	b := pg.Tenant(t.ID)
	key.Lock(b)
	insert(b, t, "", e)
	if key.Given() {
		as(b, key.Tenant) // the key is of the tenant of who asks
		key.Keep(b, statusCreated, answer, t.ID)
	}
	return key.Repeat(ctx, s.DB, s.DB.Send(ctx, b))
}

// Read is tenant.Store's.
func (s *Store) Read(ctx context.Context, id string) (*tenant.Tenant, error) {
	var found *tenant.Tenant
	b := pg.Tenant(id)
	pg.Row(b, &found, selectTenant, id)
	err := s.DB.Send(ctx, b)
	return found, err
}

const updatePlan = `UPDATE tenant SET plan = $2 WHERE id = $1`

// ChangePlan is tenant.Store's.
func (s *Store) ChangePlan(ctx context.Context, id, plan string, e audit.Entry) (*tenant.Tenant, error) {
	var changed *tenant.Tenant
	var updated int64
	b := pg.Tenant(id)
	audit.Change(b, &updated, e, updatePlan, id, plan)
	pg.Row(b, &changed, selectTenant, id)
	endSessions(b, id)
	err := s.DB.Send(ctx, b)
	return changed, err
}

const updateTenant = `UPDATE tenant SET name = coalesce($2, name), mfa_required = coalesce($3, mfa_required) WHERE id = $1`

// Change is tenant.Store's.
func (s *Store) Change(ctx context.Context, id string, c tenant.Change, e audit.Entry) (*tenant.Tenant, error) {
	var changed *tenant.Tenant
	var updated int64
	b := pg.Tenant(id)
	audit.Change(b, &updated, e, updateTenant, id, c.Name, c.MFARequired)
	pg.Row(b, &changed, selectTenant, id)
	endSessions(b, id)
	err := s.DB.Send(ctx, b)
	return changed, err
}
