package store

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

const insertChallenge = `
	INSERT INTO challenge (hash, user_id, carry, created_at, expires_at)
	SELECT $1::bytea, $2::uuid, $3::jsonb, $4::timestamptz, $5::timestamptz
	FROM user_account WHERE id = $2 AND password_hash = $6` + withUser

// CreateChallenge is identity.FactorStore's.
func (s *Store) CreateChallenge(ctx context.Context, c identity.KeptChallenge, passwordHash string) (bool, error) {
	var kept int64
	b := asUser(c.UserID)
	b.Affected(&kept, insertChallenge, c.Hash, c.UserID, c.Carry, c.CreatedAt, c.ExpiresAt, passwordHash)
	err := s.DB.Send(ctx, b)
	return kept == 1, err
}

const (
	open            = ` FROM challenge WHERE hash = $1 AND expires_at > $2 AND tries < $3`
	selectChallenge = `SELECT hash, user_id, carry, tries, sent, code_hash, code_expires_at, created_at, expires_at` + open
	enterUser       = `SELECT set_config('app.user_id', user_id::text, true)` + open
)

// FindChallenge is identity.FactorStore's.
func (s *Store) FindChallenge(ctx context.Context, hash []byte, now time.Time) (*identity.KeptChallenge, identity.Proofs, error) {
	var c *identity.KeptChallenge
	var r readProofs
	b := presented(hash)
	b.Exec(enterUser, hash, now, identity.MostTries)
	pg.Row(b, &c, selectChallenge, hash, now, identity.MostTries)
	r.queue(b)
	err := s.DB.Send(ctx, b)
	return c, r.proofs(), err
}

const (
	// countTry counts for the user and for the challenge, or for neither. The row of the challenge is locked before, and
	// that of the user by the conflict, so that answers given at once are counted one by one.
	countTry = `
		WITH counted AS (
			INSERT INTO factor_limit (user_id, wrong)
			SELECT user_id, ARRAY[$2::timestamptz]` + open + `
			ON CONFLICT (user_id) DO UPDATE
			SET wrong = ARRAY(SELECT t FROM unnest(factor_limit.wrong) t WHERE t > $4 ORDER BY t) || $2::timestamptz
			WHERE (SELECT count(*) FROM unnest(factor_limit.wrong) t WHERE t > $4) < $5
			RETURNING user_id)
		UPDATE challenge SET tries = tries + 1 FROM counted WHERE challenge.hash = $1`
	// firstCounted is when the user can try again, less the window.
	firstCounted = `SELECT min(t) FROM factor_limit, unnest(wrong) t WHERE user_id = ` + batchUser + ` AND t > $1`
)

// Try is identity.FactorStore's.
func (s *Store) Try(ctx context.Context, hash []byte, now time.Time) (identity.Tried, error) {
	var t identity.Tried
	var r readProofs
	var counted int64
	var first *time.Time
	since := now.Add(-identity.TriesWindow)
	b := presented(hash)
	b.Exec(enterUser+` FOR UPDATE`, hash, now, identity.MostTries)
	pg.Row(b, &t.Challenge, selectChallenge, hash, now, identity.MostTries)
	b.Affected(&counted, countTry, hash, now, identity.MostTries, since, identity.MostUserTries)
	pg.Value(b, &first, firstCounted, since)
	r.queue(b)
	err := s.DB.Send(ctx, b)
	t.Counted, t.Proofs = counted == 1, r.proofs()
	if first != nil {
		t.Wait = first.Sub(since)
	}
	return t, err
}

// endChallenges ends what a user was asked for, such as those that only an old password has led to.
const endChallenges = `DELETE FROM challenge WHERE user_id = $1`

// A win spends what answered, and the challenge, in one statement. A right answer is not counted for its user. $1 is the
// challenge, $2 now, $3 the user, $4 when it was tried.
const (
	ifUsed = `
		won AS (DELETE FROM challenge WHERE hash = $1 AND expires_at > $2 AND user_id = $3 AND EXISTS (SELECT FROM used) RETURNING 1),`
	ifWon = `
		uncounted AS (
			UPDATE factor_limit SET wrong = array_remove(wrong, $4::timestamptz) WHERE user_id = $3 AND EXISTS (SELECT FROM won))
		SELECT count(*) FROM won`

	winByTOTP = `
		WITH used AS (
			UPDATE totp SET last_step = $5 WHERE user_id = $3 AND confirmed_at IS NOT NULL AND last_step < $5 RETURNING 1),` + ifUsed + ifWon
	winByRecovery = `
		WITH used AS (DELETE FROM recovery_code WHERE user_id = $3 AND hash = $5 RETURNING 1),` + ifUsed + ifWon
	winByPasskey = `
		WITH used AS (
			UPDATE passkey SET sign_count = $6, backed_up = $7, last_used_at = $2
			WHERE user_id = $3 AND id = $5 AND (sign_count < $6 OR (sign_count = 0 AND $6 = 0)) RETURNING 1),` + ifUsed + ifWon
	// A mailed code lies in the challenge itself.
	winByMail = `
		WITH won AS (
			DELETE FROM challenge WHERE hash = $1 AND expires_at > $2 AND user_id = $3 AND code_hash = $5 AND code_expires_at > $2
			RETURNING 1),` + ifWon
)

func (s *Store) win(ctx context.Context, w identity.Win, sql string, spent ...any) (bool, error) {
	var won int64
	b := asUser(w.UserID)
	pg.Value(b, &won, sql, append([]any{w.Challenge, w.Now, w.UserID, w.TriedAt}, spent...)...)
	err := s.DB.Send(ctx, b)
	return won == 1, err
}

// WinByTOTP is identity.FactorStore's.
func (s *Store) WinByTOTP(ctx context.Context, w identity.Win, step int64) (bool, error) {
	return s.win(ctx, w, winByTOTP, step)
}

// WinByRecovery is identity.FactorStore's.
func (s *Store) WinByRecovery(ctx context.Context, w identity.Win, code []byte) (bool, error) {
	return s.win(ctx, w, winByRecovery, code)
}

// WinByMail is identity.FactorStore's.
func (s *Store) WinByMail(ctx context.Context, w identity.Win, code []byte) (bool, error) {
	return s.win(ctx, w, winByMail, code)
}

// WinByPasskey is identity.FactorStore's.
func (s *Store) WinByPasskey(ctx context.Context, w identity.Win, k identity.KeptPasskey) (bool, error) {
	return s.win(ctx, w, winByPasskey, k.ID, k.SignCount, k.BackedUp)
}

// mailCode counts for the user and for the challenge, or for neither, as countTry does.
const mailCode = `
	WITH counted AS (
		INSERT INTO factor_limit (user_id, sent)
		SELECT user_id, ARRAY[$2::timestamptz]` + open + ` AND sent < $6
		ON CONFLICT (user_id) DO UPDATE
		SET sent = ARRAY(SELECT t FROM unnest(factor_limit.sent) t WHERE t > $4 ORDER BY t) || $2::timestamptz
		WHERE (SELECT count(*) FROM unnest(factor_limit.sent) t WHERE t > $4) < $5
		RETURNING user_id),
	changed AS (
		UPDATE challenge SET sent = sent + 1, code_hash = $7, code_expires_at = $8 FROM counted WHERE challenge.hash = $1
		RETURNING 1)
	SELECT 1 / count(*) FROM changed`

// MailCode is identity.FactorStore's.
func (s *Store) MailCode(ctx context.Context, c identity.MailedCode, l identity.Letter) error {
	b := presented(c.Challenge)
	b.Exec(enterUser+` FOR UPDATE`, c.Challenge, c.Now, identity.MostTries)
	b.Exec(mailCode, c.Challenge, c.Now, identity.MostTries, c.Now.Add(-identity.SentWindow), identity.MostUserSent,
		identity.MostSent, c.Hash, c.ExpiresAt)
	send(b, l)
	_, err := settled(s.DB.Send(ctx, b))
	return err
}
