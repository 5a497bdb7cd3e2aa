package identity

import (
	"context"
	"fmt"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity/totp"
)

var errEnrolled = fault.New(fault.Conflict, "already_enrolled", "An authenticator app is set up already; remove it first.")

func totpPurpose(user string) string { return "totp/" + user }

// BeginTOTP makes a secret for an authenticator app. It counts from its confirmation on; until then each new one
// replaces the last.
func (v *Verifier) BeginTOTP(ctx context.Context, user string) (Enrolment, error) {
	p, err := v.Store.Proofs(ctx, user)
	switch {
	case err != nil:
		return Enrolment{}, err
	case p.hasTOTP():
		return Enrolment{}, errEnrolled
	}
	made, err := totp.New(v.Random, v.Product, p.Email)
	if err != nil {
		return Enrolment{}, err
	}
	picture, err := made.QR()
	if err != nil {
		return Enrolment{}, err
	}
	sealed, err := v.Sealer.Seal([]byte(made.Base32), totpPurpose(user))
	if err != nil {
		return Enrolment{}, err
	}
	done, err := v.Store.PutTOTP(ctx, user, sealed, v.now())
	switch {
	case err != nil:
		return Enrolment{}, err
	case !done:
		return Enrolment{}, errEnrolled
	}
	return Enrolment{Secret: made.Base32, URI: made.URI, QR: picture}, nil
}

// ConfirmTOTP takes the first code of a new app, and gives the recovery codes, this once.
func (v *Verifier) ConfirmTOTP(ctx context.Context, user, code string) (recovery []string, err error) {
	p, err := v.Store.Proofs(ctx, user)
	switch {
	case err != nil:
		return nil, err
	case p.hasTOTP():
		return nil, errEnrolled
	case p.TOTP == nil:
		return nil, fault.New(fault.Conflict, "not_begun", "Fetch a secret first.")
	}
	base32, err := v.Sealer.Open(p.TOTP.Sealed, totpPurpose(user))
	if err != nil {
		return nil, fmt.Errorf("open a TOTP secret: %w", err)
	}
	step, right := totp.Step(string(base32), withoutGaps(code), v.now(), p.TOTP.LastStep)
	if !right {
		return nil, fault.InvalidFields([]fault.Field{wrong("code", "wrong_code", "is not what the app shows now")})
	}
	show, keep, err := v.newRecoveryCodes(user)
	if err != nil {
		return nil, err
	}
	letter, err := v.notice(p, LetterFactorAdded, factorTOTP)
	if err != nil {
		return nil, err
	}
	done, err := v.Store.ConfirmTOTP(ctx, Confirmation{UserID: user, Sealed: p.TOTP.Sealed, Step: step, RecoveryCodes: keep, Now: v.now()}, letter, v.entry(ctx, user, auditFactorAdd))
	switch {
	case err != nil:
		return nil, err
	case !done:
		return nil, fault.New(fault.Conflict, "replaced", "The secret was confirmed or replaced meanwhile.")
	}
	v.Nudge()
	return show, nil
}

// RemoveTOTP ends the app's codes, and the recovery codes unless they stand in for passkeys too.
func (v *Verifier) RemoveTOTP(ctx context.Context, user string) error {
	p, err := v.Store.Proofs(ctx, user)
	if err != nil {
		return err
	}
	letter, err := v.notice(p, LetterFactorRemoved, factorTOTP)
	if err != nil {
		return err
	}
	done, err := v.Store.RemoveTOTP(ctx, user, letter, v.entry(ctx, user, auditFactorRemove))
	if err != nil {
		return err
	}
	if !done {
		return fault.New(fault.NotFound, "factor_not_found", "No authenticator app is set up.")
	}
	v.Nudge()
	return nil
}
