package store

import (
	"context"
	"encoding/hex"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

var _ identity.GrantStore = (*Store)(nil)

const (
	insertCode = `
		INSERT INTO authorization_code (hash, family_id, client_id, redirect_uri, challenge, user_id, tenant_id, confined, strong, sign_in_id, agent,
			scope, environment, created_at, expires_at)
		SELECT $1::bytea, $2::uuid, $3::text, $4::text, $5::text, $6::uuid, $7::uuid, $8::boolean, $9::boolean, $10::uuid, $11::text, $12::text[],
			$13::text, $14::timestamptz, $15::timestamptz`
	// insertPushed makes the insertion depend on the pushed request's being there still.
	insertPushed = `WITH spent AS (DELETE FROM pushed_request WHERE hash = $16 AND expires_at > $14 RETURNING 1) ` +
		insertCode + ` WHERE EXISTS (SELECT FROM spent)`
	// holdSignIn makes the batch fail where the browser's session has ended: a division by zero. Whatever ends it, and
	// then the user's codes, waits until this one can be seen.
	holdSignIn = `
		WITH held AS (SELECT 1 FROM sign_in WHERE user_id = $1 AND id = $2 FOR KEY SHARE)
		SELECT 1 / count(*) FROM held`
	selectCode = `
		SELECT hash, family_id, client_id, redirect_uri, challenge, user_id, tenant_id, confined, strong, sign_in_id, agent, scope,
			environment, created_at, expires_at, spent_at
		FROM authorization_code WHERE hash = $1`
)

// KeepCode is identity.GrantStore's.
func (s *Store) KeepCode(ctx context.Context, c identity.IssuedCode, pushed []byte) (bool, error) {
	var kept int64
	b := asUser(c.UserID)
	if c.SignInID != nil {
		b.Exec(holdSignIn, c.UserID, *c.SignInID)
	}
	arguments := []any{
		c.Hash, c.FamilyID, c.ClientID, c.RedirectURI, c.Challenge, c.UserID, c.TenantID, c.Confined, c.Strong, c.SignInID, c.Agent, c.Scope,
		c.Environment, c.CreatedAt, c.ExpiresAt,
	}
	if pushed == nil {
		b.Affected(&kept, insertCode, arguments...)
	} else {
		b.Exec(seeIssued, hex.EncodeToString(pushed))
		b.Affected(&kept, insertPushed, append(arguments, pushed)...)
	}
	err := s.DB.Send(ctx, b)
	if pg.HasCode(err, pg.DivisionByZero) {
		return false, identity.SignedOut()
	}
	return kept == 1, err
}

// FindCode is identity.GrantStore's.
func (s *Store) FindCode(ctx context.Context, hash []byte) (*identity.IssuedCode, error) {
	var found *identity.IssuedCode
	b := presented(hash)
	pg.Row(b, &found, selectCode, hash)
	err := s.DB.Send(ctx, b)
	return found, err
}

// redeemCode lets one of many that come at once change the row; the others wait for its lock and then find it spent.
// What is inserted hangs on that change.
const redeemCode = `
	WITH won AS (
		UPDATE authorization_code SET spent_at = $2 WHERE hash = $1 AND spent_at IS NULL AND expires_at > $2
		RETURNING family_id, client_id, user_id, tenant_id, confined, strong, sign_in_id, agent, scope, environment),
	family AS (
		INSERT INTO token_family (id, user_id, client_id, tenant_id, confined, strong, scope, environment, sign_in_id, agent, created_at, used_at)
		SELECT family_id, user_id, client_id, tenant_id, confined, strong, scope, environment, sign_in_id, agent, $2, $2 FROM won),
	access AS (
		INSERT INTO access_token (hash, id, tenant_id, client_id, user_id, family_id, scope, environment, issued_at, expires_at)
		SELECT $3::bytea, $4::uuid, tenant_id, client_id, user_id, family_id, scope, environment, $2, $5::timestamptz FROM won),
	refresh AS (
		INSERT INTO refresh_token (hash, family_id, user_id, issued_at, expires_at)
		SELECT $6::bytea, family_id, user_id, $2, $7::timestamptz FROM won WHERE $6::bytea IS NOT NULL),
	told AS (INSERT INTO ` + audit.Table + ` SELECT $8::json FROM won)
	SELECT count(*) FROM won`

// RedeemCode is identity.GrantStore's.
func (s *Store) RedeemCode(ctx context.Context, r identity.Redemption) (bool, error) {
	var won int64
	b := asUser(r.Code.UserID)
	pg.Value(b, &won, redeemCode, r.Code.Hash, r.Now, r.Access.Hash, r.Access.ID, r.Access.ExpiresAt, r.Refresh.Hash, r.Refresh.ExpiresAt,
		audit.List(r.Entry))
	err := s.DB.Send(ctx, b)
	return won == 1, err
}
