// Package federation lets a tenant's members sign in at the tenant's own OpenID Connect provider (OpenID Connect Core
// 1.0, authorization code with PKCE, RFC 9700). It decides who they are here; what a sign-in is worth, and its cookie,
// are identity's.
package federation

import (
	"context"
	"crypto/sha256"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/outward"
	"github.com/patient-mesh/patient-mesh/libs/secret"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/seal"
)

// State is a sign-in that is under way at a provider.
type State struct {
	Hash        []byte // of the state parameter
	TenantID    string
	Issuer      string
	BrowserHash []byte
	Sealed      []byte // a journey
	ExpiresAt   time.Time
}

// Link is somebody whom a provider vouched for, and who has still to prove the account.
type Link struct {
	Hash        []byte // of the token
	TenantID    string
	Issuer      string
	Subject     string
	EmailHash   []byte
	BrowserHash []byte
	Sealed      []byte // a LinkNeeded
	CreatedAt   time.Time
	ExpiresAt   time.Time
}

// Store keeps providers, what is under way at them and who is who there.
type Store interface {
	// FindProvider gives a tenant's provider; nil when it has none.
	FindProvider(ctx context.Context, tenant string) (*identity.IdentityProvider, error)
	// PutProvider stores a provider, made new or changed, and gives what then stands.
	PutProvider(ctx context.Context, p identity.IdentityProvider, e audit.Entry) (identity.IdentityProvider, error)
	// DeleteProvider tells whether there was one.
	DeleteProvider(ctx context.Context, tenant string, e audit.Entry) (bool, error)

	KeepState(ctx context.Context, s State) error
	// SpendState gives a state to one caller, once; nil when it is not there for this browser and tenant.
	SpendState(ctx context.Context, hash, browser []byte, tenant string, now time.Time) (*State, error)

	// LinkedUser gives who somebody at a provider is here; "" when nobody.
	LinkedUser(ctx context.Context, issuer, subject string) (string, error)
	// VerifiedUser gives the user with a verified address; "" when there is none.
	VerifiedUser(ctx context.Context, environment, email string) (string, error)
	// VerifiedAddress gives a user's address; "" when it is not verified.
	VerifiedAddress(ctx context.Context, environment, user string) (string, error)

	KeepPendingLink(ctx context.Context, l Link) error
	// FindLink gives a link that waits; nil when it is not there for this browser.
	FindLink(ctx context.Context, hash, browser []byte, now time.Time) (*Link, error)
	// MakeLink spends the token and links. It is false when somebody else has spent it, or the name is linked already.
	MakeLink(ctx context.Context, hash []byte, user string, now time.Time, e audit.Entry) (bool, error)
}

// People is what we ask of identity about a person.
type People interface {
	// Memberships are the tenants that the user is in now.
	Memberships(ctx context.Context, userID string) ([]identity.Membership, error)
	// SignInFederated signs a user in by ByFederated for one tenant: TenantID is set, and SignIn.Admits holds everybody
	// to it. No further factor is asked for: that is the tenant's provider's matter.
	SignInFederated(ctx context.Context, c identity.Caller, userID, tenantID string) (identity.Entered, error)
}

// Service is the verbs. It is safe for concurrent use.
type Service struct {
	Store  Store
	People People
	// Invited reports whether a tenant has invited an address that has no account yet; nil: nobody is ever.
	Invited     func(ctx context.Context, tenantID, email string) (bool, error)
	Hasher      secret.Hasher
	Sealer      *seal.Sealer
	Environment string
	PublicURL   string // without a slash at its end
	Now         func() time.Time
	Random      io.Reader
	NewID       func() (uuid.UUID, error)

	plain     bool
	client    *http.Client
	providers *cache
}

// New completes a service: its client goes to the public internet alone, or to the loopback too when we are there with no
// data that is worth anything.
func New(s Service) *Service {
	s.plain = s.Environment == config.Demo && outward.Loopback(s.PublicURL)
	s.client = outward.Client(outward.Options{AllowLoopback: s.plain, Timeout: patience, MaxBytes: longestAnswer})
	s.providers = newCache(s.client, s.plain, s.Now)
	return &s
}

const (
	patience      = 5 * time.Second // for each question to a provider
	longestAnswer = 512 << 10
	stateLife     = 10 * time.Minute
	linkLife      = 30 * time.Minute

	callbackPath = "/sign-in/federated/callback/"
)

// Callback is the address that a tenant's provider sends browsers back to. Each tenant has its own, which is what
// RFC 9700 §4.4.2 asks for where a provider does not name itself in its answers.
func (s *Service) Callback(tenantID string) string { return s.PublicURL + callbackPath + tenantID }

// now is cut to what the wire shows, so that an answer and a later read agree.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

// hash is what is kept of a secret that we made.
func hash(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// address is what is kept of an e-mail address, to compare it with another.
func (s *Service) address(email string) []byte {
	return s.Hasher.Hash("federation-address\x00" + identity.EmailKey(email))
}

// local reports a path of our own, which a browser can be sent to without leaving us.
func local(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && len(path) <= longestPath &&
		!strings.ContainsFunc(path, func(r rune) bool { return r == '\\' || r < ' ' || r == 0x7f })
}

const longestPath = 8 << 10 // an application's request makes it long
