package identity

import (
	"context"
	"encoding/hex"
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
	done, err := v.Store.AddPasskey(ctx, k, MostPasskeys, letter)
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
	done, err := v.Store.RemovePasskey(ctx, user, id, letter)
	switch {
	case err != nil:
		return err
	case !done:
		return none
	}
	v.Nudge()
	return nil
}

// BeginPasskeySignIn asks whoever it is for a passkey.
func (v *Verifier) BeginPasskeySignIn(ctx context.Context) (options []byte, handle string, err error) {
	party, err := v.party()
	if err != nil {
		return nil, "", err
	}
	options, state, err := party.BeginSignIn()
	if err != nil {
		return nil, "", err
	}
	handle, err = v.keepCeremony(ctx, Ceremony{Kind: ceremonySignIn, State: state})
	return options, handle, err
}

// PasskeyOwner checks the answer to BeginPasskeySignIn and gives whose passkey it was.
func (v *Verifier) PasskeyOwner(ctx context.Context, handle string, response []byte) (user string, err error) {
	party, err := v.party()
	if err != nil {
		return "", err
	}
	c, err := v.takeCeremony(ctx, handle, ceremonySignIn)
	if err != nil {
		return "", err
	}
	answer, err := passkey.ReadAnswer(response)
	if err != nil {
		return "", errWrongPasskey
	}
	// Whose passkey it says to be is not proved before the signature is checked with that user's key.
	id, err := uuid.FromBytes(answer.UserHandle())
	if err != nil {
		return "", errWrongPasskey
	}
	p, err := v.Store.Proofs(ctx, id.String())
	if err != nil {
		return "", err
	}
	used, err := usedPasskey(party, id.String(), p, c.State, answer)
	if err != nil {
		return "", err
	}
	done, err := v.Store.UsePasskey(ctx, used, v.now())
	if err != nil {
		return "", err
	}
	if !done {
		return "", errWrongPasskey
	}
	return id.String(), nil
}

// usedPasskey checks an answer and gives the passkey that it came from, with its counter moved on.
func usedPasskey(party *passkey.Party, user string, p Proofs, state []byte, a passkey.Answer) (KeptPasskey, error) {
	u, err := ceremonyUser(user, p)
	if err != nil {
		return KeptPasskey{}, err
	}
	used, err := party.Finish(u, state, a)
	if errors.Is(err, passkey.ErrRefused) || errors.Is(err, passkey.ErrCloned) {
		return KeptPasskey{}, fault.Because(err, errWrongPasskey.Kind, errWrongPasskey.Code, errWrongPasskey.Detail)
	}
	if err != nil {
		return KeptPasskey{}, err
	}
	for _, k := range p.Passkeys {
		if hex.EncodeToString(k.CredentialID) == hex.EncodeToString(used.CredentialID) {
			k.Credential = used
			return k, nil
		}
	}
	return KeptPasskey{}, errWrongPasskey
}

// BeginPasskeyAnswer asks for a passkey of the user whose challenge it is.
func (v *Verifier) BeginPasskeyAnswer(ctx context.Context, challenge string) (options []byte, handle string, err error) {
	party, err := v.party()
	if err != nil {
		return nil, "", err
	}
	c, p, err := v.Store.FindChallenge(ctx, v.challengeHash(challenge), v.now())
	switch {
	case err != nil:
		return nil, "", err
	case c == nil:
		return nil, "", errNoChallenge
	case len(p.Passkeys) == 0:
		return nil, "", errWrongPasskey
	}
	u, err := ceremonyUser(c.UserID, p)
	if err != nil {
		return nil, "", err
	}
	options, state, err := party.BeginAnswer(u)
	if err != nil {
		return nil, "", err
	}
	handle, err = v.keepCeremony(ctx, Ceremony{Kind: ceremonyAnswer, UserID: &c.UserID, Challenge: c.Hash, State: state})
	return options, handle, err
}

// AnswerByPasskey answers a challenge, whatever number of wrong codes was counted for its user: a signature cannot be
// guessed.
func (v *Verifier) AnswerByPasskey(ctx context.Context, challenge, handle string, response []byte) (userID string, carry Carry, err error) {
	party, err := v.party()
	if err != nil {
		return "", Carry{}, err
	}
	ceremony, err := v.takeCeremony(ctx, handle, ceremonyAnswer)
	if err != nil {
		return "", Carry{}, err
	}
	now, hash := v.now(), v.challengeHash(challenge)
	if hex.EncodeToString(hash) != hex.EncodeToString(ceremony.Challenge) {
		return "", Carry{}, errNoCeremony
	}
	c, p, err := v.Store.FindChallenge(ctx, hash, now)
	switch {
	case err != nil:
		return "", Carry{}, err
	case c == nil:
		return "", Carry{}, errNoChallenge
	}
	answer, err := passkey.ReadAnswer(response)
	if err != nil {
		return "", Carry{}, errWrongPasskey
	}
	used, err := usedPasskey(party, c.UserID, p, ceremony.State, answer)
	if err != nil {
		return "", Carry{}, err
	}
	won, err := v.Store.WinByPasskey(ctx, Win{Challenge: hash, UserID: c.UserID, Now: now}, used)
	if err != nil {
		return "", Carry{}, err
	}
	if !won {
		return "", Carry{}, errWrongPasskey
	}
	carry, err = carried(*c)
	return c.UserID, carry, err
}

// FinishPasskeySignIn signs in by the answer to BeginPasskeySignIn. No password and no second factor is asked for: a
// passkey is two by itself.
func (p *People) FinishPasskeySignIn(ctx context.Context, c Caller, handle string, response []byte) (Entered, error) {
	user, err := p.PasskeyOwner(ctx, handle, response)
	if err != nil {
		return Entered{}, err
	}
	return p.SignInVerified(ctx, c, user, ByPasskey)
}

// FinishPasskeyAnswer is AnswerChallenge by the answer to BeginPasskeyAnswer.
func (p *People) FinishPasskeyAnswer(ctx context.Context, c Caller, challengeID, handle string, response []byte) (Entered, error) {
	userID, carry, err := p.AnswerByPasskey(ctx, challengeID, handle, response)
	if err != nil {
		return Entered{}, err
	}
	return p.answered(ctx, c, userID, ByPasskey, carry)
}
