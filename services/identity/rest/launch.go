package rest

import (
	"context"
	"math"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/api"
)

// LaunchApplication answers where to send the caller's browser.
func (s *Server) LaunchApplication(ctx context.Context, r api.LaunchApplicationRequestObject) (api.LaunchApplicationResponseObject, error) {
	address, err := s.Launcher.Launch(ctx, r.Id)
	if err != nil {
		return nil, err
	}
	store := noStore
	return api.LaunchApplication200JSONResponse{
		Body: api.Launched{LaunchUrl: address}, Headers: api.LaunchApplication200ResponseHeaders{CacheControl: &store},
	}, nil
}

// ExchangeLaunch gives tokens for the code of a launch. A text of any length is a code that does not hold: only what is
// no text is a malformed request.
func (s *Server) ExchangeLaunch(ctx context.Context, r api.ExchangeLaunchRequestObject) (api.ExchangeLaunchResponseObject, error) {
	signature := r.Body.Secret("signature", math.MaxInt)
	code := r.Body.Secret("securityCode", math.MaxInt)
	var missing []fault.Field
	for _, m := range []struct {
		name  string
		given bool
	}{{"signature", signature.Given()}, {"securityCode", code.Given()}} {
		if !m.given {
			missing = append(missing, fault.Field{Field: m.name, Code: "required", Message: "is required"})
		}
	}
	if err := r.Body.Err(missing...); err != nil {
		return nil, err
	}
	t, err := s.Launcher.Exchange(ctx, signature.Value, code.Value)
	if err != nil {
		return nil, err
	}
	store := noStore
	return api.ExchangeLaunch200JSONResponse{
		Body: api.LaunchTokens{
			AccessToken: t.AccessToken, RefreshToken: t.RefreshToken, TokenType: "Bearer",
			ExpiresIn: int(identity.AccessTokenLifetime.Seconds()), Scope: strings.Join(t.Scope, " "),
			TenantId: t.TenantID, UserId: t.UserID,
		},
		Headers: api.ExchangeLaunch200ResponseHeaders{CacheControl: &store},
	}, nil
}
