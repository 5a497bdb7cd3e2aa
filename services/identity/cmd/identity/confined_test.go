package main

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/launch"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/oauth"
)

// confined is a member of two tenants whom the first one's provider has signed in at an application.
func (m *meshed) confined(t testing.TB) (w traveller, access, refresh string) {
	t.Helper()
	w = m.traveller(t)
	proof := rand.Text() + rand.Text()
	a, refused, err := m.server.BeginAuthorize(t.Context(), asking(proof, "scope", "patient:read"))
	if err != nil || refused != nil {
		t.Fatalf("%+v, %v", refused, err)
	}
	sent, err := m.server.Grant(t.Context(), a, oauth.Decision{
		UserID: w.user, TenantID: w.one, Confined: true, SignInID: m.browsing(t, w.user, identity.ByFederated), Agent: "Firefox", Scopes: a.Scopes,
	})
	check(t, err)
	r := m.post(t, "/oauth2/token", redemption(m.sentTo(t, sent).Get("code"), proof))
	if r.status != http.StatusOK {
		t.Fatalf("redeem: %d %s", r.status, r.raw)
	}
	var found bool
	if w.by, found = m.resolve(t, r.text("access_token")); !found {
		t.Fatal("a new token is nobody's")
	}
	return w, r.text("access_token"), r.text("refresh_token")
}

// Attack: an organization's provider signs in one of its members, whom it can be anybody as, and goes on in another
// organization of theirs.
func TestAConfinedSessionStaysInItsTenant(t *testing.T) {
	t.Parallel()
	m := start(t)
	w, access, refresh := m.confined(t)
	for name, r := range map[string]reply{
		"switched":                m.ask(t, w.by, http.MethodGet, "/v2/user/switch-tenant/"+w.two, ""),
		"switched without ending": m.ask(t, w.by, http.MethodGet, "/v2/user/switch-tenant/"+w.two+"?revokeToken=false", ""),
		"exchanged": m.ask(t, w.by, http.MethodPost, "/tenant/switch-tenant",
			`{"tenantId": "`+w.two+`", "userId": "`+w.user+`", "refreshToken": "`+refresh+`"}`),
	} {
		expect(t, name, r, http.StatusForbidden, "confined")
	}
	if p, found := m.resolve(t, access); !found || p.TenantID != w.one {
		t.Errorf("what was refused has changed something: %+v, %v", p, found)
	}
	again := m.post(t, "/oauth2/token", refreshing(refresh, "tenantId", w.two, "tenant_id", w.two))
	if p, found := m.resolve(t, again.text("access_token")); !found || p.TenantID != w.one {
		t.Errorf("refreshed: %d %+v", again.status, p)
	}
	// In its own tenant everything goes on, and the database refuses whoever forgets to ask.
	if r := m.ask(t, w.by, http.MethodGet, "/v2/user/switch-tenant/"+w.one+"?revokeToken=false", ""); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.raw)
	}
	if moved, err := m.grants.MoveFamily(t.Context(), w.user, w.by.CredentialID, w.two, false, entryIn(t, w.two)); moved || err != nil {
		t.Errorf("moved: %v, %v", moved, err)
	}
}

// Attack: the same, to see or change the account itself.
func TestAConfinedSessionIsNotTheAccountsOwner(t *testing.T) {
	t.Parallel()
	m := start(t)
	user, own := m.registered(t, "ada@example.org")
	m.tenants.join(m.tenant, user, principal.PatientRead)
	check(t, m.tenants.PutMember(t.Context(), m.tenant, user, []string{readerRole}))
	for _, confined := range []bool{true, false} {
		tokens, err := m.server.Start(t.Context(), identity.FamilyDraft{ClientID: publicID, UserID: user, TenantID: m.tenant, Confined: confined})
		check(t, err)
		by, _ := m.resolve(t, tokens.AccessToken)
		r := m.ask(t, by, http.MethodGet, "/v2/user/myself", "")
		if r.status != http.StatusOK || !strings.Contains(r.raw, m.tenant) || strings.Contains(r.raw, own) == confined {
			t.Errorf("confined %v: %d %s", confined, r.status, r.raw)
		}
		r = m.ask(t, by, http.MethodGet, "/mfa/code", "")
		if (r.text("code") == "confined") != confined || (r.status == http.StatusForbidden) != confined {
			t.Errorf("confined %v: %d %s", confined, r.status, r.raw)
		}
	}
}

// Attack: out of one's organization by a launch. Whoever was not held to one before is not held by it either.
func TestALaunchIsAsConfinedAsTheSessionThatLaunched(t *testing.T) {
	t.Parallel()
	m := start(t)
	a, w := m.application(t, ""), m.traveller(t)
	family := func(confined bool) string {
		tokens, err := m.server.Start(t.Context(), identity.FamilyDraft{
			ClientID: publicID, UserID: w.user, TenantID: w.one, Confined: confined, Scope: []string{"patient:read"},
		})
		check(t, err)
		return tokens.FamilyID
	}
	for name, session := range map[string]struct {
		id   string
		free bool
	}{
		"a family of one organization's": {family(true), false},
		"a family of the user's":         {family(false), true},
		"a browser by password":          {m.browsing(t, w.user, identity.ByPassword), true},
		"a browser by a provider":        {m.browsing(t, w.user, identity.ByFederated), false},
		"nobody knows what":              {newID(t), false},
	} {
		launcher := w.by
		launcher.CredentialID = session.id
		l := m.launch(t, launcher, a)
		r := m.exchange(t, launch.Sign(a.secret, l.SecurityCode), l.SecurityCode)
		if r.status != http.StatusOK {
			t.Fatalf("%s: %d %s", name, r.status, r.raw)
		}
		launched, _ := m.resolve(t, r.text("access_token"))
		switched := m.ask(t, launched, http.MethodGet, "/v2/user/switch-tenant/"+w.two, "")
		if want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[session.free]; switched.status != want {
			t.Errorf("%s: %d %s", name, switched.status, switched.raw)
		}
	}
}
