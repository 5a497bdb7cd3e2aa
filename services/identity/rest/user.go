package rest

import (
	"context"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/api"
)

func roleNames(roles []identity.Role) []string {
	names := make([]string, 0, len(roles))
	for _, r := range roles {
		names = append(names, r.Name)
	}
	return names
}

func place(m identity.Membership) api.Place {
	return api.Place{TenantId: m.TenantID, Name: m.Name, Roles: roleNames(m.Roles)}
}

// ReadMyself answers who asks.
func (s *Server) ReadMyself(ctx context.Context, _ api.ReadMyselfRequestObject) (api.ReadMyselfResponseObject, error) {
	me, err := s.People.Myself(ctx)
	if err != nil {
		return nil, err
	}
	shown := api.Myself{
		Id: me.ID, Email: me.Email, EmailVerified: me.EmailVerifiedAt != nil, FirstName: me.FirstName, LastName: me.LastName,
		Memberships: make([]api.Place, 0, len(me.Memberships)),
	}
	for _, m := range me.Memberships {
		shown.Memberships = append(shown.Memberships, place(m))
	}
	if me.Active != nil {
		active := place(*me.Active)
		shown.ActiveTenant = &active
	}
	store := noStore
	return api.ReadMyself200JSONResponse{Body: shown, Headers: api.ReadMyself200ResponseHeaders{CacheControl: &store}}, nil
}

// flag reads a boolean parameter; absent is true.
func flag(name string, text *string) (value bool, faults []fault.Field) {
	switch {
	case text == nil || *text == "true":
		return true, nil
	case *text == "false":
		return false, nil
	}
	return false, []fault.Field{{Field: name, Code: "invalid_type", Message: "must be true or false"}}
}

// SwitchTenant lets the session go on in another tenant.
func (s *Server) SwitchTenant(ctx context.Context, r api.SwitchTenantRequestObject) (api.SwitchTenantResponseObject, error) {
	revoke, faults := flag("revokeToken", r.Params.RevokeToken)
	if len(faults) > 0 {
		return nil, fault.InvalidFields(faults)
	}
	m, err := s.People.SwitchTenant(ctx, r.TenantId, revoke)
	if err != nil {
		return nil, err
	}
	return api.SwitchTenant200JSONResponse{
		TenantId: m.TenantID, Name: m.Name, Roles: roleNames(m.Roles), Message: "Refresh your token to go on in this organization.",
	}, nil
}

// either takes a member of the body, or else the parameter of the same name.
func either(inBody, inQuery *string) *string {
	if inBody != nil {
		return inBody
	}
	return inQuery
}

// ExchangeTenant answers tokens for another tenant.
func (s *Server) ExchangeTenant(ctx context.Context, r api.ExchangeTenantRequestObject) (api.ExchangeTenantResponseObject, error) {
	revoke, queryFaults := flag("revokeToken", r.Params.RevokeToken)
	if told := r.Body.Bool("revokeToken"); told.Given() {
		revoke = told.Value
	}
	draft := identity.ExchangeDraft{
		TenantID:     either(r.Body.Text("tenantId", body.TextLength).Pointer(), r.Params.TenantId),
		UserID:       either(r.Body.Text("userId", body.TextLength).Pointer(), r.Params.UserId),
		RefreshToken: r.Body.Secret("refreshToken", longestSecret).Pointer(),
		Revoke:       revoke,
	}
	x, err := s.People.ExchangeTenant(ctx, draft, func(rules ...fault.Field) error { return r.Body.Err(append(rules, queryFaults...)...) })
	if err != nil {
		return nil, err
	}
	store := noStore
	return api.ExchangeTenant200JSONResponse{
		Body: api.SwitchedTokens{
			AccessToken: x.AccessToken, RefreshToken: x.RefreshToken, TokenType: "Bearer",
			ExpiresIn: int(x.ExpiresIn.Seconds()), Scope: strings.Join(x.Scope, " "),
		},
		Headers: api.ExchangeTenant200ResponseHeaders{CacheControl: &store},
	}, nil
}

// Logout ends the caller's session.
func (s *Server) Logout(ctx context.Context, _ api.LogoutRequestObject) (api.LogoutResponseObject, error) {
	if err := s.People.Logout(ctx); err != nil {
		return nil, err
	}
	return api.Logout200JSONResponse{Message: "You are signed out."}, nil
}
