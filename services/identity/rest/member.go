package rest

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/api"
)

func offered(roles []identity.Role) []api.KeyRole {
	list := make([]api.KeyRole, 0, len(roles))
	for _, r := range roles {
		list = append(list, api.KeyRole{Id: r.ID, Name: r.Name})
	}
	return list
}

func shownMember(m identity.Member) api.Member {
	return api.Member{
		UserId: m.UserID, Email: m.Email, FirstName: m.FirstName, LastName: m.LastName, Roles: offered(m.Roles), CreatedAt: instant(m.CreatedAt),
	}
}

// ListMembers answers a page of the tenant's people.
func (s *Server) ListMembers(ctx context.Context, r api.ListMembersRequestObject) (api.ListMembersResponseObject, error) {
	if _, err := principal.Require(ctx, principal.UserManage); err != nil {
		return nil, err // before the parameters' faults
	}
	part, err := parsePage(r.Params.Page, r.Params.Size, r.Params.After)
	if err != nil {
		return nil, err
	}
	m, err := s.People.ListMembers(ctx, part)
	if err != nil {
		return nil, err
	}
	content := make([]api.Member, 0, len(m.List))
	for _, one := range m.List {
		content = append(content, shownMember(one))
	}
	var next *string
	if m.More && len(m.List) > 0 {
		link := part.Next("/v2/tenant/member?", m.List[len(m.List)-1].UserID)
		next = &link
	}
	return api.ListMembers200JSONResponse{
		Body:    api.MemberPage{Content: content, Page: part.Page, Size: part.Size, TotalElements: m.Total},
		Headers: api.ListMembers200ResponseHeaders{Link: next},
	}, nil
}

// PutMember gives a member roles.
func (s *Server) PutMember(ctx context.Context, r api.PutMemberRequestObject) (api.PutMemberResponseObject, error) {
	m, err := s.People.PutMember(ctx, r.UserId, r.Body.Texts("roles", mostEntries, body.NameLength).Value, collector(r.Body))
	if err != nil {
		return nil, err
	}
	return api.PutMember200JSONResponse(shownMember(m)), nil
}

// RemoveMember takes somebody out of the tenant.
func (s *Server) RemoveMember(ctx context.Context, r api.RemoveMemberRequestObject) (api.RemoveMemberResponseObject, error) {
	if err := s.People.RemoveMember(ctx, r.UserId); err != nil {
		return nil, err
	}
	return api.RemoveMember200JSONResponse{Message: "The user is no member any more."}, nil
}
