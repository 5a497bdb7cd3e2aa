package store

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// seenEvery is how coarsely it is noted when a session was seen, so that most pages write nothing.
const seenEvery = time.Minute

const (
	signInColumns = `id, user_id, tenant_id, methods, agent, created_at, seen_at, expires_at`

	insertSignIn = `
		INSERT INTO sign_in (id, user_id, hash, tenant_id, methods, agent, created_at, seen_at, expires_at)
		SELECT $1::uuid, $2::uuid, $3::bytea, $4::uuid, $5::text[], $6::text, $7::timestamptz, $8::timestamptz, $9::timestamptz
		FROM user_account WHERE id = $2 AND password_hash = $10` + withUser
	// withUser makes an insertion and a change of the user's password take turns: that change ends what it finds, and what
	// comes after it finds another password.
	withUser = ` FOR SHARE`
	// insistOnSignIn ends the batch, with all that it would tell of, when there is no such session.
	insistOnSignIn = `SELECT 1 / count(*) FROM sign_in WHERE id = $1`
)

// KeepSignIn is identity.SignInStore's.
func (s *Store) KeepSignIn(ctx context.Context, in identity.SignIn, hash []byte, passwordHash string, e audit.Entry) (bool, error) {
	b := asUser(in.UserID)
	b.Exec(insertSignIn, in.ID, in.UserID, hash, in.TenantID, in.Methods, in.Agent, in.CreatedAt, in.SeenAt, in.ExpiresAt, passwordHash)
	b.Exec(insistOnSignIn, in.ID)
	tell(b, e)
	err := s.DB.Send(ctx, b)
	if pg.HasCode(err, pg.DivisionByZero) {
		return false, nil
	}
	return err == nil, err
}

const (
	// enterSignIn lets a batch that sees a session by its cookie see what belongs to the session's user.
	enterSignIn = `SELECT set_config('app.user_id', user_id::text, true) FROM sign_in WHERE hash = $1`

	goesOn       = `expires_at > $2 AND seen_at > $3`
	touchSignIn  = `UPDATE sign_in SET seen_at = $2 WHERE hash = $1 AND ` + goesOn + ` AND seen_at <= $4`
	selectSignIn = `SELECT ` + signInColumns + ` FROM sign_in WHERE hash = $1 AND ` + goesOn
	selectWho    = `
		SELECT ` + userColumns + ` FROM user_account
		WHERE id = (SELECT user_id FROM sign_in WHERE hash = $1) AND environment = $2`
)

// FindSignIn is identity.SignInStore's.
func (s *Store) FindSignIn(ctx context.Context, hash []byte, environment string, idle time.Duration, now time.Time) (*identity.SignIn, *identity.User, error) {
	var in *identity.SignIn
	var user *identity.User
	b := pg.Global()
	b.Exec(seeIssued, hex.EncodeToString(hash))
	b.Exec(enterSignIn, hash)
	b.Exec(touchSignIn, hash, now, now.Add(-idle), now.Add(-seenEvery))
	pg.Row(b, &in, selectSignIn, hash, now, now.Add(-idle))
	pg.Row(b, &user, selectWho, hash, environment)
	if err := s.DB.Send(ctx, b); err != nil || in == nil || user == nil {
		return nil, nil, err
	}
	return in, user, nil
}

const upgradeSignIn = `
	UPDATE sign_in SET hash = $3, methods = $4, seen_at = $5
	WHERE user_id = $1 AND id = $2 AND expires_at > $5
	RETURNING ` + signInColumns

// UpgradeSignIn is identity.SignInStore's.
func (s *Store) UpgradeSignIn(ctx context.Context, user, id string, hash []byte, methods []string, now time.Time) (*identity.SignIn, error) {
	var upgraded *identity.SignIn
	b := asUser(user)
	pg.Row(b, &upgraded, upgradeSignIn, user, id, hash, methods, now)
	err := s.DB.Send(ctx, b)
	return upgraded, err
}

// ChooseTenant is identity.SignInStore's.
func (s *Store) ChooseTenant(ctx context.Context, user, id, tenant string) error {
	b := asUser(user)
	b.Exec(`UPDATE sign_in SET tenant_id = $3 WHERE user_id = $1 AND id = $2`, user, id, tenant)
	return s.DB.Send(ctx, b)
}

const listSignIns = `
	SELECT ` + signInColumns + ` FROM sign_in WHERE user_id = $1 AND ` + goesOn + ` ORDER BY seen_at DESC LIMIT $4`

// SignInsOf is identity.SignInStore's.
func (s *Store) SignInsOf(ctx context.Context, user string, idle time.Duration, now time.Time) ([]identity.SignIn, error) {
	var list []identity.SignIn
	b := asUser(user)
	pg.Rows(b, &list, listSignIns, user, now, now.Add(-idle), identity.MostSessions)
	err := s.DB.Send(ctx, b)
	return list, err
}

// EndSignIn is identity.SignInStore's.
func (s *Store) EndSignIn(ctx context.Context, user, id string, e audit.Entry) (bool, error) {
	b := asUser(user)
	b.Exec(demand(`DELETE FROM sign_in WHERE user_id = $1 AND id = $2 RETURNING 1`), user, id)
	tell(b, e)
	return settled(s.DB.Send(ctx, b))
}

// EndEverything is identity.SignInStore's. What is being answered goes first, and could begin a session no more.
func (s *Store) EndEverything(ctx context.Context, user string, now time.Time, e audit.Entry) error {
	b := asUser(user)
	b.Exec(endChallenges, user)
	b.Exec(endSignIns, user, nil)
	endFamilies(b, user, now)
	tell(b, e)
	return s.DB.Send(ctx, b)
}
