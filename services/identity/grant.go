package identity

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// How long what stands behind a person's access tokens is good for.
const (
	CodeLifetime         = time.Minute
	RefreshTokenLifetime = 30 * 24 * time.Hour // anew with each use
	// GraceOfReuse is how long a client that did not get the answer may repeat a refresh, and how long a code that was
	// just spent counts as sent twice at once rather than as stolen.
	GraceOfReuse = 10 * time.Second
	// PushedLifetime is how long a pushed request waits for its browser (RFC 9126 §2.2), BegunLifetime how long the
	// person then may take to sign in.
	PushedLifetime = time.Minute
	BegunLifetime  = 15 * time.Minute
)

// IssuedCode is what a person's consent is carried to the client by. The code itself is not kept.
type IssuedCode struct {
	Hash        []byte // SHA-256 of the code
	FamilyID    string // of the family that its redemption begins
	ClientID    string
	RedirectURI string // as it was asked for; "" when it was not
	Challenge   string // PKCE's, always S256
	UserID      string
	TenantID    string
	Confined    bool // the family stays in the tenant
	Strong      bool // more than a password stands behind the family
	SignInID    *string
	Agent       string
	Scope       []string
	Environment string
	CreatedAt   time.Time
	ExpiresAt   time.Time
	SpentAt     *time.Time
}

// Live reports whether the code may be redeemed, or was when it was spent.
func (c IssuedCode) Live(environment string, now time.Time) bool {
	return c.Environment == environment && (c.SpentAt != nil || now.Before(c.ExpiresAt))
}

// TokenFamily is a person's sign-in at a client: the line of refresh tokens that came from one consent, one launch.
type TokenFamily struct {
	ID          string
	UserID      string
	ClientID    string
	TenantID    string // that it stands in now
	Confined    bool   // it stays there: nothing but that tenant vouches for the user
	Strong      bool   // it began from a sign-in that was (SignIn.Strong)
	Scope       []string
	Environment string
	SignInID    *string // the browser's session that it came from; nil for a launch
	Agent       string
	CreatedAt   time.Time
	UsedAt      time.Time
	EndedAt     *time.Time
}

// Admits reports whether the family's tokens may be a tenant's.
func (f TokenFamily) Admits(tenantID string) bool { return !f.Confined || f.TenantID == tenantID }

// IssuedRefresh is one refresh token and its family. The token itself is not kept.
type IssuedRefresh struct {
	Hash            []byte // SHA-256 of the token
	IssuedAt        time.Time
	ExpiresAt       time.Time
	SpentAt         *time.Time
	SuccessorSealed []byte // the pair that took its place, for a client that did not get the answer

	Family TokenFamily
}

// Live reports whether the token, spent or not, belongs to a sign-in that goes on.
func (t IssuedRefresh) Live(environment string, now time.Time) bool {
	return t.Family.Environment == environment && t.Family.EndedAt == nil && now.Before(t.ExpiresAt)
}

// NamedFamily is a family, with its client's name as its user knows it; "" for the configured client.
type NamedFamily struct {
	TokenFamily

	ClientName string
}

// FamilyDraft is a family that is to begin without a code.
type FamilyDraft struct {
	ClientID string
	UserID   string
	TenantID string
	Confined bool
	Strong   bool
	Scope    []string // nil: all that the client may ask for
	SignInID *string
	Agent    string
}

// Tokens is what a client is given for a person.
type Tokens struct {
	AccessToken  string
	RefreshToken string // "" for a client that cannot refresh
	Scope        []string
	ExpiresAt    time.Time // the access token's
	FamilyID     string
	UserID       string
	TenantID     string
}

// Redemption spends a code for the tokens of a new family.
type Redemption struct {
	Code    IssuedCode
	Access  NewToken
	Refresh NewToken // without a Hash for a client that cannot refresh
	Entry   audit.Entry
	Now     time.Time
}

// Rotation spends a refresh token for the next pair of its family.
type Rotation struct {
	Hash            []byte
	Family          TokenFamily
	TenantID        *string  // moves the family there
	Scope           []string // of the access token alone
	RevokeAccess    bool
	Access          NewToken
	Refresh         NewToken
	SuccessorSealed []byte
	Entry           audit.Entry // of a move
	Now             time.Time
}

// NewToken is a token that is about to be kept.
type NewToken struct {
	Hash      []byte
	ID        string // an access token's
	ExpiresAt time.Time
}

// PushedRequest is an authorization request that came from the client itself (RFC 9126).
type PushedRequest struct {
	Hash       []byte // SHA-256 of its request_uri
	ClientID   string
	Parameters string // form-encoded
	ExpiresAt  time.Time
}

// GrantStore keeps codes, families and their tokens. Each writing verb is one statement that decides a race: of many
// that come at once one is told true.
type GrantStore interface {
	// KeepCode stores a code, if the browser's session that it names has not ended: else SignedOut. With pushed it spends
	// the pushed request of that hash too: done is false when that is gone.
	KeepCode(ctx context.Context, c IssuedCode, pushed []byte) (done bool, err error)
	// FindCode gives a code, spent or not; nil when there is none.
	FindCode(ctx context.Context, hash []byte) (*IssuedCode, error)
	RedeemCode(ctx context.Context, r Redemption) (done bool, err error)

	// StartFamily stores a family with its first tokens.
	StartFamily(ctx context.Context, f TokenFamily, access, refresh NewToken, e audit.Entry) error
	// FindFamily gives a user's family, ended or not; nil when there is none.
	FindFamily(ctx context.Context, user, id string) (*TokenFamily, error)
	// FindRefresh gives a refresh token, spent or not, and its family; nil when there is none.
	FindRefresh(ctx context.Context, hash []byte) (*IssuedRefresh, error)
	Rotate(ctx context.Context, r Rotation) (tenant string, done bool, err error)
	// MoveFamily lets the family's next tokens be another tenant's.
	MoveFamily(ctx context.Context, user, family, tenant string, revokeAccess bool, e audit.Entry) (done bool, err error)
	// EndFamily ends a family and its access tokens, and writes the effects that end those at the gateways.
	// With withSignIn the browser's session that it came from ends too.
	EndFamily(ctx context.Context, user, family string, withSignIn bool, now time.Time, e audit.Entry) (done bool, err error)
	// FamiliesOf gives the user's families that go on, the last used first; at most MostFamilies.
	FamiliesOf(ctx context.Context, user string, now time.Time) ([]NamedFamily, error)
}

// MostFamilies is how many families are listed.
const MostFamilies = 100

// ConsentStore keeps what people have consented to.
type ConsentStore interface {
	// Consented gives the scopes that the user has granted the client before.
	Consented(ctx context.Context, user, client string) ([]string, error)
	// Consent adds scopes to them.
	Consent(ctx context.Context, user, client string, scopes []string, now time.Time, e audit.Entry) error
}

// PushedStore keeps pushed requests for a moment.
type PushedStore interface {
	Push(ctx context.Context, r PushedRequest, now time.Time) error
	// BeginPushed gives a request that has not expired, and lets a person take until the time given over it.
	BeginPushed(ctx context.Context, hash []byte, now, until time.Time) (*PushedRequest, error)
}

// InvalidGrant is the one fault of codes and refresh tokens that do not hold, whatever is the matter with them.
func InvalidGrant() error {
	return fault.New(fault.Invalid, "invalid_grant", "The grant does not hold.")
}
