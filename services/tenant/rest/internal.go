package rest

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/tenant"
	"github.com/patient-mesh/patient-mesh/services/tenant/api"
)

// InternalListRoles lists all roles for a program of the mesh.
func (s *Server) InternalListRoles(ctx context.Context, _ api.InternalListRolesRequestObject) (api.InternalListRolesResponseObject, error) {
	roles, err := s.Tenants.Roles(ctx)
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
	if err := r.Body.Err(); err != nil {
		return nil, err
	}
	t, err := s.Tenants.Create(ctx, draft)
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

// InternalReadStanding says what roles are worth in a tenant.
func (s *Server) InternalReadStanding(ctx context.Context, r api.InternalReadStandingRequestObject) (api.InternalReadStandingResponseObject, error) {
	var roles []string
	if r.Params.Role != nil {
		roles = *r.Params.Role
	}
	t, permissions, err := s.Tenants.Standing(ctx, r.TenantId, roles)
	if err != nil {
		return nil, err
	}
	return api.InternalReadStanding200JSONResponse{Tenant: shown(t), Permissions: permissions.Names()}, nil
}

// InternalReadMember gives a membership.
func (s *Server) InternalReadMember(ctx context.Context, r api.InternalReadMemberRequestObject) (api.InternalReadMemberResponseObject, error) {
	m, err := s.Tenants.Member(ctx, r.TenantId, r.UserId)
	if err != nil {
		return nil, err
	}
	return api.InternalReadMember200JSONResponse(shownMembership(m)), nil
}

// InternalPutMember makes a user a member.
func (s *Server) InternalPutMember(ctx context.Context, r api.InternalPutMemberRequestObject) (api.InternalPutMemberResponseObject, error) {
	names := r.Body.Texts("roles", mostRoles, body.NameLength)
	var faults []fault.Field
	if !names.Given() {
		faults = append(faults, fault.Field{Field: "roles", Code: "required", Message: "is required"})
	}
	if err := r.Body.Err(faults...); err != nil {
		return nil, err
	}
	m, err := s.Tenants.PutMember(ctx, r.TenantId, r.UserId, names.Value)
	if err != nil {
		return nil, err
	}
	return api.InternalPutMember200JSONResponse(shownMembership(m)), nil
}
