package page_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

func TestAccount(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.second()
	b := open(t, w).signIn().get("/account").want(http.StatusOK, "Ward Round", "Safari on iPhone", "Nightly import", "This browser")
	b.submit("/account/profile", "firstName", "", "lastName", "Lind").want(http.StatusBadRequest, "First name is required.", `value="Lind"`)
	b.submit("/account/profile", "firstName", "Maria").leads("/account?done=profile#profile")
	b.get("/account").submit("/account/password", "currentPassword", "wrong", "newPassword", password).want(http.StatusBadRequest, "Current password is not right.")
	b.submit("/account/password", "currentPassword", password, "newPassword", "short").want(http.StatusBadRequest, "New password must have 12")
	b.submit("/account/password", "currentPassword", password, "newPassword", password).leads("/account?done=password#security")
	b.get("/account").submit("/account/session/end").leads("/account?done=session#sessions")
	b.get("/account").submit("/account/organization").leads("/account?done=organization")
	b.get("/account").submit("/account/session/end-all").leads("/sign-in?done=signed-out")
	for _, verb := range []string{"profile Maria Lind", "password", "end-all", "choose"} {
		if !slices.Contains(w.did, verb) {
			t.Errorf("%s was not done: %v", verb, w.did)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	w := newWorld()
	b := open(t, w).signIn().get("/account").want(http.StatusOK)
	if strings.Contains(b.body, "System") {
		t.Error("a role is offered that the visitor cannot grant")
	}
	b.submit("/account/key").want(http.StatusBadRequest, "Name is required.", "Roles must name at least one role.")
	values := b.form("/account/key")
	values.Set("name", "Import")
	values.Set("acRoleIds", role("Clinician", 0).ID)
	values.Set("expiresAt", "2030-06-30")
	b.post("/account/key", values).want(http.StatusOK, "prs_demo_", "shown this once", "1 July 2030, 00:00 UTC")
	if by := w.acted; by.Kind != principal.Session || by.UserID != userID || by.TenantID != north || by.CredentialID == "" || by.Permissions.Has(principal.ClientManage) || !by.Permissions.Has(principal.KeyManage) {
		t.Errorf("%+v", by)
	}
	b.post("/account/key", values).want(http.StatusConflict, "shown once only") // a reload makes no second key
	b.get("/account").submit("/account/key/revoke").leads("/account?done=key#keys")
	values.Set("expiresAt", "soon")
	b.post("/account/key", values).want(http.StatusBadRequest, "Expires on must be a date.")

	w.memberships[0].Permissions = principal.PatientRead
	b.get("/account").want(http.StatusOK)
	if strings.Contains(b.body, "/account/key") {
		t.Error("keys are shown to somebody who may not manage them")
	}
	w.memberships[0].Permissions, w.memberships[0].MFARequired = principal.All, true
	b.get("/account").want(http.StatusOK, "requires a second factor")
	if strings.Contains(b.body, "/account/key") {
		t.Error("keys are shown before the second factor")
	}
	values.Set("expiresAt", "")
	b.post("/account/key", values).want(http.StatusForbidden)
	b.get("/account").submit("/account/step-up").leads("/sign-in/second-factor?challenge=challenge-up")
}

func TestFactors(t *testing.T) {
	t.Parallel()
	w := newWorld()
	b := open(t, w).signIn().get("/account")
	b.submit("/account/totp").want(http.StatusOK, "data:image/png;base64,", "JBSW Y3DP", "otpauth://")
	b.submit("/account/totp/confirm", "code", "1").want(http.StatusBadRequest, "Code is not right")
	if strings.Contains(b.body, "JBSW") {
		t.Error("the secret is shown again")
	}
	b.submit("/account/totp/confirm", "code", "123456").want(http.StatusOK, "k7wq-a3fp", "shown again")
	w.factors = identity.Factors{TOTP: true, RecoveryCodes: 10, Passkeys: []identity.Passkey{{ID: "p", Name: "Phone", CreatedAt: w.now}}}
	b.get("/account").submit("/account/recovery").want(http.StatusOK, "no longer work")
	b.get("/account").submit("/account/passkey/remove").leads("/account?done=passkey-removed#security")
	b.get("/account").submit("/account/totp/remove").leads("/account?done=totp#security")

	w.now = w.now.Add(time.Hour) // an open browser, found by somebody else
	for _, action := range []string{"/account/totp/remove", "/account/recovery", "/account/passkey/remove"} {
		before := len(w.did)
		if b.get("/account").submit(action).leads("/sign-in?again=1"); len(w.did) != before {
			t.Errorf("%s was done", action)
		}
	}
}

func TestAgreement(t *testing.T) {
	t.Parallel()
	w := newWorld()
	open(t, w).signIn().get("/agreement").want(http.StatusNotFound)
	w.environment, w.memberships[0].AgreementAccepted = "production", false
	b := open(t, w).signIn().get("/account").want(http.StatusOK, "Read and accept it")
	b.get("/agreement").want(http.StatusOK, "Business Associate Agreement", "version 3").submit("/agreement").leads("/account?done=agreement")
	if !slices.Contains(w.did, "accept a1") || w.acted.TenantID != north {
		t.Errorf("%v %+v", w.did, w.acted)
	}
	b.get("/agreement").submit("/agreement", "id", "older").leads("/agreement")
	w.memberships[0].Permissions = principal.PatientRead
	b.get("/agreement").want(http.StatusOK, "Only an owner")
	if strings.Contains(b.body, `action="/agreement"`) {
		t.Error("somebody who may not accept is offered to")
	}
	b.get("/sign-up").want(http.StatusOK, "By invitation only")
}
