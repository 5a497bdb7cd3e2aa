package oauth

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/ory/fosite"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// client is one of our clients in fosite's eyes.
type client struct {
	identity.Client

	scopes   []string // what it may ask for now
	redirect string   // where an authorization request wants its answer, once that was found to be right
}

var _ fosite.Client = (*client)(nil)

func (c *client) GetID() string                      { return c.ID }
func (c *client) GetHashedSecret() []byte            { return nil } // fosite never compares secrets: authenticate does
func (c *client) GetRedirectURIs() []string          { return []string{c.redirect} }
func (c *client) GetGrantTypes() fosite.Arguments    { return c.GrantTypes }
func (c *client) GetResponseTypes() fosite.Arguments { return fosite.Arguments{"code"} }
func (c *client) GetScopes() fosite.Arguments        { return c.scopes }
func (c *client) IsPublic() bool                     { return c.AuthMethod == identity.NoSecret }
func (c *client) GetAudience() fosite.Arguments      { return nil }

// authenticate finds out which client asks. It takes the place of fosite's own way, which accepts one client's
// credentials in the header beside another's client_id in the body, compares random secrets by bcrypt, and takes
// assertions that are good for years and for other servers.
func (s *Server) authenticate(ctx context.Context, r *http.Request, form url.Values) (fosite.Client, error) {
	found, err := s.who(ctx, r.Header.Get("Authorization"), form)
	if err != nil {
		return nil, unavailable(err)
	}
	if found == nil {
		return nil, fosite.ErrInvalidClient
	}
	if grant := form.Get("grant_type"); grant != "" && !found.May(grant) {
		return nil, fosite.ErrUnauthorizedClient
	}
	c, err := s.asClient(ctx, *found, form)
	if err != nil {
		return nil, err
	}
	during(ctx).client = c
	return c, nil
}

// who gives the client that authenticates by the one method that the request uses; nil when it does not.
func (s *Server) who(ctx context.Context, authorization string, form url.Values) (*identity.Client, error) {
	if form.Get("client_assertion") != "" || form.Get("client_assertion_type") != "" {
		if authorization != "" || form.Get("client_secret") != "" {
			return nil, fosite.ErrInvalidRequest // RFC 6749 §2.3: no more than one method
		}
		return s.byAssertion(ctx, form)
	}
	id, secret, err := credentials(authorization, form)
	if err != nil {
		return nil, err
	}
	if secret != "" || authorization != "" {
		return s.o.Clients.Authenticate(ctx, id, secret)
	}
	// A public client says who it is, and proves nothing.
	found, err := s.o.Clients.FindClient(ctx, id)
	if err != nil || found == nil || found.AuthMethod != identity.NoSecret {
		return nil, err
	}
	return found, nil
}

// unavailable is the error of a part that is away. Others stay what they are.
func unavailable(err error) error {
	if fault.Is(err, fault.Unavailable) {
		return fosite.ErrTemporarilyUnavailable.WithWrap(err)
	}
	return err
}

// credentials reads a client's id and secret from the one place where they may be (RFC 6749 §2.3: a client MUST NOT
// use more than one method in a request).
func credentials(authorization string, form url.Values) (id, secret string, err error) {
	id, secret = form.Get("client_id"), form.Get("client_secret")
	if authorization == "" {
		return id, secret, nil
	}
	basicID, basicSecret, err := basic(authorization)
	switch {
	case err != nil:
		return "", "", fosite.ErrInvalidClient
	case secret != "", id != "" && id != basicID:
		return "", "", fosite.ErrInvalidRequest
	}
	return basicID, basicSecret, nil
}

var errBasic = errors.New("not HTTP Basic")

// basic reads HTTP Basic credentials, whose parts are form-encoded first (RFC 6749 §2.3.1).
func basic(authorization string) (id, secret string, err error) {
	scheme, encoded, ok := strings.Cut(authorization, " ")
	if !ok || !strings.EqualFold(scheme, "Basic") {
		return "", "", errBasic
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return "", "", errBasic
	}
	id, secret, ok = strings.Cut(string(raw), ":")
	if !ok {
		return "", "", errBasic
	}
	if id, err = url.QueryUnescape(id); err != nil {
		return "", "", errBasic
	}
	if secret, err = url.QueryUnescape(secret); err != nil {
		return "", "", errBasic
	}
	return id, secret, nil
}
