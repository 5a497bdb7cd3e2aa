package store

import (
	"context"
	"encoding/hex"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// The words of a scope hold no space.
const insertIssued = `
	INSERT INTO access_token (hash, id, tenant_id, client_id, scope, environment, issued_at, expires_at)
	SELECT hash, id, $1, client_id, string_to_array(scope, ' '), environment, issued_at, expires_at
	FROM unnest($2::bytea[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::timestamptz[])
		AS t (hash, id, client_id, scope, environment, issued_at, expires_at)`

// KeepToken is identity.TokenStore's. Tokens that are issued at the same time share a commit.
func (s *Store) KeepToken(ctx context.Context, t identity.AccessToken) error {
	return s.issued.Write(ctx, t, s.keepTokens)
}

func (s *Store) keepTokens(ctx context.Context, tokens []identity.AccessToken) error {
	b := pg.Global()
	for tenant, of := range byTenant(tokens) {
		as(b, tenant)
		b.Exec(insertIssued, tenant, of.hashes, of.ids, of.clients, of.scopes, of.environments, of.issued, of.expire)
	}
	return s.DB.Send(ctx, b)
}

// issue is tokens, a list for each column.
type issue struct {
	hashes                             [][]byte
	ids, clients, scopes, environments []string
	issued, expire                     []time.Time
}

func byTenant(tokens []identity.AccessToken) map[string]*issue {
	all := map[string]*issue{}
	for _, t := range tokens {
		of := all[t.TenantID]
		if of == nil {
			of = &issue{}
			all[t.TenantID] = of
		}
		of.hashes, of.ids, of.clients = append(of.hashes, t.Hash), append(of.ids, t.ID), append(of.clients, t.ClientID)
		of.scopes, of.environments = append(of.scopes, strings.Join(t.Scope, " ")), append(of.environments, t.Environment)
		of.issued, of.expire = append(of.issued, t.IssuedAt), append(of.expire, t.ExpiresAt)
	}
	return all
}

// uuidForm is how an id of ours looks.
const uuidForm = `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`

const (
	// seeIssued lets the batch see the one token.
	seeIssued = `SELECT set_config('app.session', $1, true)`
	// enterOwner lets the batch see the token's client, which may be of another tenant than a user's token, and its user's
	// sign-in. The public client's id is no UUID, and no row.
	enterOwner = `
		SELECT set_config('app.credential_id', CASE WHEN client_id ~ '` + uuidForm + `' THEN client_id ELSE '' END, true),
			set_config('app.user_id', coalesce(user_id::text, ''), true)
		FROM access_token WHERE hash = $1`

	selectIssued = `
		SELECT hash, id, tenant_id, client_id, user_id, family_id,
			coalesce((SELECT strong FROM token_family WHERE token_family.id = access_token.family_id), false) AS strong,
			scope, environment, issued_at, expires_at
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
