// Package oauth is the OAuth 2.0 authorization server: fosite behind our own doors. It turns requests into fosite's,
// its storage and clients into ours, and its errors into RFC 6749's. Nothing else knows fosite, which receives no more
// releases, so that it can be replaced. It knows no SQL and no Fiber.
package oauth

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"
	"github.com/ory/fosite"
	"github.com/ory/fosite/compose"
	"github.com/ory/fosite/token/hmac"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/seal"
)

// Clients is what the server asks about clients.
type Clients interface {
	// Authenticate gives the client that knows the secret; nil when there is none.
	Authenticate(ctx context.Context, id, secret string) (*identity.Client, error)
	// FindClient gives a client of this environment; nil when there is none.
	FindClient(ctx context.Context, id string) (*identity.Client, error)
	// Configured gives the client that is configured under the id, and kept nowhere; nil for others.
	Configured(id string) *identity.Client
	// Allowed is what a client may do now.
	Allowed(ctx context.Context, c identity.Client) (principal.Permission, error)
}

// Tenants is what the server asks about members.
type Tenants interface {
	// MemberStanding says what a user is worth in a tenant now; a fault of kind NotFound, when nothing.
	MemberStanding(ctx context.Context, tenant, user string) (identity.Standing, error)
}

// Options say what a server is for.
type Options struct {
	Issuer      string // where clients reach us: PUBLIC_URL, without a slash at its end
	Environment string
	TokenKey    []byte // 32 bytes that tokens are made genuine by
	Clients     Clients
	Tenants     Tenants
	Tokens      identity.TokenStore
	Grants      identity.GrantStore
	Consents    identity.ConsentStore
	Pushed      identity.PushedStore
	Once        Once
	Sealer      *seal.Sealer
	Keys        *Keys
	ClientKeys  *ClientKeys
	Logger      *slog.Logger
	Now         func() time.Time
	NewID       func() (uuid.UUID, error)
	Nudge       func() // called after a revocation
}

// Server answers the OAuth endpoints. It is safe for concurrent use.
type Server struct {
	o        Options
	provider fosite.OAuth2Provider
	core     strategy
	metadata []byte
}

// New makes a server. Only the grants and endpoints that the metadata names are composed: fosite's "all" would turn on
// the implicit and the password grant.
func New(o Options) (*Server, error) {
	config := &fosite.Config{
		AccessTokenLifespan:        identity.AccessTokenLifetime,
		GlobalSecret:               o.TokenKey,
		TokenEntropy:               tokenEntropy,
		ScopeStrategy:              fosite.ExactScopeStrategy,
		AudienceMatchingStrategy:   noAudience,
		SendDebugMessagesToClients: false,
		// PKCE is neither enforced nor held to S256 by default.
		EnforcePKCE:            true,
		OmitRedirectScopeParam: true,
		RefreshTokenScopes:     []string{},                                           // every client that has the grant type is given refresh tokens
		RedirectSecureChecker:  func(context.Context, *url.URL) bool { return true }, // registration has judged it
		AuthorizeCodeLifespan:  identity.CodeLifetime,
		RefreshTokenLifespan:   identity.RefreshTokenLifetime,
	}
	s := &Server{o: o, core: strategy{genuine: &hmac.HMACStrategy{Config: config}}}
	config.ClientAuthenticationStrategy = s.authenticate
	s.provider = compose.Compose(config, storage{s}, s.core,
		compose.OAuth2AuthorizeExplicitFactory,
		compose.OAuth2PKCEFactory, // after the factory whose codes it binds
		compose.OAuth2RefreshTokenGrantFactory,
		compose.OAuth2ClientCredentialsGrantFactory,
		compose.OAuth2TokenIntrospectionFactory,
		compose.OAuth2TokenRevocationFactory,
	)
	var err error
	s.metadata, err = metadata(o.Issuer)
	return s, err
}

// tokenEntropy is the random bytes of a token.
const tokenEntropy = 32

// Genuine reports whether a token was made by us: a made-up one costs no look-up.
func (s *Server) Genuine(token string) bool {
	return s.core.genuine.Validate(context.Background(), token) == nil
}

// noAudience refuses requests for an audience: our tokens are for the mesh and nobody else.
func noAudience(_ []string, wanted []string) error {
	if len(wanted) > 0 {
		return fosite.ErrInvalidRequest
	}
	return nil
}

// Request is a request to one of the endpoints that take a form.
type Request struct {
	Authorization []string // every such header, so that two can be told from one
	ContentType   string
	Accept        string
	Body          []byte
}

// Response is an answer, or a redirect. Values of Header are not empty.
type Response struct {
	Status int
	Header map[string]string
	Body   []byte
}

// provide makes what fosite takes for a request.
func provide(ctx context.Context, form url.Values, authorization string) *http.Request {
	r := &http.Request{Method: http.MethodPost, URL: &url.URL{}, Header: http.Header{}, Form: form, PostForm: form}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	return r.WithContext(ctx)
}
