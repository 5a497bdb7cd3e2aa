package rest

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/tenant"
	"github.com/patient-mesh/patient-mesh/services/tenant/api"
)

// InternalListRoles lists all roles for a program of the mesh.
func (s *Server) InternalListRoles(ctx context.Context, _ api.InternalListRolesRequestObject) (api.InternalListRolesResponseObject, error) {
	roles, err := s.Tenants.InternalRoles(ctx)
	if err != nil {
		return nil, err
	}
	return api.InternalListRoles200JSONResponse{Content: shownRoles(roles)}, nil
}

// InternalCreateTenant makes a tenant.
func (s *Server) InternalCreateTenant(ctx context.Context, r api.InternalCreateTenantRequestObject) (api.InternalCreateTenantResponseObject, error) {
	draft := tenant.Draft{
		ID:   r.Body.Text("id", body.TextLength).Pointer(),
		Name: r.Body.Text("name", body.NameLength).Pointer(),
		Plan: r.Body.Text("plan", body.TextLength).Pointer(),
	}
	owner := r.Body.Text("ownerId", body.TextLength)
	if err := r.Body.Err(); err != nil {
		return nil, err
	}
	t, err := s.Tenants.Create(ctx, draft, owner.Value)
	if err != nil {
		return nil, err
	}
	return api.InternalCreateTenant201JSONResponse(shown(t)), nil
}

// InternalReadTenant gives a tenant.
func (s *Server) InternalReadTenant(ctx context.Context, r api.InternalReadTenantRequestObject) (api.InternalReadTenantResponseObject, error) {
	t, err := s.Tenants.Read(ctx, r.TenantId)
	if err != nil {
		return nil, err
	}
	return api.InternalReadTenant200JSONResponse(shown(t)), nil
}

// InternalReadStanding says what roles, or a member, are worth in a tenant.
func (s *Server) InternalReadStanding(ctx context.Context, r api.InternalReadStandingRequestObject) (api.InternalReadStandingResponseObject, error) {
	t, permissions, err := s.standing(ctx, r.TenantId, r.Params)
	if err != nil {
		return nil, err
	}
	return api.InternalReadStanding200JSONResponse{Tenant: shown(t), Permissions: permissions.Names()}, nil
}

func (s *Server) standing(ctx context.Context, id string, p api.InternalReadStandingParams) (tenant.Tenant, principal.Permission, error) {
	switch {
	case p.User != nil:
		return s.Tenants.MemberStanding(ctx, id, *p.User)
	case p.Role != nil:
		return s.Tenants.Standing(ctx, id, *p.Role)
	}
	return s.Tenants.Standing(ctx, id, nil)
}
