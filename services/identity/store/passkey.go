package store

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

//nolint:gosec // statements, which hold no secret
const (
	addPasskey = `
		INSERT INTO passkey (user_id, id, credential_id, public_key, aaguid, transports, backup_eligible, backed_up, sign_count, name, created_at)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
		WHERE (SELECT count(*) FROM passkey WHERE user_id = $1) < $12 RETURNING 1`
	deletePasskey = `DELETE FROM passkey WHERE user_id = $1 AND id = $2 RETURNING 1`
	// usePasskey holds the counter to going up, where the authenticator counts at all (WebAuthn §6.1.1).
	usePasskey = `
		UPDATE passkey SET sign_count = $3, backed_up = $4, last_used_at = $5
		WHERE user_id = $1 AND id = $2 AND (sign_count < $3 OR (sign_count = 0 AND $3 = 0))`
)

// AddPasskey is identity.FactorStore's.
func (s *Store) AddPasskey(ctx context.Context, k identity.KeptPasskey, most int, l identity.Letter, e audit.Entry) (bool, error) {
	b := asUser(k.UserID)
	lockUser(b, k.UserID)
	b.Exec(demand(addPasskey), k.UserID, k.ID, k.CredentialID, k.PublicKey, k.AAGUID, k.Transports,
		k.BackupEligible, k.BackedUp, k.SignCount, k.Name, k.CreatedAt, most)
	send(b, l)
	tell(b, e)
	err := s.DB.Send(ctx, b)
	if pg.Violates(err, "passkey_credential") {
		return false, fault.New(fault.Conflict, "passkey_taken", "This passkey is registered already.")
	}
	return settled(err)
}

// RemovePasskey is identity.FactorStore's.
func (s *Store) RemovePasskey(ctx context.Context, user, id string, l identity.Letter, e audit.Entry) (bool, error) {
	b := asUser(user)
	lockUser(b, user)
	b.Exec(demand(deletePasskey), user, id)
	b.Exec(deleteUseless, user)
	send(b, l)
	tell(b, e)
	return settled(s.DB.Send(ctx, b))
}

// UsePasskey is identity.FactorStore's.
func (s *Store) UsePasskey(ctx context.Context, k identity.KeptPasskey, now time.Time) (bool, error) {
	var used int64
	b := asUser(k.UserID)
	b.Affected(&used, usePasskey, k.UserID, k.ID, k.SignCount, k.BackedUp, now)
	err := s.DB.Send(ctx, b)
	return used == 1, err
}

// presented begins a batch that sees the one row whose secret's hash was presented.
func presented(hash []byte) *pg.Batch {
	b := pg.Global()
	b.Exec(`SELECT set_config('app.session', $1, true)`, hex.EncodeToString(hash))
	return b
}

const (
	insertCeremony = `INSERT INTO passkey_ceremony (hash, kind, user_id, challenge, state, expires_at) VALUES ($1, $2, $3, $4, $5, $6)`
	takeCeremony   = `
		DELETE FROM passkey_ceremony WHERE hash = $1 AND expires_at > $2
		RETURNING hash, kind, user_id, challenge, state, expires_at`
)

// KeepCeremony is identity.FactorStore's.
func (s *Store) KeepCeremony(ctx context.Context, c identity.Ceremony) error {
	b := presented(c.Hash)
	b.Exec(insertCeremony, c.Hash, c.Kind, c.UserID, c.Challenge, c.State, c.ExpiresAt)
	return s.DB.Send(ctx, b)
}

// TakeCeremony is identity.FactorStore's.
func (s *Store) TakeCeremony(ctx context.Context, hash []byte, now time.Time) (*identity.Ceremony, error) {
	var taken *identity.Ceremony
	b := presented(hash)
	pg.Row(b, &taken, takeCeremony, hash, now)
	err := s.DB.Send(ctx, b)
	return taken, err
}
