package store

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// insertLaunch makes the code as strong as the session that launches, a sign-in at a client or at the browser, and holds
// it to its tenant if that is.
const insertLaunch = `
	INSERT INTO launch_code (hash, tenant_id, user_id, application_id, environment, scope, created_at, expires_at, strong, confined)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, coalesce(
		(SELECT strong FROM token_family WHERE id = $9::uuid AND user_id = $3),
		(SELECT NOT methods <@ ARRAY[$10::text] FROM sign_in WHERE id = $9::uuid AND user_id = $3),
		false), coalesce(
		(SELECT confined FROM token_family WHERE id = $9::uuid AND user_id = $3),
		(SELECT $11::text = ANY (methods) FROM sign_in WHERE id = $9::uuid AND user_id = $3),
		true))`

// KeepLaunch is identity.LaunchStore's.
func (s *Store) KeepLaunch(ctx context.Context, c identity.LaunchCode, session string, e audit.Entry) error {
	var id *string
	if identity.ValidID(session) {
		id = &session
	}
	b := asUser(c.UserID)
	as(b, c.TenantID)
	b.Exec(insertLaunch, c.Hash, c.TenantID, c.UserID, c.ApplicationID, c.Environment, c.Scope, c.CreatedAt, c.ExpiresAt, id, identity.ByPassword, identity.ByFederated)
	audit.Keep(b, e)
	return s.DB.Send(ctx, b)
}

const (
	selectLaunch = `
		SELECT hash, tenant_id, user_id, application_id, environment, scope, strong, confined, created_at, expires_at
		FROM launch_code WHERE hash = $1`
	// seeLaunched lets the batch see the code's application too.
	seeLaunched    = `SELECT set_config('app.credential_id', application_id::text, true) FROM launch_code WHERE hash = $1`
	selectLaunched = `
		SELECT ` + applicationColumns + ` FROM external_application
		WHERE id = (SELECT application_id FROM launch_code WHERE hash = $1)`
)

// FindLaunch is identity.LaunchStore's.
func (s *Store) FindLaunch(ctx context.Context, hash []byte) (*identity.LaunchCode, *identity.Application, error) {
	var code *identity.LaunchCode
	var application *identity.Application
	b := presented(hash)
	pg.Row(b, &code, selectLaunch, hash)
	b.Exec(seeLaunched, hash)
	pg.Row(b, &application, selectLaunched, hash)
	err := s.DB.Send(ctx, b)
	return code, application, err
}

// spendLaunch decides: PostgreSQL lets one of many through at a time, and those after it look at the row as it left it.
const spendLaunch = `
	UPDATE launch_code SET
		spent_at = CASE WHEN $2 THEN $3::timestamptz END,
		failures = failures + CASE WHEN $2 THEN 0 ELSE 1 END
	WHERE hash = $1 AND spent_at IS NULL AND failures < $4 AND expires_at > $3
	RETURNING spent_at IS NOT NULL AS won`

// SpendLaunch is identity.LaunchStore's.
func (s *Store) SpendLaunch(ctx context.Context, hash []byte, right bool, now time.Time, e *audit.Entry) (bool, error) {
	var spent *struct{ Won bool }
	b := presented(hash)
	if e != nil && right {
		audit.ChangeRow(b, &spent, *e, spendLaunch, hash, right, now, identity.MostLaunchFailures)
	} else {
		pg.Row(b, &spent, spendLaunch, hash, right, now, identity.MostLaunchFailures)
		if e != nil {
			audit.Keep(b, e.Failed())
		}
	}
	if err := s.DB.Send(ctx, b); err != nil {
		return false, err
	}
	if won := spent != nil && spent.Won; won || e == nil || !right {
		return won, nil
	}
	late := pg.Global() // nothing changed that the entry could go with
	audit.Keep(late, e.Failed())
	return false, s.DB.Send(ctx, late)
}
