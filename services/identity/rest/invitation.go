package rest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/api"
)

func shownInvitation(i identity.Invitation, roles []identity.Role) api.Invitation {
	return api.Invitation{
		Id: i.ID, Email: i.Email, Roles: shownRoles(roles, i.RoleIDs), CreatedAt: instant(i.CreatedAt), ExpiresAt: instant(i.ExpiresAt),
	}
}

// Invite mails an invitation.
func (s *Server) Invite(ctx context.Context, r api.InviteRequestObject) (api.InviteResponseObject, error) {
	by, _ := principal.From(ctx) // the verb refuses a request without one
	key, keyFaults := idempotency.Parse(by, r.Params.IdempotencyKey, []byte("invite"), r.Body.Raw())
	draft := identity.InvitationDraft{
		Email: r.Body.Text("email", body.TextLength).Value,
		Roles: r.Body.Texts("roles", mostEntries, body.NameLength).Value,
	}
	answer := func(i identity.Invitation, roles []identity.Role) ([]byte, error) {
		return json.Marshal(shownInvitation(i, roles))
	}
	made, err := s.People.Invite(ctx, draft, key, answer, func(rules ...fault.Field) error {
		return r.Body.Err(append(rules, keyFaults...)...)
	})
	if err != nil {
		return nil, err
	}
	shown := shownInvitation(made.Invitation, made.Roles)
	var replayed *string
	if made.Repeat != nil {
		yes := "true"
		replayed, shown = &yes, api.Invitation{}
		if err := json.Unmarshal(made.Repeat.Body, &shown); err != nil {
			return nil, fmt.Errorf("read the recorded answer: %w", err)
		}
	}
	location := "/v2/tenant/invitation/" + shown.Id
	return api.Invite201JSONResponse{
		Body: shown, Headers: api.Invite201ResponseHeaders{Location: &location, IdempotentReplayed: replayed},
	}, nil
}

// ListInvitations answers a page of open invitations.
func (s *Server) ListInvitations(ctx context.Context, r api.ListInvitationsRequestObject) (api.ListInvitationsResponseObject, error) {
	if _, err := principal.Require(ctx, principal.UserManage); err != nil {
		return nil, err // before the parameters' faults
	}
	part, err := parsePage(r.Params.Page, r.Params.Size, r.Params.After)
	if err != nil {
		return nil, err
	}
	found, err := s.People.ListInvitations(ctx, part)
	if err != nil {
		return nil, err
	}
	list, next := page.Cut(found.List, part, "/v2/tenant/invitation?", func(i identity.Invitation) string { return i.ID })
	content := make([]api.Invitation, 0, len(list))
	for _, i := range list {
		content = append(content, shownInvitation(i, found.Roles))
	}
	return api.ListInvitations200JSONResponse{
		Body:    api.InvitationPage{Content: content, Page: part.Page, Size: part.Size, TotalElements: found.Total},
		Headers: api.ListInvitations200ResponseHeaders{Link: next},
	}, nil
}

// DeleteInvitation withdraws an invitation.
func (s *Server) DeleteInvitation(ctx context.Context, r api.DeleteInvitationRequestObject) (api.DeleteInvitationResponseObject, error) {
	if err := s.People.DeleteInvitation(ctx, r.Id); err != nil {
		return nil, err
	}
	return api.DeleteInvitation200JSONResponse{Message: "The invitation is withdrawn."}, nil
}
