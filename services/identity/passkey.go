package identity

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/secret"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/identity/passkey"
)

var (
	errNoPasskeys    = fault.New(fault.Conflict, "passkeys_unavailable", "Passkeys need an address with a domain name; this one is an IP address.")
	errWrongPasskey  = fault.New(fault.Unauthenticated, "wrong_passkey", "The passkey was not accepted; try again, or sign in another way.")
	errNoCeremony    = fault.New(fault.Invalid, "ceremony_over", "That took too long; start again.")
	errPasskeyAnswer = fault.New(fault.Invalid, "passkey_refused", "The passkey could not be set up; try again.")
)

// party is who the passkeys are made for, or a fault where there can be none.
func (v *Verifier) party() (*passkey.Party, error) {
	if v.Passkeys == nil {
		return nil, errNoPasskeys
	}
	return v.Passkeys, nil
}

// ceremonyUser is a user as WebAuthn sees them: known to their authenticators by id.
func ceremonyUser(user string, p Proofs) (passkey.User, error) {
	id, err := uuid.Parse(user)
	if err != nil {
		return passkey.User{}, fault.New(fault.NotFound, "user_not_found", "There is no such user.")
	}
	u := passkey.User{ID: id[:], Name: p.Email, DisplayName: p.Email}
	for _, k := range p.Passkeys {
		u.Credentials = append(u.Credentials, k.Credential)
	}
	return u, nil
}

// BeginPasskey gives the options to make a passkey with, and a handle to finish by.
func (v *Verifier) BeginPasskey(ctx context.Context, user string) (options []byte, handle string, err error) {
	party, err := v.party()
	if err != nil {
		return nil, "", err
	}
	p, err := v.Store.Proofs(ctx, user)
	if err != nil {
		return nil, "", err
	}
	if len(p.Passkeys) >= MostPasskeys {
		return nil, "", errTooManyPasskeys
	}
	u, err := ceremonyUser(user, p)
	if err != nil {
		return nil, "", err
	}
	options, state, err := party.BeginRegistration(u)
	if err != nil {
		return nil, "", err
	}
	handle, err = v.keepCeremony(ctx, Ceremony{Kind: ceremonyRegister, UserID: &user, State: state})
	return options, handle, err
}

var errTooManyPasskeys = fault.New(fault.Conflict, "too_many_passkeys", "There are as many passkeys as there can be; remove one first.")

// keepCeremony keeps a ceremony and gives its handle.
func (v *Verifier) keepCeremony(ctx context.Context, c Ceremony) (handle string, err error) {
	if handle, err = secret.Random(v.Random); err != nil {
		return "", err
	}
	c.Hash, c.ExpiresAt = v.hashed("ceremony", handle), v.now().Add(ceremonyLife)
	return handle, v.Store.KeepCeremony(ctx, c)
}

// takeCeremony gives a ceremony of the kind, once.
func (v *Verifier) takeCeremony(ctx context.Context, handle, kind string) (*Ceremony, error) {
	c, err := v.Store.TakeCeremony(ctx, v.hashed("ceremony", handle), v.now())
	if err != nil {
		return nil, err
	}
	if c == nil || c.Kind != kind {
		return nil, errNoCeremony
	}
	return c, nil
}

// FinishPasskey keeps the passkey that the browser made, under the name that its owner gave it.
func (v *Verifier) FinishPasskey(ctx context.Context, user, handle, name string, response []byte) error {
	party, err := v.party()
	if err != nil {
		return err
	}
	name, code, message := body.CleanText(name, longestPasskeyName)
	if code == "" && name == "" {
		code, message = "required", "is required"
	}
	if code != "" {
		return fault.InvalidFields([]fault.Field{wrong("name", code, message)})
	}
	c, err := v.takeCeremony(ctx, handle, ceremonyRegister)
	if err != nil {
		return err
	}
	if c.UserID == nil || *c.UserID != user {
		return errNoCeremony
	}
	p, err := v.Store.Proofs(ctx, user)
	if err != nil {
		return err
	}
	u, err := ceremonyUser(user, p)
	if err != nil {
		return err
	}
	made, err := party.FinishRegistration(u, c.State, response)
	if errors.Is(err, passkey.ErrRefused) {
		return errPasskeyAnswer
	}
	if err != nil {
		return err
	}
	id, err := v.NewID()
	if err != nil {
		return err
	}
	letter, err := v.notice(p, LetterFactorAdded, factorPasskey)
	if err != nil {
		return err
	}
	k := KeptPasskey{Credential: made, ID: id.String(), UserID: user, Name: name, CreatedAt: v.now()}
	done, err := v.Store.AddPasskey(ctx, k, MostPasskeys, letter, v.entry(ctx, user, auditFactorAdd))
	switch {
	case err != nil:
		return err
	case !done:
		return errTooManyPasskeys
	}
	v.Nudge()
	return nil
}

// RemovePasskey ends a passkey of the user's.
func (v *Verifier) RemovePasskey(ctx context.Context, user, id string) error {
	none := fault.New(fault.NotFound, "passkey_not_found", "There is no such passkey.")
	if !ValidID(id) {
		return none
	}
	p, err := v.Store.Proofs(ctx, user)
	if err != nil {
		return err
	}
	letter, err := v.notice(p, LetterFactorRemoved, factorPasskey)
	if err != nil {
		return err
	}
	done, err := v.Store.RemovePasskey(ctx, user, id, letter, v.entry(ctx, user, auditFactorRemove))
	switch {
	case err != nil:
		return err
	case !done:
		return none
	}
	v.Nudge()
	return nil
}
