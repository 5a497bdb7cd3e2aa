package store

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

const putTOTP = `
	INSERT INTO totp (user_id, secret_sealed, created_at) VALUES ($1, $2, $3)
	ON CONFLICT (user_id) DO UPDATE SET secret_sealed = excluded.secret_sealed, created_at = excluded.created_at, last_step = 0
	WHERE totp.confirmed_at IS NULL`

// PutTOTP is identity.FactorStore's.
func (s *Store) PutTOTP(ctx context.Context, user string, sealed []byte, now time.Time) (bool, error) {
	var put int64
	b := asUser(user)
	b.Affected(&put, putTOTP, user, sealed, now)
	err := s.DB.Send(ctx, b)
	return put == 1, err
}

const (
	confirmTOTP = `
		UPDATE totp SET confirmed_at = $3, last_step = $4
		WHERE user_id = $1 AND secret_sealed = $2 AND confirmed_at IS NULL RETURNING 1`
	deleteRecovery = `DELETE FROM recovery_code WHERE user_id = $1`
	insertRecovery = `INSERT INTO recovery_code (user_id, hash) SELECT $1, unnest($2::bytea[])`
	deleteTOTP     = `DELETE FROM totp WHERE user_id = $1 AND confirmed_at IS NOT NULL RETURNING 1`
	// deleteUseless removes recovery codes that stand in for nothing any more.
	deleteUseless = `
		DELETE FROM recovery_code WHERE user_id = $1
		AND NOT EXISTS (SELECT FROM totp WHERE user_id = $1 AND confirmed_at IS NOT NULL)
		AND NOT EXISTS (SELECT FROM passkey WHERE user_id = $1)`
)

// ConfirmTOTP is identity.FactorStore's.
func (s *Store) ConfirmTOTP(ctx context.Context, c identity.Confirmation, l identity.Letter, e audit.Entry) (bool, error) {
	b := asUser(c.UserID)
	lockUser(b, c.UserID)
	b.Exec(demand(confirmTOTP), c.UserID, c.Sealed, c.Now, c.Step)
	b.Exec(deleteRecovery, c.UserID)
	b.Exec(insertRecovery, c.UserID, c.RecoveryCodes)
	send(b, l)
	tell(b, e)
	return settled(s.DB.Send(ctx, b))
}

// RemoveTOTP is identity.FactorStore's.
func (s *Store) RemoveTOTP(ctx context.Context, user string, l identity.Letter, e audit.Entry) (bool, error) {
	b := asUser(user)
	lockUser(b, user)
	b.Exec(demand(deleteTOTP), user)
	b.Exec(deleteUseless, user)
	send(b, l)
	tell(b, e)
	return settled(s.DB.Send(ctx, b))
}

// lockUser makes changes of one user's factors take turns, since two that overlap do not see each other's rows.
func lockUser(b *pg.Batch, user string) {
	b.Exec(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "factor\x1f"+user)
}

// ReplaceRecoveryCodes is identity.FactorStore's.
func (s *Store) ReplaceRecoveryCodes(ctx context.Context, user string, codes [][]byte, l identity.Letter, e audit.Entry) error {
	b := asUser(user)
	lockUser(b, user)
	b.Exec(deleteRecovery, user)
	b.Exec(insertRecovery, user, codes)
	send(b, l)
	tell(b, e)
	return s.DB.Send(ctx, b)
}
