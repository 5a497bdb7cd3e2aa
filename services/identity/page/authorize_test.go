package page_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/services/identity"
)

const (
	callback = "http://127.0.0.1:43121/callback"
	granted  = callback + "?code=c&tenant=" + north + "&scope=patient%3Aread+patient%3Awrite+match%3Aread+offline_access"
)

func TestConsent(t *testing.T) {
	t.Parallel()
	w := newWorld()
	b := open(t, w)
	b.get(request).leads("/sign-in?continue="+url.QueryEscape(request)).follow().want(http.StatusOK, "to continue to", "Ward Round")
	b.submit("/sign-in", "email", email, "password", password).leads(request).follow()
	b.want(http.StatusOK, "asks for access", "See patients’ records", "Stay connected while you are away", "on this device", "127.0.0.1:43121", "Northside Clinic")
	if slices.Contains(w.did, "grant") {
		t.Fatal("granted before anybody was asked")
	}
	page := b.form("/oauth2/authorize")
	b.submit("/oauth2/authorize", "decision", "deny").leads(callback + "?error=access_denied")
	if len(w.consented) > 0 {
		t.Fatal("a denial is remembered as consent")
	}
	page.Set("decision", "allow")
	b.post("/oauth2/authorize", page).leads(granted)
	b.get(request).leads(granted) // remembered
	b.get(request+"&prompt=consent").want(http.StatusOK, "asks for access")
	b.get(strings.Replace(request, "scope=", "scope=audit%3Aread+", 1)).want(http.StatusOK, "Read your organization’s audit trail") // more than before
}

// The decision needs the page's token, and the request is read anew: what the form says of it binds nobody.
func TestDecisionCannotBeForged(t *testing.T) {
	t.Parallel()
	w := newWorld()
	b := open(t, w).signIn().get(request)
	forged := b.form("/oauth2/authorize")
	forged.Set("decision", "allow")
	for name, change := range map[string]func(url.Values){
		"no token":      func(v url.Values) { v.Del("csrf") },
		"another token": func(v url.Values) { v.Set("csrf", strings.Repeat("A", 43)) },
	} {
		values := url.Values{}
		for k, v := range forged {
			values[k] = slices.Clone(v)
		}
		change(values)
		if b.post("/oauth2/authorize", values); b.code != http.StatusForbidden {
			t.Errorf("%s: %d", name, b.code)
		}
	}
	forged.Set("redirect_uri", "https://evil.example/")
	b.post("/oauth2/authorize", forged).want(http.StatusBadRequest, "can’t be used")
	if slices.Contains(w.did, "grant") || slices.Contains(w.did, "consent") {
		t.Errorf("%v", w.did)
	}
}

// Applications may send their request as a form (RFC 6749 §3.1), which decides nothing.
func TestRequestByPost(t *testing.T) {
	t.Parallel()
	w := newWorld()
	b := open(t, w).signIn()
	b.header.Set("Origin", "https://ward.example")
	_, query, _ := strings.Cut(request, "?")
	values, _ := url.ParseQuery(query)
	b.post("/oauth2/authorize", values).leads(request)
}

func TestPrompts(t *testing.T) {
	t.Parallel()
	w := newWorld()
	none := request + "&prompt=none"
	b := open(t, w)
	b.get(none).leads(callback + "?error=login_required")
	b.signIn()
	b.get(none).leads(callback + "?error=consent_required")
	w.consented = []string{"patient:read", "patient:write", "match:read", "offline_access"}
	b.get(none).leads(granted)
	w.memberships[0].MFARequired = true
	b.get(none).leads(callback + "?error=interaction_required")
	w.memberships[0].MFARequired = false
	b.get(none + "&tenantId=" + south).leads(callback + "?error=access_denied")
	w.second()
	b.get(none).leads(callback + "?error=interaction_required")
	w.memberships = w.memberships[:1]

	for _, more := range []string{"&prompt=login", "&max_age=0"} { // somebody signs in anew, once
		w.now = w.now.Add(time.Minute)
		b.get(request+more).follow().want(http.StatusOK, `value="`+email+`"`)
		b.submit("/sign-in", "email", email, "password", password).follow().leads(granted)
		w.now = w.now.Add(time.Minute)
		b.get(request + more)
		if !strings.HasPrefix(b.head.Get("Location"), "/sign-in?again=1&") {
			t.Errorf("%s after a minute: %d %s", more, b.code, b.head.Get("Location"))
		}
		onward, _ := url.Parse(b.head.Get("Location"))
		if b.get(onward.Query().Get("continue")); !strings.HasPrefix(b.head.Get("Location"), "/sign-in?again=1&") {
			t.Errorf("%s without signing in anew: %d %s", more, b.code, b.head.Get("Location"))
		}
	}
}

func TestStepUp(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.memberships[0].MFARequired = true
	b := open(t, w).signIn()
	before := b.cookies["__Host-sign-in"]
	b.get(request).leads("/sign-in/second-factor?challenge=challenge-up&continue=" + url.QueryEscape(request)).follow().want(http.StatusOK)
	if !strings.Contains(b.head.Get("Content-Security-Policy"), "form-action 'self' http://127.0.0.1:43121;") {
		t.Error(b.head.Get("Content-Security-Policy"))
	}
	b.submit("/sign-in/second-factor", "code", "123456").leads(request)
	if b.cookies["__Host-sign-in"] == before {
		t.Error("the session's cookie is the old one")
	}
	b.follow().want(http.StatusOK, "asks for access")
	if b.submit("/oauth2/authorize", "decision", "allow"); !w.decided.Strong {
		t.Errorf("granted %+v", w.decided)
	}
}

func TestChooseOrganization(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.second()
	b := open(t, w).signIn()
	b.get(request).leads("/choose-organization?continue="+url.QueryEscape(request)).follow().want(http.StatusOK, "Northside Clinic", "Harbour Street Practice", `name="tenantId"`)
	b.submit("/choose-organization").want(http.StatusBadRequest, "Organization has to be chosen.")
	b.submit("/choose-organization", "tenantId", "0190a0a0-0000-7000-8000-0000000000ff").want(http.StatusBadRequest, "not a member")
	b.submit("/choose-organization", "tenantId", south).leads(request).follow().want(http.StatusOK, "Harbour Street Practice", "Change")
	consent := b.form("/oauth2/authorize")
	consent.Set("decision", "allow")
	w.signIns[b.cookies["__Host-sign-in"]].TenantID = ptr(north) // chosen anew in another window
	b.post("/oauth2/authorize", consent).leads(request)
	if slices.Contains(w.did, "grant") {
		t.Error("granted for an organization that was not shown")
	}
	w.signIns[b.cookies["__Host-sign-in"]].TenantID = ptr(south)
	b.post("/oauth2/authorize", consent)
	if !strings.Contains(b.head.Get("Location"), "tenant="+south) {
		t.Error(b.head.Get("Location"))
	}
	b.get(request + "&tenantId=" + north).leads(strings.Replace(granted, south, north, 1)) // the client's own choice goes before
}

func TestOutsider(t *testing.T) {
	t.Parallel()
	b := open(t, newWorld()).signIn()
	b.get(request+"&tenantId="+south).want(http.StatusForbidden, "not a member")
	b.submit("/oauth2/authorize", "decision", "deny").leads(callback + "?error=access_denied")
}

func TestRequestsThatDoNotHold(t *testing.T) {
	t.Parallel()
	b := open(t, newWorld()).signIn()
	b.get("/oauth2/authorize?client_id=other&redirect_uri=https%3A%2F%2Fward.example").want(http.StatusBadRequest, "can’t be used")
	b.get(strings.Replace(request, "response_type=code", "response_type=token", 1)).leads(callback + "?error=unsupported_response_type")
}

// Browsers hold the redirects after a form to the page's form-action: each form on the way names where the way ends.
func TestFormsMayEndAtTheClient(t *testing.T) {
	t.Parallel()
	w := newWorld()
	b := open(t, w).signIn()
	for redirect, want := range map[string]string{
		"https://ward.example/cb?x=1":     "form-action 'self' https://ward.example;",
		"https://ward.example:8443/cb":    "form-action 'self' https://ward.example:8443;",
		"http://127.0.0.1:5000/callback":  "form-action 'self' http://127.0.0.1:5000;",
		"http://[::1]:5000/callback":      "form-action 'self' http:;",
		"https://x;script-src *.example/": "form-action 'self';",
	} {
		address := "/oauth2/authorize?client_id=prs-public&response_type=code&scope=patient%3Aread&redirect_uri=" + url.QueryEscape(redirect)
		for _, page := range []string{address, "/sign-in?again=1&continue=" + url.QueryEscape(address), "/choose-organization?continue=" + url.QueryEscape(address)} {
			if policy := b.get(page).head.Get("Content-Security-Policy"); !strings.Contains(policy, want) {
				t.Errorf("%s: %s", page, policy)
			}
		}
	}
	if policy := b.get("/account").head.Get("Content-Security-Policy"); !strings.Contains(policy, "form-action 'self';") {
		t.Error(policy)
	}
}

func TestPasskeys(t *testing.T) {
	t.Parallel()
	w := newWorld()
	b := open(t, w).get("/sign-in")
	token := b.form("/sign-in").Get("csrf")
	b.do(http.MethodPost, "/sign-in/passkey/begin", "application/json", "{}").want(http.StatusForbidden, `"code":"stale_form"`)
	b.header.Set("X-Csrf-Token", token)
	b.do(http.MethodPost, "/sign-in/passkey/begin", "application/json", "{}").want(http.StatusOK, `"handle":"handle"`)
	b.do(http.MethodPost, "/sign-in/passkey/finish", "application/json", `{"handle":"other","response":{}}`).want(http.StatusUnauthorized, "not known here")
	b.do(http.MethodPost, "/sign-in/passkey/finish", "application/json", `{`).want(http.StatusBadRequest)
	b.do(http.MethodPost, "/account/passkey/begin", "application/json", `{}`).want(http.StatusUnauthorized)
	b.do(http.MethodPost, "/sign-in/passkey/finish", "application/json", `{"handle":"handle","response":{},"continue":"//evil"}`).want(http.StatusOK, `{"to":"/account"}`)
	in := w.signIns[b.cookies["__Host-sign-in"]]
	if in == nil || !in.Strong() {
		t.Fatalf("%+v", in)
	}
	w.challenges["c"] = identity.Challenge{ID: "c", Methods: []string{identity.AnswerPasskey}}
	b.header.Set("X-Csrf-Token", b.get("/account").form("/account/profile").Get("csrf"))
	b.do(http.MethodPost, "/sign-in/second-factor/passkey/begin", "application/json", `{}`).want(http.StatusBadRequest)
	b.do(http.MethodPost, "/sign-in/second-factor/passkey/begin", "application/json", `{"challenge":"other"}`).want(http.StatusNotFound)
	b.do(http.MethodPost, "/sign-in/second-factor/passkey/begin", "application/json", `{"challenge":"c"}`).want(http.StatusOK, `"handle":"handle"`)
	b.do(http.MethodPost, "/sign-in/second-factor/passkey/finish", "application/json", `{"challenge":"other","handle":"handle","response":{}}`).want(http.StatusUnauthorized)
	b.do(http.MethodPost, "/sign-in/second-factor/passkey/finish", "application/json", `{"challenge":"c","handle":"handle","response":{},"continue":"/agreement"}`).want(http.StatusOK, `{"to":"/agreement"}`)
	in = w.signIns[b.cookies["__Host-sign-in"]]
	b.header.Set("X-Csrf-Token", b.get("/account").form("/account/profile").Get("csrf"))
	b.do(http.MethodPost, "/account/passkey/begin", "application/json", `{}`).want(http.StatusOK, "publicKey")
	b.do(http.MethodPost, "/account/passkey/finish", "application/json", `{"handle":"h","name":"Phone","response":{}}`).want(http.StatusOK, "done=passkey")
	in.CreatedAt = in.CreatedAt.Add(-time.Hour)
	b.do(http.MethodPost, "/account/passkey/begin", "application/json", `{}`).want(http.StatusForbidden, "Sign in again")
}
