package store

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/federation"
)

var _ federation.Store = (*Store)(nil)

// withSecret begins a batch that sees what belongs to a secret with the hash, whatever its tenant.
func withSecret(hash []byte) *pg.Batch {
	b := pg.Global()
	b.Exec(`SELECT set_config('app.session', $1, true)`, hex.EncodeToString(hash))
	return b
}

const insertState = `
	INSERT INTO federation_state (hash, tenant_id, issuer, browser_hash, sealed, expires_at)
	VALUES ($1, $2, $3, $4, $5, $6)`

// KeepState is federation.Store's.
func (s *Store) KeepState(ctx context.Context, t federation.State) error {
	b := pg.Tenant(t.TenantID)
	b.Exec(insertState, t.Hash, t.TenantID, t.Issuer, t.BrowserHash, t.Sealed, t.ExpiresAt)
	return s.DB.Send(ctx, b)
}

// The browser is part of the condition: from another one a state cannot even be spent.
const spendState = `
	DELETE FROM federation_state WHERE hash = $1 AND browser_hash = $2 AND tenant_id = $3 AND expires_at > $4
	RETURNING hash, tenant_id, issuer, browser_hash, sealed, expires_at`

// SpendState is federation.Store's.
func (s *Store) SpendState(ctx context.Context, hash, browser []byte, tenant string, now time.Time) (*federation.State, error) {
	var spent *federation.State
	b := withSecret(hash)
	pg.Row(b, &spent, spendState, hash, browser, tenant, now)
	err := s.DB.Send(ctx, b)
	return spent, err
}

const (
	seeFederated    = `SELECT set_config('app.issuer', $1, true), set_config('app.subject', $2, true)`
	selectFederated = `SELECT user_id::text FROM federated_identity WHERE issuer = $1 AND subject = $2`
)

// LinkedUser is federation.Store's.
func (s *Store) LinkedUser(ctx context.Context, issuer, subject string) (string, error) {
	var user string
	b := pg.Global()
	b.Exec(seeFederated, issuer, subject)
	pg.Value(b, &user, selectFederated, issuer, subject)
	err := s.DB.Send(ctx, b)
	return user, err
}

const selectVerified = `
	SELECT id::text FROM user_account
	WHERE environment = $1 AND email_key = $2 AND email_verified_at IS NOT NULL`

// VerifiedUser is federation.Store's.
func (s *Store) VerifiedUser(ctx context.Context, environment, email string) (string, error) {
	var user string
	b := pg.Global()
	pg.Value(b, &user, selectVerified, environment, identity.EmailKey(email))
	err := s.DB.Send(ctx, b)
	return user, err
}

const selectAddress = `SELECT email FROM user_account WHERE id = $1 AND environment = $2 AND email_verified_at IS NOT NULL`

// VerifiedAddress is federation.Store's.
func (s *Store) VerifiedAddress(ctx context.Context, environment, user string) (string, error) {
	var address string
	b := pg.Global()
	pg.Value(b, &address, selectAddress, user, environment)
	err := s.DB.Send(ctx, b)
	return address, err
}

const insertLink = `
	INSERT INTO federation_link (hash, tenant_id, issuer, subject, email_hash, browser_hash, sealed, created_at, expires_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`

// KeepPendingLink is federation.Store's.
func (s *Store) KeepPendingLink(ctx context.Context, l federation.Link) error {
	b := pg.Tenant(l.TenantID)
	b.Exec(insertLink, l.Hash, l.TenantID, l.Issuer, l.Subject, l.EmailHash, l.BrowserHash, l.Sealed, l.CreatedAt, l.ExpiresAt)
	return s.DB.Send(ctx, b)
}

const selectLink = `
	SELECT hash, tenant_id, issuer, subject, email_hash, browser_hash, sealed, created_at, expires_at
	FROM federation_link WHERE hash = $1 AND browser_hash = $2 AND expires_at > $3`

// FindLink is federation.Store's.
func (s *Store) FindLink(ctx context.Context, hash, browser []byte, now time.Time) (*federation.Link, error) {
	var found *federation.Link
	b := withSecret(hash)
	pg.Row(b, &found, selectLink, hash, browser, now)
	err := s.DB.Send(ctx, b)
	return found, err
}

// The link is made by who spends the token, in one statement. A name that is linked already stays as it is.
const makeLink = `
	WITH spent AS (DELETE FROM federation_link WHERE hash = $1 RETURNING issuer, subject),
	linked AS (
		INSERT INTO federated_identity (issuer, subject, user_id, linked_at)
		SELECT issuer, subject, $2::uuid, $3::timestamptz FROM spent
		ON CONFLICT (issuer, subject) DO NOTHING RETURNING 1),
	told AS (INSERT INTO ` + audit.Table + ` SELECT $4::json FROM linked)
	SELECT count(*) FROM linked`

// MakeLink is federation.Store's.
func (s *Store) MakeLink(ctx context.Context, hash []byte, user string, now time.Time, e audit.Entry) (bool, error) {
	var made int64
	b := withSecret(hash)
	b.Exec(`SELECT set_config('app.user_id', $1, true)`, user)
	pg.Value(b, &made, makeLink, hash, user, now, audit.List(e))
	err := s.DB.Send(ctx, b)
	return made == 1, err
}

const selectInvited = `SELECT EXISTS (SELECT FROM invitation WHERE tenant_id = $1 AND email_key = $2 AND expires_at > $3)`

// Invited reports whether a tenant's invitation to an address is open.
func (s *Store) Invited(ctx context.Context, tenant, email string, now time.Time) (bool, error) {
	var open bool
	b := pg.Tenant(tenant)
	pg.Value(b, &open, selectInvited, tenant, identity.EmailKey(email), now)
	err := s.DB.Send(ctx, b)
	return open, err
}
