package rest_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/tenant"
	"github.com/patient-mesh/patient-mesh/services/tenant/api"
	"github.com/patient-mesh/patient-mesh/services/tenant/rest"
	"github.com/patient-mesh/patient-mesh/services/tenant/store"
)

type harness struct {
	*rest.Server

	nudges int
	self   context.Context //nolint:containedctx // the program's own principal, for every call of a test
}

// serve gives the real verbs on a real database.
func serve(t *testing.T) *harness {
	t.Helper()
	return serveIn(t, "demo")
}

func serveIn(t *testing.T, environment string) *harness {
	t.Helper()
	db, err := pg.Open(pg.Config{URL: testkit.Postgres(t, store.Migrations()).URL, MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	h := &harness{self: principal.With(t.Context(), principal.Principal{Kind: principal.Service, ClientID: "test"})}
	h.Server = &rest.Server{Tenants: &tenant.Service{
		Store: &store.Store{DB: db}, Environment: environment, Now: time.Now, NewID: uuid.NewV7, Nudge: func() { h.nudges++ },
	}}
	return h
}

func object(text string) *body.Object {
	o := &body.Object{}
	o.Read([]byte(text))
	return o
}

func (h *harness) create(t *testing.T, text string) api.Tenant {
	t.Helper()
	made, err := h.InternalCreateTenant(h.self, api.InternalCreateTenantRequestObject{Body: object(text)})
	if err != nil {
		t.Fatal(err)
	}
	return api.Tenant(made.(api.InternalCreateTenant201JSONResponse)) //nolint:forcetypeassert // the only answer
}

func as(t *testing.T, tenant string, may principal.Permission) context.Context {
	t.Helper()
	return principal.With(t.Context(), principal.Principal{Kind: principal.APIKey, TenantID: tenant, Permissions: may})
}

func TestOwnTenantNeedsNoPermission(t *testing.T) {
	t.Parallel()
	h := serve(t)
	made := h.create(t, `{"name": "  Harbour Clinic "}`)
	got, err := h.ReadTenant(as(t, made.Id, 0), api.ReadTenantRequestObject{})
	if err != nil {
		t.Fatal(err)
	}
	own := api.Tenant(got.(api.ReadTenant200JSONResponse)) //nolint:forcetypeassert // the only answer
	if own != made || own.Name != "Harbour Clinic" || own.Plan != "free" || !own.AgreementAccepted {
		t.Errorf("own %+v, made %+v", own, made)
	}
	if _, err := h.ReadTenant(t.Context(), api.ReadTenantRequestObject{}); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("without a principal: %v", err)
	}
}

func TestChangePlan(t *testing.T) {
	t.Parallel()
	h := serve(t)
	made := h.create(t, `{"name": "Harbour"}`)
	admin := as(t, "", principal.ClientManage)
	change := func(ctx context.Context, id, text string) error {
		_, err := h.ChangePlan(ctx, api.ChangePlanRequestObject{TenantId: id, Body: object(text)})
		return err
	}
	if err := change(as(t, made.Id, principal.All&^principal.ClientManage), made.Id, `{"plan": "nonsense"}`); !fault.Is(err, fault.Denied) {
		t.Errorf("an owner: %v", err)
	}
	for _, text := range []string{`{}`, `{"plan": "gold"}`, `{"plan": 1}`, `{"plan": null}`, `[]`} {
		if err := change(admin, made.Id, text); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, id := range []string{"nonsense", uuid.NewString()} {
		if err := change(admin, id, `{"plan": "standard"}`); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if h.nudges != 0 {
		t.Errorf("%d nudges for nothing", h.nudges)
	}
	if err := change(admin, made.Id, `{"plan": "Standard"}`); err != nil || h.nudges != 1 {
		t.Errorf("%v, %d nudges", err, h.nudges)
	}
}

func TestInternalOperationsAreForProgramsAlone(t *testing.T) {
	t.Parallel()
	h := serve(t)
	made := h.create(t, `{"name": "Harbour"}`)
	everybody := as(t, made.Id, principal.All)
	for name, call := range map[string]func() error{
		"create": func() error {
			_, err := h.InternalCreateTenant(everybody, api.InternalCreateTenantRequestObject{Body: object(`{"name": "x"}`)})
			return err
		},
		"list roles": func() error {
			_, err := h.InternalListRoles(everybody, api.InternalListRolesRequestObject{})
			return err
		},
		"list memberships": func() error {
			_, err := h.InternalListMemberships(everybody, api.InternalListMembershipsRequestObject{UserId: uuid.NewString()})
			return err
		},
		"list members": func() error {
			_, err := h.InternalListMembers(everybody, api.InternalListMembersRequestObject{TenantId: made.Id})
			return err
		},
		"standing of a member": func() error {
			user := uuid.NewString()
			_, err := h.InternalReadStanding(everybody, api.InternalReadStandingRequestObject{
				TenantId: made.Id, Params: api.InternalReadStandingParams{User: &user},
			})
			return err
		},
		"remove member": func() error {
			_, err := h.InternalRemoveMember(everybody, api.InternalRemoveMemberRequestObject{TenantId: made.Id, UserId: uuid.NewString()})
			return err
		},
		"read": func() error {
			_, err := h.InternalReadTenant(everybody, api.InternalReadTenantRequestObject{TenantId: made.Id})
			return err
		},
		"standing": func() error {
			_, err := h.InternalReadStanding(everybody, api.InternalReadStandingRequestObject{TenantId: made.Id})
			return err
		},
		"read member": func() error {
			_, err := h.InternalReadMember(everybody, api.InternalReadMemberRequestObject{TenantId: made.Id, UserId: uuid.NewString()})
			return err
		},
		"put member": func() error {
			_, err := h.InternalPutMember(everybody, api.InternalPutMemberRequestObject{
				TenantId: made.Id, UserId: uuid.NewString(), Body: object(`{"roles": ["Owner"]}`),
			})
			return err
		},
	} {
		if err := call(); !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMembersAndStanding(t *testing.T) {
	t.Parallel()
	h := serve(t)
	made, user := h.create(t, `{"name": "Harbour"}`), uuid.Must(uuid.NewV7()).String()
	put := func(text string) (api.Membership, error) {
		got, err := h.InternalPutMember(h.self, api.InternalPutMemberRequestObject{TenantId: made.Id, UserId: user, Body: object(text)})
		if err != nil {
			return api.Membership{}, err
		}
		return api.Membership(got.(api.InternalPutMember200JSONResponse)), nil //nolint:forcetypeassert // the only answer
	}
	for _, text := range []string{`{}`, `{"roles": ["Emperor"]}`, `{"roles": "Owner"}`} {
		if _, err := put(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", text, err)
		}
	}
	member, err := put(`{"roles": ["records reader", "Auditor"]}`)
	if err != nil || len(member.Roles) != 2 {
		t.Fatalf("%+v, %v", member, err)
	}
	ids := []string{member.Roles[0].Id, uuid.NewString()}
	got, err := h.InternalReadStanding(h.self, api.InternalReadStandingRequestObject{
		TenantId: made.Id, Params: api.InternalReadStandingParams{Role: &ids},
	})
	if err != nil {
		t.Fatal(err)
	}
	standing := got.(api.InternalReadStanding200JSONResponse) //nolint:forcetypeassert // the only answer
	if principal.ParsePermissions(standing.Permissions) != principal.PatientRead|principal.DocumentRead|principal.TenantRead {
		t.Errorf("standing %v", standing.Permissions)
	}
}
