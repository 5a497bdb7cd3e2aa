package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/oauth2"
	"github.com/ory/fosite/token/hmac"
)

// strategy makes and checks tokens as fosite does (random bytes and their HMAC), and names them in storage by the
// hash of the whole token, which is also what gateways call the token's session. Expiry is storage's to judge, by one
// clock.
type strategy struct {
	genuine *hmac.HMACStrategy
}

var _ oauth2.CoreStrategy = strategy{}

func hashOf(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

func name(token string) string { return hex.EncodeToString(hashOf(token)) }

func (s strategy) generate(ctx context.Context) (token, signature string, err error) {
	token, _, err = s.genuine.Generate(ctx)
	return token, name(token), err
}

// AccessTokenSignature is the token's name in storage.
func (s strategy) AccessTokenSignature(_ context.Context, token string) string { return name(token) }

// GenerateAccessToken makes a token and its name.
func (s strategy) GenerateAccessToken(ctx context.Context, _ fosite.Requester) (token, signature string, err error) {
	token, signature, err = s.generate(ctx)
	during(ctx).access = token
	return token, signature, err
}

// ValidateAccessToken accepts what we made.
func (s strategy) ValidateAccessToken(ctx context.Context, _ fosite.Requester, token string) error {
	return s.genuine.Validate(ctx, token)
}

// RefreshTokenSignature is the token's name in storage.
func (s strategy) RefreshTokenSignature(_ context.Context, token string) string { return name(token) }

// GenerateRefreshToken makes a token and its name.
func (s strategy) GenerateRefreshToken(ctx context.Context, _ fosite.Requester) (token, signature string, err error) {
	token, signature, err = s.generate(ctx)
	during(ctx).refresh = token
	return token, signature, err
}

// ValidateRefreshToken accepts what we made.
func (s strategy) ValidateRefreshToken(ctx context.Context, _ fosite.Requester, token string) error {
	return s.genuine.Validate(ctx, token)
}

// AuthorizeCodeSignature is the code's name in storage.
func (s strategy) AuthorizeCodeSignature(_ context.Context, code string) string { return name(code) }

// GenerateAuthorizeCode makes a code and its name.
func (s strategy) GenerateAuthorizeCode(ctx context.Context, _ fosite.Requester) (code, signature string, err error) {
	return s.generate(ctx)
}

// ValidateAuthorizeCode accepts what we made.
func (s strategy) ValidateAuthorizeCode(ctx context.Context, _ fosite.Requester, code string) error {
	return s.genuine.Validate(ctx, code)
}

// session is what fosite carries along for a token. It holds no map, and its copy is a copy.
type session struct {
	expires time.Time
	subject string // the user; the client where it acts for itself
	tenant  string
	strong  bool // more than a password stands behind the user's sign-in
	refresh bool // a refresh token's
}

var _ fosite.Session = (*session)(nil)

func (s *session) SetExpiresAt(_ fosite.TokenType, at time.Time) { s.expires = at }
func (s *session) GetExpiresAt(_ fosite.TokenType) time.Time     { return s.expires }
func (s *session) GetUsername() string                           { return "" }
func (s *session) GetSubject() string                            { return s.subject }
func (s *session) Clone() fosite.Session                         { c := *s; return &c }
