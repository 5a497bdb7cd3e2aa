package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/oauth2"
)

// strategy makes and checks tokens as fosite does (random bytes and their HMAC), and names them in storage by the
// hash of the whole token, which is also what gateways call the token's session.
type strategy struct {
	*oauth2.HMACSHAStrategyUnPrefixed
}

var _ oauth2.CoreStrategy = strategy{}

func name(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// AccessTokenSignature is the token's name in storage.
func (s strategy) AccessTokenSignature(_ context.Context, token string) string { return name(token) }

// GenerateAccessToken makes a token and its name.
func (s strategy) GenerateAccessToken(ctx context.Context, r fosite.Requester) (token, signature string, err error) {
	token, _, err = s.HMACSHAStrategyUnPrefixed.GenerateAccessToken(ctx, r)
	return token, name(token), err
}

// session is what fosite carries along for a token. It holds no map, and its copy is a copy.
type session struct {
	expires time.Time
}

var _ fosite.Session = (*session)(nil)

func (s *session) SetExpiresAt(_ fosite.TokenType, at time.Time) { s.expires = at }
func (s *session) GetExpiresAt(_ fosite.TokenType) time.Time     { return s.expires }
func (s *session) GetUsername() string                           { return "" }
func (s *session) GetSubject() string                            { return "" }
func (s *session) Clone() fosite.Session                         { c := *s; return &c }
