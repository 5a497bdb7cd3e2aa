package rest_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/tenant/api"
)

func (h *harness) put(t *testing.T, tenant, user, text string) (api.Membership, error) {
	t.Helper()
	got, err := h.InternalPutMember(h.self, api.InternalPutMemberRequestObject{TenantId: tenant, UserId: user, Body: object(text)})
	if err != nil {
		return api.Membership{}, err
	}
	return api.Membership(got.(api.InternalPutMember200JSONResponse)), nil //nolint:forcetypeassert // the only answer
}

func (h *harness) standing(t *testing.T, tenant, user string) (api.Standing, error) {
	t.Helper()
	got, err := h.InternalReadStanding(h.self, api.InternalReadStandingRequestObject{
		TenantId: tenant, Params: api.InternalReadStandingParams{User: &user},
	})
	if err != nil {
		return api.Standing{}, err
	}
	return api.Standing(got.(api.InternalReadStanding200JSONResponse)), nil //nolint:forcetypeassert // the only answer
}

func code(err error) string { return fault.Of(err).Code }

func TestTheLifeOfAMembership(t *testing.T) {
	t.Parallel()
	h := serve(t)
	first, second := uuid.Must(uuid.NewV7()).String(), uuid.Must(uuid.NewV7()).String()
	made := h.create(t, `{"name": "Harbour", "ownerId": "`+first+`"}`)
	if s, err := h.standing(t, made.Id, first); err != nil || principal.ParsePermissions(s.Permissions) != principal.All&^principal.ClientManage {
		t.Errorf("the owner's standing %+v, %v", s, err)
	}
	if _, err := h.standing(t, made.Id, second); code(err) != "member_not_found" {
		t.Errorf("no member's standing: %v", err)
	}
	if _, err := h.put(t, made.Id, first, `{"roles": []}`); code(err) != "last_owner" || !fault.Is(err, fault.Conflict) {
		t.Errorf("demote the last owner: %v", err)
	}
	m, err := h.put(t, made.Id, second, `{"roles": ["01900000-0000-7000-8000-000000000005", "owner", "Owner"]}`)
	if err != nil || len(m.Roles) != 2 {
		t.Errorf("by id and name: %+v, %v", m, err)
	}
	got, err := h.InternalListMembers(h.self, api.InternalListMembersRequestObject{TenantId: made.Id, Params: api.InternalListMembersParams{Size: text("1")}})
	if err != nil {
		t.Fatal(err)
	}
	page := got.(api.InternalListMembers200JSONResponse) //nolint:forcetypeassert // the only answer
	if len(page.Content) != 1 || page.Content[0].UserId != first || page.TotalElements != 2 || !page.More || page.Content[0].CreatedAt == "" {
		t.Errorf("page %+v", page)
	}
	remove := func(user string) error {
		nudges := h.nudges
		_, err := h.InternalRemoveMember(h.self, api.InternalRemoveMemberRequestObject{TenantId: made.Id, UserId: user})
		if (err == nil) != (h.nudges > nudges) {
			t.Errorf("%v, and %d nudges", err, h.nudges-nudges)
		}
		return err
	}
	if err := remove(first); err != nil {
		t.Error(err)
	}
	if err := remove(first); code(err) != "member_not_found" {
		t.Errorf("again: %v", err)
	}
	if err := remove(second); code(err) != "last_owner" {
		t.Errorf("the last: %v", err)
	}
}

func text(s string) *string { return &s }

func TestMembershipsOfAUser(t *testing.T) {
	t.Parallel()
	h := serve(t)
	user := uuid.Must(uuid.NewV7()).String()
	list := func(id string) ([]api.UserMembership, error) {
		got, err := h.InternalListMemberships(h.self, api.InternalListMembershipsRequestObject{UserId: id})
		if err != nil {
			return nil, err
		}
		return got.(api.InternalListMemberships200JSONResponse).Content, nil //nolint:forcetypeassert // the only answer
	}
	if got, err := list(user); err != nil || got == nil || len(got) != 0 {
		t.Errorf("of nobody: %v, %v", got, err)
	}
	first := h.create(t, `{"name": "Harbour", "plan": "standard", "ownerId": "`+user+`"}`)
	second := h.create(t, `{"name": "Hillside"}`)
	if _, err := h.put(t, second.Id, user, `{"roles": ["Auditor"]}`); err != nil {
		t.Fatal(err)
	}
	got, err := list(user)
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if m := got[0]; m.TenantId != first.Id || m.Name != "Harbour" || m.Plan != "standard" || m.Environment != "demo" ||
		!m.AgreementAccepted || m.MfaRequired || len(m.Roles) != 1 || m.Roles[0].Name != "Owner" {
		t.Errorf("first %+v", m)
	}
	if m := got[1]; m.TenantId != second.Id || principal.ParsePermissions(m.Permissions) != principal.AuditRead|principal.TenantRead {
		t.Errorf("second %+v", m)
	}
	if _, err := list("x"); !fault.Is(err, fault.NotFound) {
		t.Errorf("no id: %v", err)
	}
}

func TestBadOwnersAndCursors(t *testing.T) {
	t.Parallel()
	h := serve(t)
	_, err := h.InternalCreateTenant(h.self, api.InternalCreateTenantRequestObject{Body: object(`{"name": "x", "ownerId": "y"}`)})
	if f := fault.Of(err); f.Kind != fault.Invalid || len(f.Fields) != 1 || f.Fields[0].Field != "ownerId" {
		t.Errorf("owner: %v", err)
	}
	made := h.create(t, `{"name": "Harbour"}`)
	for _, p := range []api.InternalListMembersParams{{Size: text("0")}, {Page: text("x")}, {After: text("x")}, {After: text("eyJhIjoieCJ9")}} {
		if _, err := h.InternalListMembers(h.self, api.InternalListMembersRequestObject{TenantId: made.Id, Params: p}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}
