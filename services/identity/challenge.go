package identity

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/secret"
	"github.com/patient-mesh/patient-mesh/services/identity/totp"
)

// Required is SecondFactor's.
func (v *Verifier) Required(ctx context.Context, user User, memberships []Membership) (methods []string, err error) {
	p, err := v.Store.Proofs(ctx, user.ID)
	if err != nil {
		return nil, err
	}
	if !p.enrolled() && !slices.ContainsFunc(memberships, func(m Membership) bool { return m.MFARequired }) {
		return nil, nil
	}
	return p.methods(), nil
}

// NewChallenge is SecondFactor's.
func (v *Verifier) NewChallenge(ctx context.Context, user User, _ Caller, _ []string, carry Carry) (Challenge, error) {
	p, err := v.Store.Proofs(ctx, user.ID)
	if err != nil {
		return Challenge{}, err
	}
	id, err := secret.Random(v.Random)
	if err != nil {
		return Challenge{}, err
	}
	kept, err := json.Marshal(carry)
	if err != nil {
		return Challenge{}, fmt.Errorf("write what a challenge carries: %w", err)
	}
	now := v.now()
	c := KeptChallenge{Hash: v.challengeHash(id), UserID: user.ID, Carry: kept, CreatedAt: now, ExpiresAt: now.Add(challengeLife)}
	done, err := v.Store.CreateChallenge(ctx, c, user.PasswordHash)
	if err != nil {
		return Challenge{}, err
	}
	if !done {
		return Challenge{}, wrongCredentials()
	}
	return shown(id, c, p), nil
}

func (v *Verifier) challengeHash(id string) []byte { return v.hashed("challenge", id) }

func shown(id string, c KeptChallenge, p Proofs) Challenge {
	return Challenge{ID: id, UserID: c.UserID, Methods: p.methods(), ExpiresAt: c.ExpiresAt}
}

// Challenge is SecondFactor's.
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

// SendCode is SecondFactor's.
func (v *Verifier) SendCode(ctx context.Context, id string) error {
	c, p, err := v.Store.FindChallenge(ctx, v.challengeHash(id), v.now())
	if err != nil || c == nil || p.enrolled() {
		return err
	}
	code, err := v.newCode()
	if err != nil {
		return err
	}
	letter, err := v.Letter(LetterCode, Contents{To: p.Email, Name: p.Name, Code: code}, codeLife)
	if err != nil {
		return err
	}
	now := v.now()
	err = v.Store.MailCode(ctx, MailedCode{Challenge: c.Hash, Hash: v.mailHash(c.Hash, code), ExpiresAt: now.Add(codeLife), Now: now}, letter)
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

// Answer is SecondFactor's. Which kind of code it is, of an app, mailed or for recovery, its form and the user's factors
// tell.
func (v *Verifier) Answer(ctx context.Context, id, code string) (userID, method string, carry Carry, err error) {
	code = withoutGaps(code)
	if !sixDigits(code) && !recoveryForm(code) {
		return "", "", Carry{}, errWrongCode // what cannot be right is not counted as a guess
	}
	now := v.now()
	tried, err := v.Store.Try(ctx, v.challengeHash(id), now)
	switch {
	case err != nil:
		return "", "", Carry{}, err
	case tried.Challenge == nil:
		return "", "", Carry{}, errNoChallenge
	case !tried.Counted:
		f := fault.New(fault.RateLimited, "too_many_codes", "Too many wrong codes were given; try again later.")
		f.RetryAfter = tried.Wait
		return "", "", Carry{}, f
	}
	c := *tried.Challenge
	won, method, err := v.check(ctx, tried, code, Win{Challenge: c.Hash, UserID: c.UserID, TriedAt: now, Now: now})
	if err != nil {
		return "", "", Carry{}, err
	}
	if !won {
		return "", "", Carry{}, v.failed(ctx, c.UserID, errWrongCode)
	}
	carry, err = carried(c)
	return c.UserID, method, carry, err
}

// failed keeps that a second factor of a user's was wrong, and gives the fault of it.
func (v *Verifier) failed(ctx context.Context, user string, f error) error {
	if err := v.Store.Note(ctx, v.entry(ctx, user, auditChallengeFailure).Failed()); err != nil {
		return err
	}
	return f
}

// withoutGaps drops what people put between groups of characters.
func withoutGaps(code string) string {
	return strings.NewReplacer(" ", "", "-", "").Replace(strings.TrimSpace(code))
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

func carried(c KeptChallenge) (carry Carry, err error) {
	if err := json.Unmarshal(c.Carry, &carry); err != nil {
		return Carry{}, fmt.Errorf("read what a challenge carries: %w", err)
	}
	return carry, nil
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
