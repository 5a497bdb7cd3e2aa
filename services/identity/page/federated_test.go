package page_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/federation"
)

const (
	hospital  = "0190a0a0-0000-7000-8000-0000000000aa" // has a provider of its own
	elsewhere = "https://login.hospital.example/authorize?state=s"
)

// The world's federation: what is asked is noted, and the answers are what the callback's code says.

func (w *world) Provider(_ context.Context, tenant string) (*identity.IdentityProvider, error) {
	if tenant == hospital {
		return &identity.IdentityProvider{TenantID: tenant, Name: "Example Hospital"}, nil
	}
	return nil, nil //nolint:nilnil // none
}

func (w *world) Begin(_ context.Context, tenant, onward, browser string) (string, error) {
	w.did = append(w.did, "begin "+tenant+" "+onward)
	if len(browser) < 40 {
		w.did = append(w.did, "no browser")
	}
	return elsewhere, w.note("begin")
}

func (w *world) Finish(_ context.Context, _ identity.Caller, browser, tenant string, query url.Values) (federation.Finished, error) {
	switch {
	case browser == "" || query.Get("code") == "stale":
		return federation.Finished{}, fault.New(fault.Invalid, "sign_in_expired", "This sign-in has expired.")
	case query.Get("code") == "stranger":
		return federation.Finished{}, fault.New(fault.Denied, "not_invited", "Ask your administrator for an invitation.")
	case query.Get("code") == "away":
		return federation.Finished{}, fault.Away(nil, "Away.")
	case query.Get("code") == "new":
		return federation.Finished{Continue: request, Link: &federation.LinkNeeded{Token: "token", Provider: "Example Hospital", Email: email, Continue: request}}, nil
	}
	e := w.session(identity.ByFederated)
	w.signIns[e.Cookie].TenantID = &tenant
	return federation.Finished{Continue: "//evil.example", Entered: e}, nil
}

func (w *world) Waiting(_ context.Context, browser, token string) (federation.LinkNeeded, error) {
	if browser == "" || token != "token" {
		return federation.LinkNeeded{}, fault.New(fault.Invalid, "sign_in_expired", "This sign-in has expired.")
	}
	return federation.LinkNeeded{Token: token, Provider: "Example Hospital", Email: email, Continue: request}, nil
}

func (w *world) Link(ctx context.Context, in identity.SignIn, browser, token string) (string, error) {
	if _, err := w.Waiting(ctx, browser, token); err != nil {
		return "", err
	}
	if w.err != nil {
		err := w.err
		w.err = nil
		return "", err
	}
	return request, w.note("link " + in.UserID)
}

// tenantId leads to the organization's own provider, and to the page where it has none.
func TestFederatedBegins(t *testing.T) {
	t.Parallel()
	w := newWorld()
	with := request + "&tenantId=" + hospital
	b := open(t, w).get("/sign-in?continue=" + url.QueryEscape(with))
	b.leads("/sign-in/federated?continue=" + url.QueryEscape(with) + "&tenantId=" + hospital)
	b.follow().leads(elsewhere)
	if w.did[len(w.did)-1] != "begin" || w.did[len(w.did)-2] != "begin "+hospital+" "+with {
		t.Errorf("did %q", w.did)
	}
	if b.cookies["__Host-federation"] == "" {
		t.Error("nothing binds it to the browser")
	}
	open(t, w).get("/sign-in?tenantId=" + hospital).leads("/sign-in/federated?tenantId=" + hospital)
	for _, stays := range []string{"/sign-in", "/sign-in?tenantId=x", "/sign-in?again=1&tenantId=" + hospital, "/sign-in?own=1&tenantId=" + hospital} {
		open(t, w).get(stays).want(http.StatusOK, `name="password"`)
	}
	// From the form the way goes by a link: what follows a form is held to the page's policy.
	open(t, w).get("/sign-in/federated").want(http.StatusOK, `name="tenantId"`, `name="ask"`)
	open(t, w).get("/sign-in/federated?ask=1&tenantId="+hospital).want(http.StatusOK, "Example Hospital", `href="/sign-in/federated?tenantId=`+hospital)
	open(t, w).get("/sign-in/federated?tenantId=x").want(http.StatusNotFound, `name="tenantId"`)
}

func TestFederatedComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld()
	callback := "/sign-in/federated/callback/" + hospital + "?state=s&code="
	begun := func() *browser { return open(t, w).get("/sign-in/federated?tenantId=" + hospital) }
	b := begun().get(callback + "good").leads("/account") // what leads away from us is not followed
	if b.cookies["__Host-sign-in"] == "" {
		t.Error("not signed in")
	}
	begun().get(callback+"stranger").want(http.StatusForbidden, "invitation", "/sign-in?own=1")
	begun().get(callback+"stale").want(http.StatusBadRequest, "expired")
	open(t, w).get(callback+"good").want(http.StatusBadRequest, "expired")
	begun().get(callback+"away").want(http.StatusServiceUnavailable, "try again")
}

// The first time, the account is proved as before, and connected by a form of its own.
func TestFederatedLink(t *testing.T) {
	t.Parallel()
	w := newWorld()
	b := open(t, w).get("/sign-in/federated?tenantId=" + hospital).get("/sign-in/federated/callback/" + hospital + "?state=s&code=new")
	b.want(http.StatusOK, "Example Hospital", email, "again=1")
	proof := "/sign-in?again=1&continue=" + url.QueryEscape("/sign-in/federated/link")
	b.get("/sign-in/federated/link").leads("/sign-in?continue=" + url.QueryEscape("/sign-in/federated/link"))
	b.get(proof).submit("/sign-in", "email", email, "password", password).leads("/sign-in/federated/link").follow().want(http.StatusOK, "Connect")
	w.err = fault.New(fault.Denied, "proof_required", "x")
	b.submit("/sign-in/federated/link").leads(proof)
	w.err = fault.New(fault.Denied, "mfa_required", "x")
	b.get("/sign-in/federated/link").submit("/sign-in/federated/link").leads("/sign-in/second-factor?challenge=challenge-up&continue=" + url.QueryEscape("/sign-in/federated/link"))
	w.err = fault.New(fault.Denied, "other_account", "Another address.")
	b.get("/sign-in/federated/link").submit("/sign-in/federated/link").want(http.StatusForbidden, "Another address.")
	b.get("/sign-in/federated/link").submit("/sign-in/federated/link").leads(request)
	b.get("/sign-in/federated/link").want(http.StatusBadRequest, "expired") // its cookie is gone
	b.post("/sign-in/federated/link", nil).want(http.StatusForbidden)       // no token of a form
}

// What an organization's provider says is good for that organization, and not for the account.
func TestFederatedIsConfined(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.second()
	b := open(t, w).get("/sign-in/federated?tenantId=" + hospital).get("/sign-in/federated/callback/" + hospital + "?state=s&code=good")
	b.get(request + "&tenantId=" + south).want(http.StatusSeeOther)
	if to := b.head.Get("Location"); !strings.HasPrefix(to, "/sign-in?again=1&") {
		t.Errorf("another organization: %q", to)
	}
	for _, action := range []string{"/account/profile", "/account/password", "/account/session/end-all", "/account/totp"} {
		b.get("/account").submit(action).want(http.StatusForbidden, "your own password", "/sign-in?again=1")
	}
	b.get("/account").want(http.StatusOK)
	if strings.Contains(b.body, "Northside") || strings.Contains(b.body, "Harbour") {
		t.Error("the account page tells of other organizations")
	}
	w.memberships = w.memberships[:1] // that organization has them no more, and one other has
	if b.get(request); strings.Contains(b.body, `value="allow"`) {
		t.Error("asked to consent for an organization that the provider does not speak for")
	}
	b.post("/account/key", b.get("/account").form("/account/profile")).want(http.StatusForbidden, "no organization")
	own := open(t, w).signIn()
	if own.get(request); !strings.Contains(own.body, `value="allow"`) {
		t.Error("their own password does not let them in")
	}
}

// What an application is given by such a sign-in is confined as the sign-in is.
func TestFederatedGrant(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.memberships[0].TenantID = hospital
	b := open(t, w).get("/sign-in/federated?tenantId=" + hospital).get("/sign-in/federated/callback/" + hospital + "?state=s&code=good")
	b.get(request).submit("/oauth2/authorize", "decision", "allow")
	if !w.decided.Confined || !w.decided.Strong || w.decided.TenantID != hospital {
		t.Errorf("by the provider: %+v", w.decided)
	}
	open(t, w).signIn().get(request)
	if w.decided.Confined || w.decided.Strong || w.decided.UserID == "" {
		t.Errorf("by password: %+v", w.decided)
	}
}
