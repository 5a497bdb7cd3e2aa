package rest

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/tenant"
	"github.com/patient-mesh/patient-mesh/services/tenant/api"
)

func shownMembership(m tenant.Membership) api.Membership {
	return api.Membership{
		TenantId: m.TenantID, UserId: m.UserID, Roles: shownRoles(m.Roles), Permissions: m.Permissions().Names(),
		CreatedAt: instant(m.CreatedAt),
	}
}

// InternalListMemberships gives the tenants that a user is a member of.
func (s *Server) InternalListMemberships(ctx context.Context, r api.InternalListMembershipsRequestObject) (api.InternalListMembershipsResponseObject, error) {
	places, err := s.Tenants.Places(ctx, r.UserId)
	if err != nil {
		return nil, err
	}
	content := make([]api.UserMembership, 0, len(places))
	for _, p := range places {
		content = append(content, api.UserMembership{
			TenantId: p.Tenant.ID, Name: p.Tenant.Name, Plan: p.Tenant.Plan, Environment: p.Tenant.Environment,
			MfaRequired: p.Tenant.MFARequired, AgreementAccepted: p.Tenant.AgreementAccepted(),
			Roles: shownRoles(p.Roles), Permissions: p.Permissions().Names(),
		})
	}
	return api.InternalListMemberships200JSONResponse{Content: content}, nil
}

// InternalListMembers gives a page of a tenant's people.
func (s *Server) InternalListMembers(ctx context.Context, r api.InternalListMembersRequestObject) (api.InternalListMembersResponseObject, error) {
	if _, err := principal.RequireService(ctx); err != nil {
		return nil, err // before the parameters' faults
	}
	part, faults := page.Parse(r.Params.Page, r.Params.Size, r.Params.After)
	if len(faults) == 0 && part.After != "" && !tenant.ValidID(part.After) {
		faults = append(faults, fault.Field{Field: "after", Code: "invalid_cursor", Message: "is no cursor of this list"})
	}
	if len(faults) > 0 {
		return nil, fault.InvalidFields(faults)
	}
	found, err := s.Tenants.Members(ctx, r.TenantId, part)
	if err != nil {
		return nil, err
	}
	more := len(found.List) > part.Size
	content := make([]api.Membership, 0, part.Size)
	for _, m := range found.List[:min(len(found.List), part.Size)] {
		content = append(content, shownMembership(m))
	}
	return api.InternalListMembers200JSONResponse{
		Content: content, Page: part.Page, Size: part.Size, TotalElements: found.Total, More: more,
	}, nil
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
	roles := r.Body.Texts("roles", mostRoles, body.NameLength)
	var faults []fault.Field
	if !roles.Given() {
		faults = append(faults, fault.Field{Field: "roles", Code: "required", Message: "is required"})
	}
	if err := r.Body.Err(faults...); err != nil {
		return nil, err
	}
	m, err := s.Tenants.PutMember(ctx, r.TenantId, r.UserId, roles.Value)
	if err != nil {
		return nil, err
	}
	return api.InternalPutMember200JSONResponse(shownMembership(m)), nil
}

// InternalRemoveMember takes a user out of a tenant.
func (s *Server) InternalRemoveMember(ctx context.Context, r api.InternalRemoveMemberRequestObject) (api.InternalRemoveMemberResponseObject, error) {
	if err := s.Tenants.RemoveMember(ctx, r.TenantId, r.UserId); err != nil {
		return nil, err
	}
	return api.InternalRemoveMember200JSONResponse{Message: "The member is removed."}, nil
}
