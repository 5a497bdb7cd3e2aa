package identity

import (
	"slices"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// How somebody proved who they are, as RFC 8176 names it.
const (
	ByPassword  = "pwd"
	ByOneTime   = "otp"  // TOTP or a recovery code
	ByMail      = "mail" // six digits by e-mail; RFC 8176 has no name for it
	ByPasskey   = "hwk"
	ByFederated = "fed" // an organization's own provider; RFC 8176 has no name for it
)

// SignIn is a browser's session with us, made on the sign-in pages. Its secret is the browser's cookie, of which only
// the hash is kept.
type SignIn struct {
	ID        string
	UserID    string
	TenantID  *string  // the organization that was chosen last
	Methods   []string // the constants above
	Agent     string   // the browser, as its owner would call it: "Firefox on Linux"
	CreatedAt time.Time
	SeenAt    time.Time
	ExpiresAt time.Time
}

// Strong reports whether more than a password stood behind the sign-in, as an organization can require. A passkey is
// two factors by itself, since it is used with a verified user; what an organization's own provider does is its matter.
func (s SignIn) Strong() bool {
	return slices.ContainsFunc(s.Methods, func(m string) bool { return m != ByPassword })
}

// Caller is what is known of who sends a form, before anybody is signed in.
type Caller struct {
	Address string // as the gateway saw it
	Agent   string // User-Agent
	Device  string // the device cookie: proof that somebody signed in from this browser before
}

// Entered is what an attempt to sign in came to: either a session, or a challenge to be answered first.
type Entered struct {
	SignIn    SignIn
	Cookie    string // the new session's secret, for the browser alone; "" when there is a challenge
	Device    string // a new device cookie; "" leaves the old one
	Challenge *Challenge
}

// The ways to answer a challenge.
const (
	AnswerTOTP     = "totp"
	AnswerMail     = "email"
	AnswerRecovery = "recovery"
	AnswerPasskey  = "passkey"
)

// Challenge asks somebody whose password was right for a second factor. Its id is a secret of 256 bits: who knows it
// knows the password.
type Challenge struct {
	ID        string
	UserID    string
	Methods   []string // the constants above, the best first
	ExpiresAt time.Time
}

// Membership is a user's place in a tenant.
type Membership struct {
	TenantID    string
	Name        string // the tenant's
	Roles       []Role
	Permissions principal.Permission
	Plan        string
	Environment string
	MFARequired bool
	// AgreementAccepted is true in demo, where there is no agreement.
	AgreementAccepted bool
}

// Session is a place where a user is signed in: a browser, or an application with a refresh token.
type Session struct {
	ID          string
	Application string // the client's name; "" for a browser
	Agent       string
	TenantID    string
	CreatedAt   time.Time
	SeenAt      time.Time
	Current     bool
}

// Factors is what a user has to prove who they are besides the password.
type Factors struct {
	TOTP          bool
	RecoveryCodes int // that are left
	Passkeys      []Passkey
}

// Passkey is a WebAuthn credential, as its owner sees it.
type Passkey struct {
	ID         string
	Name       string
	CreatedAt  time.Time
	LastUsedAt *time.Time
}

// Enrolment is a TOTP secret that its owner has still to confirm. It is shown once.
type Enrolment struct {
	Secret string // base32
	URI    string // otpauth://
	QR     []byte // PNG
}
