package store

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

var _ identity.FactorStore = (*Store)(nil)

// settled tells whether a batch with a demanded statement went through.
func settled(err error) (done bool, _ error) {
	if pg.HasCode(err, pg.DivisionByZero) {
		return false, nil
	}
	return err == nil, err
}

// demand wraps a statement that returns the rows it changed, so that the whole batch fails when there are none: 1/0 is
// the one error that plain SQL can raise.
func demand(sql string) string {
	return `WITH changed AS (` + sql + `) SELECT 1 / count(*) FROM changed`
}

// The user is the batch's own, so that these can follow whatever named one.
const (
	batchUser = `nullif(current_setting('app.user_id', true), '')::uuid`

	selectAddressee = `SELECT email, first_name FROM user_account WHERE id = ` + batchUser
	selectTOTP      = `SELECT secret_sealed AS sealed, last_step, confirmed_at FROM totp WHERE user_id = ` + batchUser
	countRecovery   = `SELECT count(*) FROM recovery_code WHERE user_id = ` + batchUser
	selectPasskeys  = `
		SELECT id, user_id, credential_id, public_key, aaguid, transports, backup_eligible, backed_up, sign_count, name, created_at, last_used_at
		FROM passkey WHERE user_id = ` + batchUser + ` ORDER BY id LIMIT 100`
)

// readProofs queues the reading of what the batch's user has, into p once it was sent.
type readProofs struct {
	addressee *struct{ Email, FirstName string }
	totp      *identity.TOTPSecret
	codes     int
	passkeys  []identity.KeptPasskey
}

func (r *readProofs) queue(b *pg.Batch) {
	pg.Row(b, &r.addressee, selectAddressee)
	pg.Row(b, &r.totp, selectTOTP)
	pg.Value(b, &r.codes, countRecovery)
	pg.Rows(b, &r.passkeys, selectPasskeys)
}

func (r *readProofs) proofs() identity.Proofs {
	p := identity.Proofs{TOTP: r.totp, RecoveryCodes: r.codes, Passkeys: r.passkeys}
	if r.addressee != nil {
		p.Email, p.Name = r.addressee.Email, r.addressee.FirstName
	}
	return p
}

// Proofs is identity.FactorStore's.
func (s *Store) Proofs(ctx context.Context, user string) (identity.Proofs, error) {
	var r readProofs
	b := asUser(user)
	r.queue(b)
	err := s.DB.Send(ctx, b)
	return r.proofs(), err
}
