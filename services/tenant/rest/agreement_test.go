package rest_test

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/tenant/api"
)

func (h *harness) agreement(t *testing.T, ctx context.Context) string {
	t.Helper()
	got, err := h.ReadAgreement(ctx, api.ReadAgreementRequestObject{})
	if err != nil {
		t.Fatal(err)
	}
	a := got.(api.ReadAgreement200JSONResponse) //nolint:forcetypeassert // the only answer
	if a.Title == "" || a.Text == "" || a.Version != 1 {
		t.Errorf("agreement %+v", a)
	}
	return a.Id
}

func (h *harness) status(t *testing.T, ctx context.Context) api.AgreementStatus {
	t.Helper()
	got, err := h.ReadAgreementStatus(ctx, api.ReadAgreementStatusRequestObject{})
	if err != nil {
		t.Fatal(err)
	}
	return api.AgreementStatus(got.(api.ReadAgreementStatus200JSONResponse)) //nolint:forcetypeassert // the only answer
}

func (h *harness) accept(ctx context.Context, body string) (api.AgreementStatus, error) {
	got, err := h.AcceptAgreement(ctx, api.AcceptAgreementRequestObject{Body: object(body)})
	if err != nil {
		return api.AgreementStatus{}, err
	}
	return api.AgreementStatus(got.(api.AcceptAgreement200JSONResponse)), nil //nolint:forcetypeassert // the only answer
}

func TestAcceptingTheAgreement(t *testing.T) {
	t.Parallel()
	h := serveIn(t, "production")
	mine, theirs := h.create(t, `{"name": "Harbour"}`), h.create(t, `{"name": "Hillside"}`)
	person := uuid.NewString()
	owner := principal.With(t.Context(), principal.Principal{
		Kind: principal.Session, TenantID: mine.Id, UserID: person, CredentialID: "family", Permissions: principal.TenantAdmin,
	})
	if mine.AgreementAccepted {
		t.Error("a new tenant has accepted")
	}
	id := h.agreement(t, as(t, mine.Id, 0))
	if s := h.status(t, as(t, mine.Id, 0)); s.Accepted || s.AgreementId != id || s.AcceptedAt != nil || s.AcceptedBy != nil {
		t.Errorf("before: %+v", s)
	}
	if _, err := h.accept(as(t, mine.Id, principal.All&^principal.TenantAdmin), `{}`); !fault.Is(err, fault.Denied) {
		t.Errorf("without the permission: %v", err)
	}
	for body, want := range map[string]string{
		`{}`: "invalid_request", `{"agreementId": 1}`: "invalid_request", `{"agreementId": ""}`: "invalid_request",
		`{"agreementId": "x"}`: "agreement_superseded", `{"agreementId": "` + uuid.NewString() + `"}`: "agreement_superseded",
	} {
		if _, err := h.accept(owner, body); code(err) != want {
			t.Errorf("%s: %v", body, err)
		}
	}
	if h.nudges != 0 {
		t.Error("a refusal has effects")
	}
	s, err := h.accept(owner, `{"agreementId": "`+id+`"}`)
	if err != nil || !s.Accepted || s.AcceptedAt == nil || *s.AcceptedBy != (api.Actor{Type: "user", Id: person}) || h.nudges != 1 {
		t.Errorf("accepted: %+v, %v", s, err)
	}
	client := principal.With(t.Context(), principal.Principal{
		Kind: principal.Client, TenantID: mine.Id, ClientID: "client", CredentialID: "token", Permissions: principal.TenantAdmin,
	})
	if again, err := h.accept(client, `{"agreementId": "`+id+`"}`); err != nil || *again.AcceptedBy != *s.AcceptedBy || h.nudges != 1 {
		t.Errorf("again: %+v, %v", again, err)
	}
	for tenant, want := range map[string]bool{mine.Id: true, theirs.Id: false} {
		got, err := h.ReadTenant(as(t, tenant, 0), api.ReadTenantRequestObject{})
		if err != nil || got.(api.ReadTenant200JSONResponse).AgreementAccepted != want || h.status(t, as(t, tenant, 0)).Accepted != want {
			t.Errorf("%s has accepted, or not: %+v, %v", tenant, got, err)
		}
	}
	client = principal.With(t.Context(), principal.Principal{
		Kind: principal.Client, TenantID: theirs.Id, ClientID: "client", CredentialID: "token", Permissions: principal.TenantAdmin,
	})
	if s, err := h.accept(client, `{"agreementId": "`+id+`"}`); err != nil || *s.AcceptedBy != (api.Actor{Type: "client", Id: "client"}) {
		t.Errorf("a client: %+v, %v", s, err)
	}
}

func TestTheDemoNeedsNoAcceptanceAndRecordsOne(t *testing.T) {
	t.Parallel()
	h := serve(t)
	made := h.create(t, `{"name": "Harbour"}`)
	ctx := as(t, made.Id, principal.TenantAdmin)
	if !made.AgreementAccepted || h.status(t, ctx).Accepted {
		t.Errorf("made %+v, status %+v", made, h.status(t, ctx))
	}
	if s, err := h.accept(ctx, `{"agreementId": "`+h.agreement(t, ctx)+`"}`); err != nil || !s.Accepted {
		t.Errorf("%+v, %v", s, err)
	}
}
