package rest

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/api"
)

// InternalResolveCredential says whose credential a token is.
func (s *Server) InternalResolveCredential(ctx context.Context, r api.InternalResolveCredentialRequestObject) (api.InternalResolveCredentialResponseObject, error) {
	token := r.Body.Secret("token", longestSecret)
	if err := r.Body.Err(); err != nil {
		return nil, err
	}
	p, err := s.Identity.Resolve(ctx, token.Value)
	if err != nil {
		return nil, err
	}
	return api.InternalResolveCredential200JSONResponse(p), nil
}

// InternalCreateUser makes a user.
func (s *Server) InternalCreateUser(ctx context.Context, r api.InternalCreateUserRequestObject) (api.InternalCreateUserResponseObject, error) {
	draft := identity.UserDraft{
		ID:            r.Body.Text("id", body.TextLength).Pointer(),
		Email:         r.Body.Text("email", body.TextLength).Pointer(),
		Password:      r.Body.Secret("password", longestSecret).Pointer(),
		FirstName:     r.Body.Text("firstName", body.NameLength).Pointer(),
		LastName:      r.Body.Text("lastName", body.NameLength).Pointer(),
		EmailVerified: r.Body.Bool("emailVerified").Value,
	}
	if err := r.Body.Err(); err != nil {
		return nil, err
	}
	u, err := s.Identity.CreateUser(ctx, draft)
	if err != nil {
		return nil, err
	}
	return api.InternalCreateUser201JSONResponse{
		Id: u.ID, Email: u.Email, EmailVerified: u.EmailVerifiedAt != nil, FirstName: u.FirstName, LastName: u.LastName,
	}, nil
}

func grant(o *body.Object) identity.Grant {
	return identity.Grant{
		TenantID:   o.Text("tenantId", body.TextLength).Value,
		UserID:     o.Text("userId", body.TextLength).Value,
		Name:       o.Text("name", body.NameLength).Value,
		RoleNames:  o.Texts("roles", mostEntries, body.NameLength).Value,
		GrantTypes: o.Texts("grantTypes", mostEntries, body.TextLength).Value,
	}
}

// InternalCreateClient makes a client that holds roles.
func (s *Server) InternalCreateClient(ctx context.Context, r api.InternalCreateClientRequestObject) (api.InternalCreateClientResponseObject, error) {
	g := grant(r.Body)
	if err := r.Body.Err(); err != nil {
		return nil, err
	}
	c, err := s.Identity.GrantClient(ctx, g)
	if err != nil {
		return nil, err
	}
	return api.InternalCreateClient201JSONResponse{ClientId: c.ID, ClientSecret: c.Secret}, nil
}

// InternalCreateKey makes a key that holds roles.
func (s *Server) InternalCreateKey(ctx context.Context, r api.InternalCreateKeyRequestObject) (api.InternalCreateKeyResponseObject, error) {
	g := grant(r.Body)
	if err := r.Body.Err(); err != nil {
		return nil, err
	}
	k, err := s.Identity.GrantKey(ctx, g)
	if err != nil {
		return nil, err
	}
	return api.InternalCreateKey201JSONResponse{Id: k.ID, Token: k.Token}, nil
}
