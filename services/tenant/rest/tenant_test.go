package rest_test

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/tenant/api"
)

func TestUpdateTenant(t *testing.T) {
	t.Parallel()
	h := serve(t)
	made := h.create(t, `{"name": "Harbour"}`)
	update := func(ctx context.Context, body string) (api.Tenant, error) {
		got, err := h.UpdateTenant(ctx, api.UpdateTenantRequestObject{Body: object(body)})
		if err != nil {
			return api.Tenant{}, err
		}
		return api.Tenant(got.(api.UpdateTenant200JSONResponse)), nil //nolint:forcetypeassert // the only answer
	}
	admin := as(t, made.Id, principal.TenantAdmin)
	if _, err := update(as(t, made.Id, principal.All&^principal.TenantAdmin), `{"name": ""}`); !fault.Is(err, fault.Denied) {
		t.Errorf("without the permission: %v", err)
	}
	_, err := update(admin, `{"name": "  ", "mfaRequired": "yes"}`)
	if f := fault.Of(err); f.Kind != fault.Invalid || len(f.Fields) != 2 {
		t.Errorf("faults: %+v", f)
	}
	for _, body := range []string{`{}`, `{"name": null, "mfaRequired": null}`, `{"name": "Harbour", "mfaRequired": false}`} {
		if got, err := update(admin, body); err != nil || got != made || h.nudges != 0 {
			t.Errorf("%s: %+v, %v, %d nudges", body, got, err, h.nudges)
		}
	}
	got, err := update(admin, `{"name": "Harbour & Sons", "mfaRequired": true}`)
	if err != nil || got.Name != "Harbour & Sons" || !got.MfaRequired || got.Plan != made.Plan || h.nudges != 1 {
		t.Errorf("%+v, %v, %d nudges", got, err, h.nudges)
	}
	if got, err := update(admin, `{"mfaRequired": false}`); err != nil || got.Name != "Harbour & Sons" || got.MfaRequired {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCreateTenant(t *testing.T) {
	t.Parallel()
	h := serve(t)
	operations := h.create(t, `{"name": "Operations"}`)
	admin := principal.With(t.Context(), principal.Principal{
		Kind: principal.Client, TenantID: operations.Id, ClientID: "admin", Permissions: principal.ClientManage,
	})
	create := func(ctx context.Context, body string, key *string) (api.CreateTenant201JSONResponse, error) {
		got, err := h.CreateTenant(ctx, api.CreateTenantRequestObject{
			Body: object(body), Params: api.CreateTenantParams{IdempotencyKey: key},
		})
		if err != nil {
			return api.CreateTenant201JSONResponse{}, err
		}
		return got.(api.CreateTenant201JSONResponse), nil //nolint:forcetypeassert // the only answer
	}
	if _, err := create(as(t, operations.Id, principal.All&^principal.ClientManage), `{"plan": "gold"}`, nil); !fault.Is(err, fault.Denied) {
		t.Errorf("an owner: %v", err)
	}
	_, err := create(admin, `{"plan": "gold", "ownerEmail": "a@b.example"}`, text(""))
	if f := fault.Of(err); f.Kind != fault.Invalid || len(f.Fields) != 4 {
		t.Errorf("faults: %+v", f)
	}
	chosen := uuid.NewString()
	made, err := create(admin, `{"id": "`+chosen+`", "name": "Harbour", "plan": "Standard"}`, nil)
	if err != nil || made.Body.Name != "Harbour" || made.Body.Plan != "standard" || made.Body.Id == chosen || made.Headers.IdempotentReplayed != nil {
		t.Errorf("%+v, %v", made, err)
	}
	if own, err := h.ReadTenant(as(t, made.Body.Id, 0), api.ReadTenantRequestObject{}); err != nil || api.Tenant(own.(api.ReadTenant200JSONResponse)) != made.Body {
		t.Errorf("read %+v, %v", own, err)
	}
	key := text("k")
	once, err := create(admin, `{"name": "Hillside"}`, key)
	if err != nil || once.Body.Plan != "free" {
		t.Fatal(once, err)
	}
	again, err := create(admin, `{"name": "Hillside"}`, key)
	if err != nil || again.Body != once.Body || again.Headers.IdempotentReplayed == nil || *again.Headers.IdempotentReplayed != "true" {
		t.Errorf("again %+v, %v; at first %+v", again, err, once)
	}
	if _, err := create(admin, `{"name": "Another"}`, key); !fault.Is(err, fault.IdempotencyMismatch) {
		t.Errorf("another request: %v", err)
	}
}
