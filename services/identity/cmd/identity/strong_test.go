package main

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/launch"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/oauth"
)

// began signs a member in at an application, by a password alone or by more.
func (m *meshed) began(t testing.TB, strong bool) (access, refresh string) {
	t.Helper()
	user, proof := m.user(t), rand.Text()+rand.Text()
	methods := []string{identity.ByPassword}
	if strong {
		methods = append(methods, identity.ByOneTime)
	}
	a, refused, err := m.server.BeginAuthorize(t.Context(), asking(proof, "scope", "patient:read"))
	if err != nil || refused != nil {
		t.Fatalf("%+v, %v", refused, err)
	}
	sent, err := m.server.Grant(t.Context(), a, oauth.Decision{
		UserID: user, TenantID: m.tenant, Strong: strong, SignInID: m.browsing(t, user, methods...), Agent: "Firefox", Scopes: a.Scopes,
	})
	check(t, err)
	r := m.post(t, "/oauth2/token", redemption(m.sentTo(t, sent).Get("code"), proof))
	if _, found := m.resolve(t, r.text("access_token")); !found {
		t.Fatalf("redeem: %d %s", r.status, r.raw)
	}
	return r.text("access_token"), r.text("refresh_token")
}

// lives reports whether the tokens of a session do, which is the same for both, and gives the next pair.
func (m *meshed) lives(t testing.TB, what string, want bool, access, refresh string) (nextAccess, nextRefresh string) {
	t.Helper()
	if _, found := m.resolve(t, access); found != want {
		t.Errorf("%s: the access token is somebody's: %v", what, found)
	}
	r := m.post(t, "/oauth2/token", refreshing(refresh))
	if !want {
		m.refused(t, what, r, http.StatusBadRequest, "invalid_grant")
		return access, refresh
	}
	if _, found := m.resolve(t, r.text("access_token")); r.status != http.StatusOK || !found {
		t.Errorf("%s: refreshed: %d %s", what, r.status, r.raw)
	}
	return r.text("access_token"), r.text("refresh_token")
}

// Attack: going on for months with what a stolen password alone began, in an organization that requires more by now.
func TestATenantComesToRequireASecondFactor(t *testing.T) {
	t.Parallel()
	m := start(t)
	for _, strong := range []bool{false, true} {
		m.tenants.require(m.tenant, false)
		access, refresh := m.began(t, strong)
		spent := refresh
		access, refresh = m.lives(t, "before", true, access, refresh)
		m.tenants.require(m.tenant, true)
		if again := m.post(t, "/oauth2/token", refreshing(spent)); (again.status == http.StatusOK) != strong {
			t.Errorf("strong %v: the answer of before, once more: %d %s", strong, again.status, again.raw)
		}
		access, refresh = m.lives(t, "required", strong, access, refresh)
		m.tenants.require(m.tenant, false) // what was refused has not ended
		m.lives(t, "required no more", true, access, refresh)
	}
}

// A client is told of its tokens what the gateways would say.
func TestIntrospectionKnowsOfTheSecondFactor(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, secret := m.webClient(t)
	user := m.user(t)
	for _, strong := range []bool{false, true} {
		m.tenants.require(m.tenant, false)
		tokens, err := m.server.Start(t.Context(), identity.FamilyDraft{ClientID: id, UserID: user, TenantID: m.tenant, Strong: strong})
		check(t, err)
		m.tenants.require(m.tenant, true)
		for _, token := range []string{tokens.AccessToken, tokens.RefreshToken} {
			r := m.post(t, "/oauth2/introspect", url.Values{"token": {token}, "client_id": {id}, "client_secret": {secret}})
			if r.status != http.StatusOK || strings.Contains(r.raw, `"active":true`) != strong {
				t.Errorf("strong %v: %d %s", strong, r.status, r.raw)
			}
		}
	}
}

// No session that is weak begins where more is required.
func TestNoWeakSessionBeginsWhereMoreIsRequired(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.tenants.require(m.tenant, true)
	user, proof := m.user(t), rand.Text()+rand.Text()
	a, _, err := m.server.BeginAuthorize(t.Context(), asking(proof, "scope", "patient:read"))
	check(t, err)
	for _, strong := range []bool{false, true} {
		r, err := m.server.Grant(t.Context(), a, oauth.Decision{UserID: user, TenantID: m.tenant, Strong: strong, Scopes: a.Scopes})
		check(t, err)
		if sent := m.sentTo(t, r); (sent.Get("code") != "") != strong || (sent.Get("error") == "access_denied") == strong {
			t.Errorf("strong %v: sent back with %v", strong, sent)
		}
		_, err = m.server.Start(t.Context(), identity.FamilyDraft{ClientID: publicID, UserID: user, TenantID: m.tenant, Strong: strong})
		if (err == nil) != strong {
			t.Errorf("strong %v: %v", strong, err)
		}
	}
}

// Attack: laundering a weak session by a launch.
func TestALaunchIsAsStrongAsTheSessionThatLaunched(t *testing.T) {
	t.Parallel()
	m := start(t)
	a, user := m.application(t, ""), m.user(t)
	launcher := m.caller(principal.PatientRead)
	launcher.UserID = user
	family := func(strong bool) string {
		tokens, err := m.server.Start(t.Context(), identity.FamilyDraft{ClientID: publicID, UserID: user, TenantID: m.tenant, Strong: strong})
		check(t, err)
		by, _ := m.resolve(t, tokens.AccessToken)
		return by.CredentialID
	}
	somebody, err := m.server.Start(t.Context(), identity.FamilyDraft{ClientID: publicID, UserID: m.user(t), TenantID: m.tenant, Strong: true})
	check(t, err)
	for name, session := range map[string]struct {
		id     string
		strong bool
	}{
		"a weak family":           {family(false), false},
		"a strong family":         {family(true), true},
		"somebody else's family":  {somebody.FamilyID, false},
		"a browser by password":   {m.browsing(t, user, identity.ByPassword), false},
		"a browser by more":       {m.browsing(t, user, identity.ByPassword, identity.ByMail), true},
		"a browser by a provider": {m.browsing(t, user, identity.ByFederated), true},
		"nobody knows what":       {newID(t), false},
	} {
		m.tenants.require(m.tenant, false)
		launcher.CredentialID = session.id
		l, late := m.launch(t, launcher, a), m.launch(t, launcher, a)
		r := m.exchange(t, launch.Sign(a.secret, l.SecurityCode), l.SecurityCode)
		if r.status != http.StatusOK {
			t.Fatalf("%s: %d %s", name, r.status, r.raw)
		}
		m.tenants.require(m.tenant, true)
		m.lives(t, name, session.strong, r.text("access_token"), r.text("refresh_token"))
		r = m.exchange(t, launch.Sign(a.secret, late.SecurityCode), late.SecurityCode)
		if (r.status == http.StatusOK) != session.strong || (r.status == http.StatusUnauthorized) == session.strong {
			t.Errorf("%s: a code under way: %d %s", name, r.status, r.raw)
		}
	}
}
