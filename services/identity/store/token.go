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

// uuidForm is how an id of ours looks.
const uuidForm = `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`

const (
	// seeIssued lets the batch see the one token.
	seeIssued = `SELECT set_config('app.session', $1, true)`
	// enterOwner lets the batch see the token's client, which may be of another tenant than a user's token. The public
	// client's id is no UUID, and no row.
	enterOwner = `
		SELECT set_config('app.credential_id', client_id, true) FROM access_token
		WHERE hash = $1 AND client_id ~ '` + uuidForm + `'`

	selectIssued = `
		SELECT hash, id, tenant_id, client_id, user_id, family_id, scope, environment, issued_at, expires_at
		FROM access_token WHERE hash = $1`
	selectOwner = `
		SELECT ` + clientColumns + ` FROM oauth_client
		WHERE id = nullif(current_setting('app.credential_id', true), '')::uuid`
)

// FindToken is identity.TokenStore's.
func (s *Store) FindToken(ctx context.Context, hash []byte) (*identity.AccessToken, *identity.Client, error) {
	var token *identity.AccessToken
	var client *identity.Client
	b := pg.Global()
	b.Exec(seeIssued, hex.EncodeToString(hash))
	b.Exec(enterOwner, hash)
	pg.Row(b, &token, selectIssued, hash)
	pg.Row(b, &client, selectOwner)
	if err := s.DB.Send(ctx, b); err != nil || token == nil {
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
