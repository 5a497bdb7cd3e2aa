package store

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

const keyColumns = `id, tenant_id, user_id, client_id, name, role_ids::text[] AS role_ids, environment, secret_hash,
	session_sealed, created_at, expires_at, last_used_at, revoked_at`

const insertKey = `
	INSERT INTO api_key (id, tenant_id, user_id, client_id, name, role_ids, environment, secret_hash, session_sealed, created_at, expires_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`

const statusCreated = 201

// CreateKey is identity.KeyStore's.
func (s *Store) CreateKey(ctx context.Context, k identity.APIKey, key idempotency.Key, e audit.Entry) (*idempotency.Record, error) {
	b := pg.Tenant(k.TenantID)
	key.Lock(b)
	b.Exec(insertKey, k.ID, k.TenantID, k.UserID, k.ClientID, k.Name, k.RoleIDs, k.Environment, k.SecretHash, k.SessionSealed, k.CreatedAt, k.ExpiresAt)
	key.Keep(b, statusCreated, []byte{}, k.ID)
	audit.Keep(b, e)
	if err := s.DB.Send(ctx, b); err != nil {
		return key.Repeat(ctx, s.DB, err)
	}
	return nil, nil //nolint:nilnil // no repeat
}

const selectKey = `SELECT ` + keyColumns + ` FROM api_key WHERE id = $1`

// FindKey is identity.KeyStore's.
func (s *Store) FindKey(ctx context.Context, id string) (*identity.APIKey, error) {
	var found *identity.APIKey
	b := credential(id)
	pg.Row(b, &found, selectKey, id)
	err := s.DB.Send(ctx, b)
	return found, err
}

const (
	listKeys = `
		SELECT ` + keyColumns + ` FROM api_key
		WHERE tenant_id = $1 AND revoked_at IS NULL AND ($2::uuid IS NULL OR id > $2)
		ORDER BY id LIMIT $3 OFFSET $4`
	countKeys = `SELECT count(*) FROM api_key WHERE tenant_id = $1 AND revoked_at IS NULL`
)

// ListKeys is identity.KeyStore's.
func (s *Store) ListKeys(ctx context.Context, tenant string, part page.Request) ([]identity.APIKey, int64, error) {
	var list []identity.APIKey
	var total int64
	b := pg.Tenant(tenant)
	pg.Value(b, &total, countKeys, tenant)
	pg.Rows(b, &list, listKeys, tenant, cursor(part.After), part.Size+1, part.Offset())
	err := s.DB.Send(ctx, b)
	return list, total, err
}

const revokeKey = `UPDATE api_key SET revoked_at = $3 WHERE tenant_id = $1 AND id = $2 AND revoked_at IS NULL`

// RevokeKey is identity.KeyStore's.
func (s *Store) RevokeKey(ctx context.Context, tenant, id, name string, now time.Time, e audit.Entry) (bool, error) {
	var revoked int64
	b := pg.Tenant(tenant)
	audit.Change(b, &revoked, e, revokeKey, tenant, id, now)
	revoke(b, session.Revocation{Session: name})
	err := s.DB.Send(ctx, b)
	return revoked == 1, err
}

const touchKeys = `
	UPDATE api_key SET last_used_at = $3
	WHERE tenant_id = $1 AND id = ANY ($2) AND (last_used_at IS NULL OR last_used_at < $3)`

// TouchKeys is identity.UseStore's.
func (s *Store) TouchKeys(ctx context.Context, tenant string, ids []string, at time.Time) error {
	b := pg.Tenant(tenant)
	b.Exec(touchKeys, tenant, ids, at)
	return s.DB.Send(ctx, b)
}
