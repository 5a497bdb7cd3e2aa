package identity

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/secret"
	"github.com/patient-mesh/patient-mesh/services/identity/passkey"
	"github.com/patient-mesh/patient-mesh/services/identity/seal"
)

// The bounds of guessing and of mail. Only who knows the password gets a challenge at all, so that nobody is locked out
// by a stranger; and a passkey, which cannot be guessed, answers whatever was counted.
const (
	challengeLife = 10 * time.Minute
	// MostTries is how many answers a challenge takes; after that it is worth nothing.
	MostTries = 5
	// MostUserTries is how many wrong answers a user may give in TriesWindow, over all challenges.
	MostUserTries = 10
	TriesWindow   = 15 * time.Minute
	// MostSent is how many codes are mailed for a challenge; MostUserSent how many to a user in SentWindow.
	MostSent     = 5
	MostUserSent = 10
	SentWindow   = time.Hour

	codeLife     = 10 * time.Minute
	ceremonyLife = 5 * time.Minute

	recoveryCodes = 10
	// MostPasskeys is how many a user may have.
	MostPasskeys       = 20
	longestPasskeyName = 100
)

// TOTPSecret is an authenticator app's secret, as it is kept.
type TOTPSecret struct {
	Sealed      []byte
	LastStep    int64 // the last time step of which a code was accepted
	ConfirmedAt *time.Time
}

// KeptPasskey is a passkey, as it is kept.
type KeptPasskey struct {
	passkey.Credential

	ID         string
	UserID     string
	Name       string
	CreatedAt  time.Time
	LastUsedAt *time.Time
}

// Proofs is all that a user can prove themselves with besides the password.
type Proofs struct {
	Email         string
	Name          string      // the first
	TOTP          *TOTPSecret // perhaps not confirmed yet
	RecoveryCodes int
	Passkeys      []KeptPasskey
}

// enrolled is whether the user has more than the mailbox.
func (p Proofs) enrolled() bool { return p.hasTOTP() || len(p.Passkeys) > 0 }

func (p Proofs) hasTOTP() bool { return p.TOTP != nil && p.TOTP.ConfirmedAt != nil }

// methods are the ways in which the user can answer a challenge, the best first. The mailbox counts for users who have
// nothing else: beside an app or a passkey it would be the weakest link.
func (p Proofs) methods() []string {
	if !p.enrolled() {
		return []string{AnswerMail}
	}
	var list []string
	if len(p.Passkeys) > 0 {
		list = append(list, AnswerPasskey)
	}
	if p.hasTOTP() {
		list = append(list, AnswerTOTP)
	}
	if p.RecoveryCodes > 0 {
		list = append(list, AnswerRecovery)
	}
	return list
}

// KeptChallenge is a challenge, as it is kept: by the hash of its id. How it can be answered is not kept with it: that
// is asked for at each answer, so that a factor that was removed meanwhile answers nothing.
type KeptChallenge struct {
	Hash          []byte
	UserID        string
	Carry         json.RawMessage
	Tries         int
	Sent          int
	CodeHash      []byte // of the digits that were mailed last
	CodeExpiresAt *time.Time
	CreatedAt     time.Time
	ExpiresAt     time.Time
}

// Tried is what became of the wish to answer a challenge.
type Tried struct {
	Challenge *KeptChallenge // nil: there is none, or it is used up
	Proofs    Proofs
	// Counted is false when the user has given too many wrong answers by now. Wait is for how long that lasts.
	Counted bool
	Wait    time.Duration
}

// Confirmation is a right first code of a new app.
type Confirmation struct {
	UserID        string
	Sealed        []byte // the secret it was right for
	Step          int64
	RecoveryCodes [][]byte // hashes
	Now           time.Time
}

// MailedCode is six digits that are mailed for a challenge, as they are kept.
type MailedCode struct {
	Challenge []byte
	Hash      []byte
	ExpiresAt time.Time
	Now       time.Time
}

// Win is a right answer, which ends its challenge if it is the first.
type Win struct {
	Challenge []byte
	UserID    string
	TriedAt   time.Time // what Try was called with: a right answer is not counted
	Now       time.Time
}

// Ceremony is a WebAuthn ceremony that waits for the browser's answer, kept by the hash of its handle.
type Ceremony struct {
	Hash      []byte
	Kind      string
	UserID    *string // nil: a sign-in of whoever answers
	Challenge []byte  // the hash of the challenge that it answers
	State     []byte
	ExpiresAt time.Time
}

// The kinds of ceremony. The answer to one is no answer to another.
const (
	ceremonyRegister = "register"
	ceremonySignIn   = "sign_in"
	ceremonyAnswer   = "answer"
)

// FactorStore keeps second factors.
type FactorStore interface {
	// Proofs gives what the user has.
	Proofs(ctx context.Context, user string) (Proofs, error)

	// PutTOTP keeps a secret that its owner has still to confirm, in the place of an earlier one of that kind. Done is
	// false when one is confirmed already.
	PutTOTP(ctx context.Context, user string, sealed []byte, now time.Time) (done bool, err error)
	// ConfirmTOTP confirms the very secret, and puts the recovery codes in the place of all that there were. Done is
	// false when it was replaced or confirmed meanwhile.
	ConfirmTOTP(ctx context.Context, c Confirmation, l Letter, e audit.Entry) (done bool, err error)
	// RemoveTOTP also removes the recovery codes unless passkeys are left.
	RemoveTOTP(ctx context.Context, user string, l Letter, e audit.Entry) (done bool, err error)
	ReplaceRecoveryCodes(ctx context.Context, user string, codes [][]byte, l Letter, e audit.Entry) error

	// AddPasskey keeps a passkey unless the user has too many. One that somebody has already is a fault of kind Conflict.
	AddPasskey(ctx context.Context, k KeptPasskey, most int, l Letter, e audit.Entry) (done bool, err error)
	// RemovePasskey also removes the recovery codes unless another factor is left.
	RemovePasskey(ctx context.Context, user, id string, l Letter, e audit.Entry) (done bool, err error)
	// UsePasskey notes a use. Done is false when the counter did not go on: then somebody else used it too.
	UsePasskey(ctx context.Context, k KeptPasskey, now time.Time) (done bool, err error)
	KeepCeremony(ctx context.Context, c Ceremony) error
	// TakeCeremony gives a ceremony once; nil when there is none.
	TakeCeremony(ctx context.Context, hash []byte, now time.Time) (*Ceremony, error)

	// CreateChallenge keeps a challenge, on SignInStore.KeepSignIn's condition.
	CreateChallenge(ctx context.Context, c KeptChallenge, passwordHash string) (done bool, err error)
	// FindChallenge gives a challenge that can still be answered, and its user's proofs; nil when there is none.
	FindChallenge(ctx context.Context, hash []byte, now time.Time) (*KeptChallenge, Proofs, error)
	// Try counts an answer before it is looked at, so that no number of them at once gets past the bounds.
	Try(ctx context.Context, hash []byte, now time.Time) (Tried, error)
	// The Wins spend what answered and the challenge in one statement. Won is false for all but one.
	WinByTOTP(ctx context.Context, w Win, step int64) (won bool, err error)
	WinByRecovery(ctx context.Context, w Win, code []byte) (won bool, err error)
	WinByMail(ctx context.Context, w Win, code []byte) (won bool, err error)
	WinByPasskey(ctx context.Context, w Win, k KeptPasskey) (won bool, err error)
	// MailCode puts a code in the place of the last one and writes its letter. Where a bound is reached it does nothing.
	MailCode(ctx context.Context, c MailedCode, l Letter) error
	// Note keeps an entry of what changed nothing.
	Note(ctx context.Context, e audit.Entry) error
}

// Verifier makes and checks second factors. It is safe for concurrent use.
type Verifier struct {
	Store    FactorStore
	Sealer   *seal.Sealer
	Hasher   secret.Hasher
	Passkeys *passkey.Party // nil where the public address admits none
	Product  string         // what authenticator apps show
	// Account is the address of the page where factors are set up and removed.
	Account string
	// Letter seals a letter; it is People's.
	Letter func(template string, c Contents, useful time.Duration) (Letter, error)
	Random io.Reader
	Now    func() time.Time
	NewID  func() (uuid.UUID, error)
	Nudge  func() // called after a change that has effects outside
}

// now is as exact as the database, which tells tries apart by it.
func (v *Verifier) now() time.Time { return v.Now().UTC().Truncate(time.Microsecond) }

// hashed is what is kept of a secret of the kind.
func (v *Verifier) hashed(kind, text string) []byte { return v.Hasher.Hash(kind + "\x00" + text) }

// noticeUseful is how long a notice of a change is still worth sending.
const noticeUseful = 3 * 24 * time.Hour

// notice is a letter that tells the user of a change to what they sign in with.
func (v *Verifier) notice(p Proofs, template, factor string) (Letter, error) {
	return v.Letter(template, Contents{To: p.Email, Name: p.Name, Factor: factor, Link: v.Account}, noticeUseful)
}

// How notices name a factor.
const (
	factorTOTP    = "an authenticator app"
	factorPasskey = "a passkey"
)

// Factors is what the user has to prove who they are besides the password.
func (v *Verifier) Factors(ctx context.Context, user string) (Factors, error) {
	p, err := v.Store.Proofs(ctx, user)
	if err != nil {
		return Factors{}, err
	}
	f := Factors{TOTP: p.hasTOTP(), RecoveryCodes: p.RecoveryCodes, Passkeys: make([]Passkey, len(p.Passkeys))}
	for i, k := range p.Passkeys {
		f.Passkeys[i] = Passkey{ID: k.ID, Name: k.Name, CreatedAt: k.CreatedAt, LastUsedAt: k.LastUsedAt}
	}
	return f, nil
}

var _ SecondFactor = (*Verifier)(nil)

var (
	errNoChallenge = fault.New(fault.NotFound, "challenge_not_found", "There is no such challenge, or it is over; sign in again.")
	errWrongCode   = fault.New(fault.Unauthenticated, "wrong_code", "The code is wrong, or was used before.")
)
