package store

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

const selectProvider = `
	SELECT tenant_id, issuer, client_id, secret_sealed, name, created_at, updated_at
	FROM identity_provider WHERE tenant_id = $1`

// FindProvider is federation.Store's.
func (s *Store) FindProvider(ctx context.Context, tenant string) (*identity.IdentityProvider, error) {
	var found *identity.IdentityProvider
	b := pg.Tenant(tenant)
	pg.Row(b, &found, selectProvider, tenant)
	err := s.DB.Send(ctx, b)
	return found, err
}

const putProvider = `
	INSERT INTO identity_provider (tenant_id, issuer, client_id, secret_sealed, name, created_at, updated_at)
	VALUES ($1, $2, $3, $4, $5, $6, $6)
	ON CONFLICT (tenant_id) DO UPDATE SET issuer = EXCLUDED.issuer, client_id = EXCLUDED.client_id,
		secret_sealed = EXCLUDED.secret_sealed, name = EXCLUDED.name, updated_at = EXCLUDED.updated_at
	RETURNING tenant_id, issuer, client_id, secret_sealed, name, created_at, updated_at`

// PutProvider is federation.Store's.
func (s *Store) PutProvider(ctx context.Context, p identity.IdentityProvider, e audit.Entry) (identity.IdentityProvider, error) {
	stored := &p
	b := pg.Tenant(p.TenantID)
	audit.ChangeRow(b, &stored, e, putProvider, p.TenantID, p.Issuer, p.ClientID, p.SecretSealed, p.Name, p.UpdatedAt)
	err := s.DB.Send(ctx, b)
	return *stored, err
}

const deleteProvider = `DELETE FROM identity_provider WHERE tenant_id = $1`

// DeleteProvider is federation.Store's.
func (s *Store) DeleteProvider(ctx context.Context, tenant string, e audit.Entry) (bool, error) {
	var deleted int64
	b := pg.Tenant(tenant)
	audit.Change(b, &deleted, e, deleteProvider, tenant)
	err := s.DB.Send(ctx, b)
	return deleted == 1, err
}
