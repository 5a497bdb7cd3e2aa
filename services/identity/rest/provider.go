package rest

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/api"
)

func (s *Server) shownProvider(p identity.IdentityProvider) api.IdentityProvider {
	return api.IdentityProvider{
		Issuer: p.Issuer, ClientId: p.ClientID, Name: p.Name, RedirectUri: s.Federation.Callback(p.TenantID),
		CreatedAt: instant(p.CreatedAt), UpdatedAt: instant(p.UpdatedAt),
	}
}

// GetIdentityProvider answers the provider of the caller's tenant.
func (s *Server) GetIdentityProvider(ctx context.Context, _ api.GetIdentityProviderRequestObject) (api.GetIdentityProviderResponseObject, error) {
	p, err := s.Federation.Own(ctx)
	if err != nil {
		return nil, err
	}
	return api.GetIdentityProvider200JSONResponse(s.shownProvider(p)), nil
}

// PutIdentityProvider names the provider of the caller's tenant.
func (s *Server) PutIdentityProvider(ctx context.Context, r api.PutIdentityProviderRequestObject) (api.PutIdentityProviderResponseObject, error) {
	draft := identity.ProviderDraft{
		Issuer:       r.Body.Text("issuer", longestURI).Pointer(),
		ClientID:     r.Body.Text("clientId", body.TextLength).Pointer(),
		ClientSecret: r.Body.Secret("clientSecret", longestURI).Pointer(),
		Name:         r.Body.Text("name", body.NameLength).Pointer(),
	}
	p, err := s.Federation.Put(ctx, draft, func(rules ...fault.Field) error { return r.Body.Err(rules...) })
	if err != nil {
		return nil, err
	}
	return api.PutIdentityProvider200JSONResponse(s.shownProvider(p)), nil
}

// DeleteIdentityProvider takes the provider of the caller's tenant away.
func (s *Server) DeleteIdentityProvider(ctx context.Context, _ api.DeleteIdentityProviderRequestObject) (api.DeleteIdentityProviderResponseObject, error) {
	if err := s.Federation.Remove(ctx); err != nil {
		return nil, err
	}
	return api.DeleteIdentityProvider200JSONResponse{Message: "The identity provider is removed."}, nil
}
