package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/patient-mesh/patient-mesh/services/identity"
)

// Once remembers what may be used once.
type Once interface {
	// First reports whether the key is seen for the first time in its lifetime. It fails when nobody can tell.
	First(ctx context.Context, key string, lifetime time.Duration) (bool, error)
}

const (
	assertionType    = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	longestAssertion = 16 << 10
	longestID        = 255 // of a jti
	assertionLife    = 5 * time.Minute
	clockSkew        = 30 * time.Second
)

// claims are those of an assertion (RFC 7523 §3).
type claims struct {
	Issuer   string           `json:"iss"`
	Subject  string           `json:"sub"`
	Audience audience         `json:"aud"`
	Expires  *jwt.NumericDate `json:"exp"`
	NotBy    *jwt.NumericDate `json:"nbf"`
	Issued   *jwt.NumericDate `json:"iat"`
	ID       string           `json:"jti"`
}

// audience is a text, or a list of one: an assertion that names another server beside us could be taken there.
type audience string

// UnmarshalJSON reads either form.
func (a *audience) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*a = audience(one)
		return nil
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("aud: %w", err)
	}
	if *a = ""; len(list) == 1 {
		*a = audience(list[0])
	}
	return nil
}

// byAssertion gives the client that signed the assertion (RFC 7523 §2.2); nil when none did, or it does not hold.
// The client's registered keys are all that counts: what the header says of keys is not looked at, but for a kid that
// chooses among them.
func (s *Server) byAssertion(ctx context.Context, form url.Values) (*identity.Client, error) {
	text := form.Get("client_assertion")
	if form.Get("client_assertion_type") != assertionType || len(text) > longestAssertion {
		return nil, nil //nolint:nilnil // nobody is an answer
	}
	token, malformed := jwt.ParseSigned(text, identity.AssertionAlgorithms())
	if malformed != nil || len(token.Headers) != 1 {
		return nil, nil //nolint:nilerr,nilnil // nobody is an answer
	}
	var said claims
	if token.UnsafeClaimsWithoutVerification(&said) != nil || !s.plausible(said) {
		return nil, nil //nolint:nilerr,nilnil // nobody is an answer
	}
	if id := form.Get("client_id"); id != "" && id != said.Subject {
		return nil, nil //nolint:nilnil // nobody is an answer
	}
	c, err := s.o.Clients.FindClient(ctx, said.Subject)
	if err != nil || c == nil || c.AuthMethod != identity.PrivateKey {
		return nil, err
	}
	header := token.Headers[0]
	if !s.signed(ctx, *c, token, header.KeyID, jose.SignatureAlgorithm(header.Algorithm)) {
		return nil, nil //nolint:nilnil // nobody is an answer
	}
	// Last, so that nobody else can use a client's ids up.
	lifetime := said.Expires.Time().Sub(s.o.Now()) + clockSkew
	first, err := s.o.Once.First(ctx, "assertion:"+name(c.ID+"\x00"+said.ID), lifetime)
	if err != nil || !first {
		return nil, err
	}
	return c, nil
}

// plausible judges what the assertion says of itself, before a key is looked for.
func (s *Server) plausible(c claims) bool {
	now := s.o.Now()
	switch {
	case c.Issuer == "" || c.Issuer != c.Subject || string(c.Audience) != s.o.Issuer:
		return false
	case c.ID == "" || len(c.ID) > longestID:
		return false
	case c.Expires == nil || !now.Before(c.Expires.Time()) || c.Expires.Time().After(now.Add(assertionLife+clockSkew)):
		return false
	case c.NotBy != nil && c.NotBy.Time().After(now.Add(clockSkew)):
		return false
	}
	return c.Issued == nil || !c.Issued.Time().After(now.Add(clockSkew))
}

// signed reports whether one of the client's keys made the signature.
func (s *Server) signed(ctx context.Context, c identity.Client, token *jwt.JSONWebToken, kid string, algorithm jose.SignatureAlgorithm) bool {
	for _, key := range s.o.ClientKeys.find(ctx, c, kid) {
		if !identity.KeyFor(key, algorithm) {
			continue
		}
		var ignored json.RawMessage
		if token.Claims(key.Key, &ignored) == nil {
			return true
		}
	}
	return false
}
