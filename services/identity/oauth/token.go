package oauth

import (
	"context"
	"net/http"
	"strings"

	"github.com/ory/fosite"

	"github.com/patient-mesh/patient-mesh/services/identity"
)

// grants are the grant types that the token endpoint supports.
var grants = [...]string{identity.ClientCredentials} //nolint:gochecknoglobals // a constant list

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
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int64  `json:"expires_in"`
	Scope       string `json:"scope"`
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
	requester, err := s.provider.NewAccessRequest(ctx, provide(ctx, form, authorization), &session{})
	if err != nil {
		return s.refuse(ctx, err, authorization != "")
	}
	// Without a scope, all that the client may do (RFC 6749 §3.3); the grant has refused any that is more.
	scopes := requester.GetRequestedScopes()
	if len(scopes) == 0 {
		scopes = requester.GetClient().GetScopes()
	}
	for _, scope := range scopes {
		requester.GrantScope(scope)
	}
	response, err := s.provider.NewAccessResponse(ctx, requester)
	if err != nil {
		return s.refuse(ctx, err, authorization != "")
	}
	return answer(http.StatusOK, issued{
		AccessToken: response.GetAccessToken(), TokenType: "Bearer",
		ExpiresIn: int64(identity.AccessTokenLifetime.Seconds()), Scope: strings.Join(requester.GetGrantedScopes(), " "),
	})
}
