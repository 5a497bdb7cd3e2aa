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
	"github.com/ory/fosite/handler/oauth2"
	"github.com/ory/fosite/token/hmac"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// Clients is what the server asks about clients.
type Clients interface {
	// Authenticate gives the client that knows the secret; nil when there is none.
	Authenticate(ctx context.Context, id, secret string) (*identity.Client, error)
	// Allowed is what a client may do now.
	Allowed(ctx context.Context, c identity.Client) (principal.Permission, error)
}

// Options say what a server is for.
type Options struct {
	Issuer      string // where clients reach us: PUBLIC_URL, without a slash at its end
	Environment string
	TokenKey    []byte // 32 bytes that tokens are made genuine by
	Clients     Clients
	Tokens      identity.TokenStore
	Keys        *Keys
	Logger      *slog.Logger
	Now         func() time.Time
	NewID       func() (uuid.UUID, error)
	Nudge       func() // called after a revocation
}

// Server answers the OAuth endpoints. It is safe for concurrent use.
type Server struct {
	o        Options
	provider fosite.OAuth2Provider
	genuine  *hmac.HMACStrategy
	metadata []byte
	now      func() time.Time
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
		// Refresh tokens come with the people who are given them; until then nothing looks for one.
		DisableRefreshTokenValidation: true,
	}
	s := &Server{o: o, genuine: &hmac.HMACStrategy{Config: config}, now: o.Now}
	config.ClientAuthenticationStrategy = s.authenticate
	core := strategy{HMACSHAStrategyUnPrefixed: oauth2.NewHMACSHAStrategyUnPrefixed(s.genuine, config)}
	s.provider = compose.Compose(config, storage{o}, core,
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
	return s.genuine.Validate(context.Background(), token) == nil
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
	Body          []byte
}

// Response is an answer. Values of Header are not empty.
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
