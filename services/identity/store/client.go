package store

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

const clientColumns = `id, tenant_id, name, role_ids::text[] AS role_ids, scope, grant_types, redirect_uris, auth_method,
	secret_hash, jwks, jwks_uri, environment, created_at`

const insertClient = `
	INSERT INTO oauth_client (id, tenant_id, name, role_ids, scope, grant_types, redirect_uris, auth_method, secret_hash, jwks, jwks_uri,
		environment, created_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`

// CreateClient is identity.ClientStore's. The idempotency key is the caller's tenant's, the client may be another's.
func (s *Store) CreateClient(ctx context.Context, c identity.Client, key idempotency.Key, e audit.Entry) (*idempotency.Record, error) {
	b := pg.Tenant(key.Tenant)
	key.Lock(b)
	key.Keep(b, statusCreated, []byte{}, c.ID)
	audit.Keep(b, e)
	as(b, c.TenantID)
	b.Exec(insertClient, c.ID, c.TenantID, c.Name, c.RoleIDs, c.Scope, c.GrantTypes, c.RedirectURIs, c.AuthMethod, c.SecretHash,
		c.JWKS, c.JWKSURI, c.Environment, c.CreatedAt)
	if err := s.DB.Send(ctx, b); err != nil {
		return key.Repeat(ctx, s.DB, err)
	}
	return nil, nil //nolint:nilnil // no repeat
}

const selectClient = `SELECT ` + clientColumns + ` FROM oauth_client WHERE id = $1`

// FindClient is identity.ClientStore's.
func (s *Store) FindClient(ctx context.Context, id string) (*identity.Client, error) {
	var found *identity.Client
	b := credential(id)
	pg.Row(b, &found, selectClient, id)
	err := s.DB.Send(ctx, b)
	return found, err
}

const (
	listClients = `
		SELECT ` + clientColumns + ` FROM oauth_client
		WHERE environment = $1 AND ($2::uuid IS NULL OR id > $2)
		ORDER BY id LIMIT $3 OFFSET $4`
	countClients = `SELECT count(*) FROM oauth_client WHERE environment = $1`
)

// seeClients lets the batch see the clients of all tenants.
const seeClients = `SELECT set_config('app.administrator', 'on', true)`

// ListClients is identity.ClientStore's.
func (s *Store) ListClients(ctx context.Context, environment string, part page.Request) ([]identity.Client, int64, error) {
	var list []identity.Client
	var total int64
	b := pg.Global()
	b.Exec(seeClients)
	pg.Value(b, &total, countClients, environment)
	pg.Rows(b, &list, listClients, environment, cursor(part.After), part.Size+1, part.Offset())
	err := s.DB.Send(ctx, b)
	return list, total, err
}

const deleteClient = `DELETE FROM oauth_client WHERE tenant_id = $1 AND id = $2`

// revokeTenants is for the tokens that users of other tenants had of the client.
const revokeTenants = `
	INSERT INTO outbox (kind, key, payload)
	SELECT DISTINCT '` + session.Effect + `', '', jsonb_build_object('tenant', tenant_id)
	FROM access_token WHERE client_id = $1 AND family_id IS NOT NULL AND tenant_id <> $2`

// DeleteClient is identity.ClientStore's. The client's tokens may be a great many: they are worth nothing without it
// and go when they expire. One message makes gateways ask anew about the tenant's credentials instead of one for each.
func (s *Store) DeleteClient(ctx context.Context, tenant, id string, e audit.Entry) (bool, error) {
	var deleted int64
	b := pg.Tenant(tenant)
	audit.Change(b, &deleted, e, deleteClient, tenant, id)
	revoke(b, session.Revocation{Tenant: tenant})
	b.Exec(`SELECT set_config('app.client_id', $1, true)`, id)
	b.Exec(revokeTenants, id, tenant)
	err := s.DB.Send(ctx, b)
	return deleted == 1, err
}
