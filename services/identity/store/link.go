package store

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

const (
	upsertLink = `
		INSERT INTO mailed_link (user_id, purpose, hash, expires_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (user_id, purpose) DO UPDATE SET hash = excluded.hash, expires_at = excluded.expires_at`
	hasLink = `SELECT true FROM mailed_link WHERE user_id = $1 AND purpose = $2 AND hash = $3 AND expires_at > $4`
	// spendLink makes the batch fail where the link does not hold: a division by zero.
	spendLink = `
		WITH spent AS (
			DELETE FROM mailed_link WHERE user_id = $1 AND purpose = $2 AND hash = $3 AND expires_at > $4 RETURNING 1)
		SELECT 1 / count(*) FROM spent`
)

func keep(b *pg.Batch, l identity.Link) { b.Exec(upsertLink, l.UserID, l.Purpose, l.Hash, l.ExpiresAt) }

// KeepLink is identity.LinkStore's.
func (s *Store) KeepLink(ctx context.Context, l identity.Link, letter identity.Letter, e audit.Entry) error {
	b := asUser(l.UserID)
	keep(b, l)
	send(b, letter)
	tell(b, e)
	return s.DB.Send(ctx, b)
}

// HasLink is identity.LinkStore's.
func (s *Store) HasLink(ctx context.Context, l identity.Link, now time.Time) (holds bool, err error) {
	b := asUser(l.UserID)
	pg.Value(b, &holds, hasLink, l.UserID, l.Purpose, l.Hash, now)
	err = s.DB.Send(ctx, b)
	return holds, err
}

const verifyUser = `UPDATE user_account SET email_verified_at = coalesce(email_verified_at, $2) WHERE id = $1`

// SpendVerification is identity.LinkStore's.
func (s *Store) SpendVerification(ctx context.Context, l identity.Link, now time.Time, e audit.Entry) (bool, error) {
	b := asUser(l.UserID)
	b.Exec(spendLink, l.UserID, l.Purpose, l.Hash, now)
	b.Exec(verifyUser, l.UserID, now)
	tell(b, e)
	err := s.DB.Send(ctx, b)
	if pg.HasCode(err, pg.DivisionByZero) {
		return false, nil
	}
	return err == nil, err
}
