package store

import (
	"context"
	"encoding/hex"

	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

const insertIssued = `
	INSERT INTO access_token (hash, id, tenant_id, client_id, scope, environment, issued_at, expires_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

// KeepToken is identity.TokenStore's.
func (s *Store) KeepToken(ctx context.Context, t identity.AccessToken) error {
	b := pg.Tenant(t.TenantID)
	b.Exec(insertIssued, t.Hash, t.ID, t.TenantID, t.ClientID, t.Scope, t.Environment, t.IssuedAt, t.ExpiresAt)
	return s.DB.Send(ctx, b)
}

const (
	// seeIssued and enterTenant let the batch see the one token, and then what belongs to the token's tenant.
	seeIssued   = `SELECT set_config('app.session', $1, true)`
	enterTenant = `SELECT set_config('app.tenant_id', tenant_id::text, true) FROM access_token WHERE hash = $1`

	selectIssued = `
		SELECT hash, id, tenant_id, client_id, scope, environment, issued_at, expires_at
		FROM access_token WHERE hash = $1`
	selectOwner = `
		SELECT ` + clientColumns + ` FROM oauth_client
		WHERE (tenant_id, id) = (SELECT tenant_id, client_id FROM access_token WHERE hash = $1)`
)

// FindToken is identity.TokenStore's.
func (s *Store) FindToken(ctx context.Context, hash []byte) (*identity.AccessToken, *identity.Client, error) {
	var token *identity.AccessToken
	var client *identity.Client
	b := pg.Global()
	b.Exec(seeIssued, hex.EncodeToString(hash))
	b.Exec(enterTenant, hash)
	pg.Row(b, &token, selectIssued, hash)
	pg.Row(b, &client, selectOwner, hash)
	if err := s.DB.Send(ctx, b); err != nil || token == nil || client == nil {
		return nil, nil, err
	}
	return token, client, nil
}

const deleteIssued = `DELETE FROM access_token WHERE tenant_id = $1 AND hash = $2`

// RevokeToken is identity.TokenStore's.
func (s *Store) RevokeToken(ctx context.Context, tenant string, hash []byte) error {
	b := pg.Tenant(tenant)
	b.Exec(deleteIssued, tenant, hash)
	revoke(b, session.Revocation{Session: hex.EncodeToString(hash)})
	return s.DB.Send(ctx, b)
}
