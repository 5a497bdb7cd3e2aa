package oauth

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/ory/fosite"

	"github.com/patient-mesh/patient-mesh/services/identity"
)

// grants are the grant types that the token endpoint supports.
//
//nolint:gochecknoglobals // a constant list
var grants = [...]string{identity.AuthorizationCode, identity.RefreshToken, identity.ClientCredentials}

func supported(grant string) bool {
	for _, g := range grants {
		if g == grant {
			return true
		}
	}
	return false
}

// issued is the token endpoint's answer (RFC 6749 §5.1).
type issued struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in"`
	RefreshToken string `json:"refresh_token,omitempty"`
	Scope        string `json:"scope"`
}

// Token is the token endpoint.
func (s *Server) Token(ctx context.Context, in Request) Response {
	form, authorization, err := read(in)
	switch {
	case err != nil:
		return s.refuse(ctx, err, len(in.Authorization) > 0)
	case form.Get("grant_type") == "":
		return s.refuse(ctx, fosite.ErrInvalidRequest, false)
	case !supported(form.Get("grant_type")):
		return s.refuse(ctx, fosite.ErrUnsupportedGrantType, false)
	}
	x := &exchange{form: form}
	answered, err := s.issue(x.in(ctx), x, provide(ctx, form, authorization))
	if x.lost {
		// Somebody came first with the same refresh token: most likely the same client, which gets the same answer.
		again := &exchange{form: form, client: x.client}
		if _, err = s.presentIn(ctx, again, hashOf(form.Get("refresh_token"))); again.repeat == nil && err == nil {
			err = fosite.ErrInvalidGrant
		}
		x = again
	}
	switch {
	case x.repeat != nil:
		return answer(http.StatusOK, s.repeated(*x.repeat))
	case x.decided != nil:
		return s.refuse(ctx, x.decided, authorization != "")
	case err != nil:
		return s.refuse(ctx, err, authorization != "")
	}
	return answer(http.StatusOK, answered)
}

// issue lets fosite's handlers answer the request.
func (s *Server) issue(ctx context.Context, x *exchange, r *http.Request) (issued, error) {
	requester, err := s.provider.NewAccessRequest(ctx, r.WithContext(ctx), &session{})
	if err != nil {
		return issued{}, err
	}
	if x.form.Get("grant_type") == identity.ClientCredentials {
		// Without a scope, all that the client may do (RFC 6749 §3.3); the grant has refused any that is more.
		scopes := requester.GetRequestedScopes()
		if len(scopes) == 0 {
			scopes = requester.GetClient().GetScopes()
		}
		for _, scope := range scopes {
			requester.GrantScope(scope)
		}
	}
	response, err := s.provider.NewAccessResponse(ctx, requester)
	if err != nil {
		return issued{}, err
	}
	scopes := []string(requester.GetGrantedScopes())
	if x.old != nil {
		scopes = x.scope // fosite knows no narrower scope than the family's
	}
	return issued{
		AccessToken: response.GetAccessToken(), TokenType: "Bearer", ExpiresIn: int64(identity.AccessTokenLifetime.Seconds()),
		RefreshToken: x.refresh, Scope: strings.Join(scopes, " "),
	}, nil
}

// repeated is the answer to a refresh that was answered before.
func (s *Server) repeated(t identity.Tokens) issued {
	return issued{
		AccessToken: t.AccessToken, TokenType: "Bearer", ExpiresIn: max(0, int64(t.ExpiresAt.Sub(s.o.Now()).Seconds())),
		RefreshToken: t.RefreshToken, Scope: strings.Join(t.Scope, " "),
	}
}

// scopes is what a client may ask for. What it may do for itself has no use for a refresh token.
func (s *Server) scopes(ctx context.Context, c identity.Client) ([]string, error) {
	allowed, err := s.o.Clients.Allowed(ctx, c)
	if err != nil {
		return nil, err
	}
	names := allowed.Names()
	if c.Offline() {
		names = append(names, identity.OfflineAccess)
	}
	return names, nil
}

func (s *Server) asClient(ctx context.Context, c identity.Client, form url.Values) (*client, error) {
	scopes, err := s.scopes(ctx, c)
	if err != nil {
		return nil, unavailable(err)
	}
	if form.Get("grant_type") == identity.ClientCredentials && c.Offline() {
		scopes = scopes[:len(scopes)-1]
	}
	return &client{Client: c, scopes: scopes}, nil
}
