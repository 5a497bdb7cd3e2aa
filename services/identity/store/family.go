package store

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

const familyColumns = `id, user_id, client_id, tenant_id, confined, strong, scope, environment, sign_in_id, agent, created_at, used_at, ended_at`

const (
	insertFamily = `
		INSERT INTO token_family (id, user_id, client_id, tenant_id, confined, strong, scope, environment, sign_in_id, agent, created_at, used_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)`
	insertAccess = `
		INSERT INTO access_token (hash, id, tenant_id, client_id, user_id, family_id, scope, environment, issued_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`
	insertRefresh = `INSERT INTO refresh_token (hash, family_id, user_id, issued_at, expires_at) VALUES ($1, $2, $3, $4, $5)`
)

// StartFamily is identity.GrantStore's.
func (s *Store) StartFamily(ctx context.Context, f identity.TokenFamily, access, refresh identity.NewToken, e audit.Entry) error {
	b := asUser(f.UserID)
	b.Exec(insertFamily, f.ID, f.UserID, f.ClientID, f.TenantID, f.Confined, f.Strong, f.Scope, f.Environment, f.SignInID, f.Agent, f.CreatedAt)
	b.Exec(insertAccess, access.Hash, access.ID, f.TenantID, f.ClientID, f.UserID, f.ID, f.Scope, f.Environment, f.CreatedAt, access.ExpiresAt)
	if refresh.Hash != nil {
		b.Exec(insertRefresh, refresh.Hash, f.ID, f.UserID, f.CreatedAt, refresh.ExpiresAt)
	}
	tell(b, e)
	return s.DB.Send(ctx, b)
}

const selectFamily = `SELECT ` + familyColumns + ` FROM token_family WHERE user_id = $1 AND id = $2`

// FindFamily is identity.GrantStore's.
func (s *Store) FindFamily(ctx context.Context, user, id string) (*identity.TokenFamily, error) {
	var found *identity.TokenFamily
	b := asUser(user)
	pg.Row(b, &found, selectFamily, user, id)
	err := s.DB.Send(ctx, b)
	return found, err
}

const (
	// enterRefresher lets the batch see what belongs to the user of the refresh token that was presented.
	enterRefresher = `SELECT set_config('app.user_id', user_id::text, true) FROM refresh_token WHERE hash = $1`
	selectRefresh  = `SELECT hash, issued_at, expires_at, spent_at, successor_sealed FROM refresh_token WHERE hash = $1`
	familyOfToken  = `
		SELECT ` + familyColumns + ` FROM token_family
		WHERE id = (SELECT family_id FROM refresh_token WHERE hash = $1)`
)

type refreshRow struct {
	Hash            []byte
	IssuedAt        time.Time
	ExpiresAt       time.Time
	SpentAt         *time.Time
	SuccessorSealed []byte
}

// FindRefresh is identity.GrantStore's.
func (s *Store) FindRefresh(ctx context.Context, hash []byte) (*identity.IssuedRefresh, error) {
	var token *refreshRow
	var family *identity.TokenFamily
	b := presented(hash)
	b.Exec(enterRefresher, hash)
	pg.Row(b, &token, selectRefresh, hash)
	pg.Row(b, &family, familyOfToken, hash)
	if err := s.DB.Send(ctx, b); err != nil || token == nil || family == nil {
		return nil, err
	}
	return &identity.IssuedRefresh{
		Hash: token.Hash, IssuedAt: token.IssuedAt, ExpiresAt: token.ExpiresAt, SpentAt: token.SpentAt,
		SuccessorSealed: token.SuccessorSealed, Family: *family,
	}, nil
}

// rotate lets one of many that come at once spend the token; the others wait for its row and then find it spent. It
// takes the family's row next, as everything does that ends or moves a family, so that neither can miss the other.
// What is inserted hangs on both.
const rotate = `
	WITH spent AS (
		UPDATE refresh_token SET spent_at = $2, successor_sealed = $11
		WHERE hash = $1 AND family_id = $3 AND spent_at IS NULL AND expires_at > $2
		RETURNING hash),
	family AS (
		UPDATE token_family SET used_at = $2, tenant_id = coalesce($4::uuid, tenant_id)
		WHERE id = $3 AND ended_at IS NULL AND EXISTS (SELECT FROM spent) AND (NOT confined OR tenant_id = coalesce($4::uuid, tenant_id))
		RETURNING id, user_id, client_id, tenant_id, environment),
	access AS (
		INSERT INTO access_token (hash, id, tenant_id, client_id, user_id, family_id, scope, environment, issued_at, expires_at)
		SELECT $5::bytea, $6::uuid, tenant_id, client_id, user_id, id, $8::text[], environment, $2, $7::timestamptz FROM family),
	refresh AS (
		INSERT INTO refresh_token (hash, family_id, user_id, issued_at, expires_at)
		SELECT $9::bytea, id, user_id, $2, $10::timestamptz FROM family),
	told AS (INSERT INTO ` + audit.Table + ` SELECT $12::json FROM family WHERE $12::json IS NOT NULL)
	SELECT tenant_id::text FROM family`

// Rotate is identity.GrantStore's.
func (s *Store) Rotate(ctx context.Context, r identity.Rotation) (string, bool, error) {
	var tenant string
	b := asUser(r.Family.UserID)
	pg.Value(b, &tenant, rotate, r.Hash, r.Now, r.Family.ID, r.TenantID, r.Access.Hash, r.Access.ID, r.Access.ExpiresAt, r.Scope,
		r.Refresh.Hash, r.Refresh.ExpiresAt, r.SuccessorSealed, audit.List(r.Entry))
	if r.RevokeAccess {
		endAccess(b, endOlder, r.Family.ID, r.Access.Hash)
	}
	err := s.DB.Send(ctx, b)
	return tenant, tenant != "", err
}

// What ends access is a condition between these two.
const (
	accessWhere = `
		WITH gone AS (DELETE FROM access_token WHERE `
	ends = ` RETURNING hash)
		INSERT INTO outbox (kind, key, payload)
		SELECT '` + session.Effect + `', '', jsonb_build_object('session', encode(hash, 'hex')) FROM gone`

	// Only what is older than the new token, and only if it came to be: a repeat that lost must end nothing.
	endOlder    = accessWhere + `family_id = $1 AND hash <> $2 AND EXISTS (SELECT FROM access_token WHERE hash = $2)` + ends
	endOfFamily = accessWhere + `family_id = $1` + ends
	endOfUser   = accessWhere + `family_id IN (SELECT id FROM token_family WHERE user_id = $1)` + ends
)

// endAccess removes a user's access tokens and queues the effects that end their sessions, one for each.
func endAccess(b *pg.Batch, sql string, arguments ...any) {
	b.Exec(sql, arguments...)
	b.Exec(`SELECT pg_notify('outbox', '')`)
}

const moveFamily = `UPDATE token_family SET tenant_id = $2 WHERE id = $1 AND ended_at IS NULL AND (NOT confined OR tenant_id = $2)`

// MoveFamily is identity.GrantStore's.
func (s *Store) MoveFamily(ctx context.Context, user, family, tenant string, revokeAccess bool, e audit.Entry) (bool, error) {
	var moved int64
	b := asUser(user)
	audit.Change(b, &moved, e, moveFamily, family, tenant)
	if revokeAccess {
		endAccess(b, endOfFamily, family)
	}
	err := s.DB.Send(ctx, b)
	return moved == 1, err
}

const (
	endFamily = `UPDATE token_family SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL`
	// endOrigin ends the browser's session that the family came from.
	endOrigin = `
		DELETE FROM sign_in WHERE (user_id, id) = (SELECT user_id, sign_in_id FROM token_family WHERE id = $1)`
)

// EndFamily is identity.GrantStore's.
func (s *Store) EndFamily(ctx context.Context, user, family string, withSignIn bool, now time.Time, e audit.Entry) (bool, error) {
	var ended int64
	b := asUser(user)
	audit.Change(b, &ended, e, endFamily, family, now)
	endAccess(b, endOfFamily, family)
	if withSignIn {
		b.Exec(endOrigin, family)
	}
	err := s.DB.Send(ctx, b)
	return ended == 1, err
}

// endFamilies adds the end of all of a user's families to a batch that goes on as the user. Codes go first: a
// redemption under way holds its code's row until it commits, so the family that it begins is seen by what follows.
func endFamilies(b *pg.Batch, user string, now time.Time) {
	b.Exec(`SELECT set_config('app.user_id', $1, true)`, user)
	b.Exec(`DELETE FROM authorization_code WHERE user_id = $1`, user)
	b.Exec(`DELETE FROM launch_code WHERE user_id = $1`, user)
	b.Exec(`UPDATE token_family SET ended_at = $2 WHERE user_id = $1 AND ended_at IS NULL`, user, now)
	// Tokens of a moment ago are found by their families: there is no index by user.
	endAccess(b, endOfUser, user)
}

// listFamilies names the clients, of whatever tenant, and that alone.
const listFamilies = `
	SELECT f.id, f.user_id, f.client_id, f.tenant_id, f.confined, f.strong, f.scope, f.environment, f.sign_in_id, f.agent, f.created_at,
		f.used_at, f.ended_at, coalesce(c.name, '') AS client_name
	FROM token_family f
	LEFT JOIN oauth_client c ON c.id = CASE WHEN f.client_id ~ '` + uuidForm + `' THEN f.client_id::uuid END
	WHERE f.user_id = $1 AND f.ended_at IS NULL AND f.used_at > $2
	ORDER BY f.used_at DESC LIMIT $3`

// FamiliesOf is identity.GrantStore's.
func (s *Store) FamiliesOf(ctx context.Context, user string, now time.Time) ([]identity.NamedFamily, error) {
	var list []identity.NamedFamily
	b := asUser(user)
	b.Exec(seeClients)
	pg.Rows(b, &list, listFamilies, user, now.Add(-identity.RefreshTokenLifetime), identity.MostFamilies)
	err := s.DB.Send(ctx, b)
	return list, err
}
