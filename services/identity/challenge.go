package identity

import (
	"context"
	"crypto/hmac"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"crypto/rand"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/secret"
	"github.com/patient-mesh/patient-mesh/services/identity/totp"
)

// Required reports whether the user has to prove more than the password whatever their organizations require.
func (v *Verifier) Required(ctx context.Context, user string) (bool, error) {
	p, err := v.Store.Proofs(ctx, user)
	return p.enrolled(), err
}

// NewChallenge asks a user whose password was right for more. What it carries comes back with the right answer.
func (v *Verifier) NewChallenge(ctx context.Context, user string, carry Carry) (Challenge, error) {
	p, err := v.Store.Proofs(ctx, user)
	if err != nil {
		return Challenge{}, err
	}
	id, err := secret.Random(v.Random)
	if err != nil {
		return Challenge{}, err
	}
	carried, err := json.Marshal(carry)
	if err != nil {
		return Challenge{}, fmt.Errorf("write what a challenge carries: %w", err)
	}
	c := KeptChallenge{Hash: v.challengeHash(id), UserID: user, Carry: carried, ExpiresAt: v.now().Add(challengeLife)}
	if err := v.Store.CreateChallenge(ctx, c); err != nil {
		return Challenge{}, err
	}
	return shown(id, c, p), nil
}

func (v *Verifier) challengeHash(id string) []byte { return v.hashed("challenge", id) }

func shown(id string, c KeptChallenge, p Proofs) Challenge {
	return Challenge{ID: id, UserID: c.UserID, Methods: p.methods(), ExpiresAt: c.ExpiresAt}
}

// Challenge gives a challenge that can still be answered; else a fault of kind NotFound.
func (v *Verifier) Challenge(ctx context.Context, id string) (Challenge, error) {
	c, p, err := v.Store.FindChallenge(ctx, v.challengeHash(id), v.now())
	if err != nil {
		return Challenge{}, err
	}
	if c == nil {
		return Challenge{}, errNoChallenge
	}
	return shown(id, *c, p), nil
}

// SendCode mails a code where the challenge can be answered by one, and says nothing about whether it did.
func (v *Verifier) SendCode(ctx context.Context, id string) error {
	c, p, err := v.Store.FindChallenge(ctx, v.challengeHash(id), v.now())
	if err != nil || c == nil || p.enrolled() {
		return err
	}
	code, err := v.newCode()
	if err != nil {
		return err
	}
	now := v.now()
	err = v.Store.MailCode(ctx, *c, MailedCode{Code: code, Hash: v.mailHash(c.Hash, code), ExpiresAt: now.Add(codeLife)}, now)
	if err == nil {
		v.Nudge()
	}
	return err
}

// newCode makes six random digits, all equally likely.
func (v *Verifier) newCode() (string, error) {
	n, err := rand.Int(v.Random, big.NewInt(1_000_000))
	if err != nil {
		return "", fmt.Errorf("read randomness: %w", err)
	}
	return fmt.Sprintf("%06d", n), nil
}

// mailHash binds a code to its challenge.
func (v *Verifier) mailHash(challenge []byte, code string) []byte {
	return v.hashed("mailed-code", hex.EncodeToString(challenge)+code)
}

// Answer checks a code: of an authenticator app, mailed, or for recovery, told apart by their form. It gives whose
// challenge that was, what it carried, and how it was answered.
func (v *Verifier) Answer(ctx context.Context, id, code string) (Answered, error) {
	code = strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return -1
		}
		return r
	}, strings.TrimSpace(code))
	if !sixDigits(code) && !recoveryForm(code) {
		return Answered{}, errWrongCode // nothing that could be right is counted as a guess
	}
	now := v.now()
	tried, err := v.Store.Try(ctx, v.challengeHash(id), now)
	switch {
	case err != nil:
		return Answered{}, err
	case tried.Challenge == nil:
		return Answered{}, errNoChallenge
	case !tried.Counted:
		f := fault.New(fault.RateLimited, "too_many_codes", "Too many wrong codes were given; try again later.")
		f.RetryAfter = tried.Wait
		return Answered{}, f
	}
	c := *tried.Challenge
	won, by, err := v.check(ctx, tried, code, Win{Challenge: c.Hash, UserID: c.UserID, TriedAt: now, Now: now})
	if err != nil {
		return Answered{}, err
	}
	if !won {
		return Answered{}, errWrongCode
	}
	return answered(c, by)
}

// check reports whether the code is right and the first of its kind.
func (v *Verifier) check(ctx context.Context, t Tried, code string, w Win) (won bool, by string, err error) {
	switch {
	case !sixDigits(code):
		won, err = v.Store.WinByRecovery(ctx, w, v.recoveryHash(w.UserID, code))
		return won, ByOneTime, err
	case t.Proofs.hasTOTP():
		base32, err := v.Sealer.Open(t.Proofs.TOTP.Sealed, totpPurpose(w.UserID))
		if err != nil {
			return false, "", fmt.Errorf("open a TOTP secret: %w", err)
		}
		step, right := totp.Step(string(base32), code, w.Now, t.Proofs.TOTP.LastStep)
		if !right {
			return false, "", nil
		}
		won, err = v.Store.WinByTOTP(ctx, w, step)
		return won, ByOneTime, err
	case t.Proofs.enrolled(): // by passkeys alone: no digits are right
		return false, "", nil
	default:
		hash := v.mailHash(w.Challenge, code)
		if !t.Challenge.mailed(hash, w.Now) {
			return false, "", nil
		}
		won, err = v.Store.WinByMail(ctx, w, hash)
		return won, ByMail, err
	}
}

// mailed reports whether hash is that of the code that was mailed last, and still in time.
func (c KeptChallenge) mailed(hash []byte, now time.Time) bool {
	return c.CodeExpiresAt != nil && now.Before(*c.CodeExpiresAt) && hmac.Equal(c.CodeHash, hash)
}

func answered(c KeptChallenge, by string) (Answered, error) {
	a := Answered{UserID: c.UserID, Method: by}
	if err := json.Unmarshal(c.Carry, &a.Carry); err != nil {
		return Answered{}, fmt.Errorf("read what a challenge carries: %w", err)
	}
	return a, nil
}

func sixDigits(code string) bool {
	if len(code) != totp.Digits {
		return false
	}
	for _, r := range code {
		if r < '0' || r > '9' {
			return false
		}
	}
	return true
}
