package identity

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity/passkey"
)

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
	if fault.Is(err, fault.Unauthenticated) {
		err = v.failed(ctx, c.UserID, err)
	}
	if err != nil {
		return "", Carry{}, err
	}
	won, err := v.Store.WinByPasskey(ctx, Win{Challenge: hash, UserID: c.UserID, Now: now}, used)
	if err != nil {
		return "", Carry{}, err
	}
	if !won {
		return "", Carry{}, v.failed(ctx, c.UserID, errWrongPasskey)
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
