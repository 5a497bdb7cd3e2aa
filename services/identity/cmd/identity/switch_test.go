package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// traveller is a member of two tenants, with a session in the first.
type traveller struct {
	user, one, two string
	tokens         identity.Tokens
	by             principal.Principal
}

func (m *meshed) traveller(t testing.TB) traveller {
	t.Helper()
	w := traveller{one: m.tenant, two: m.newTenant(t), user: m.user(t)}
	m.tenants.join(w.two, w.user, principal.PatientRead)
	check(t, m.tenants.PutMember(t.Context(), w.one, w.user, []string{ownerRole}))
	check(t, m.tenants.PutMember(t.Context(), w.two, w.user, []string{readerRole}))
	var err error
	w.tokens, err = m.server.Start(t.Context(), identity.FamilyDraft{ClientID: publicID, UserID: w.user, TenantID: w.one})
	check(t, err)
	var found bool
	if w.by, found = m.resolve(t, w.tokens.AccessToken); !found {
		t.Fatal("a new token is nobody's")
	}
	return w
}

// Attack: going on with the token of before a switch.
func TestTheOldTokenAfterASwitch(t *testing.T) {
	t.Parallel()
	m := start(t)
	w := m.traveller(t)
	r := m.ask(t, w.by, http.MethodGet, "/v2/user/switch-tenant/"+w.two+"?revokeToken=false", "")
	if r.status != http.StatusOK || r.text("tenantId") != w.two || !strings.Contains(r.raw, "Records Reader") {
		t.Errorf("%d %s", r.status, r.raw)
	}
	if p, found := m.resolve(t, w.tokens.AccessToken); !found || p.TenantID != w.one {
		t.Errorf("without revokeToken the old token lives on for its own tenant: %+v, %v", p, found)
	}
	heard := m.revocations(t)
	if r := m.ask(t, w.by, http.MethodGet, "/v2/user/switch-tenant/"+w.two, ""); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.raw)
	}
	hear(t, heard, session.Of(w.tokens.AccessToken))
	if _, found := m.resolve(t, w.tokens.AccessToken); found {
		t.Error("the old token survived a switch with revokeToken")
	}
}

// Attack: entering an organization that requires a second factor from one that does not.
func TestASwitchDoesNotGoAroundTheSecondFactor(t *testing.T) {
	t.Parallel()
	m := start(t)
	w := m.traveller(t)
	m.tenants.require(w.two, true)
	enter := func(strong bool) (get, post reply) {
		tokens, err := m.server.Start(t.Context(), identity.FamilyDraft{ClientID: publicID, UserID: w.user, TenantID: w.one, Strong: strong})
		check(t, err)
		by, _ := m.resolve(t, tokens.AccessToken)
		body := `{"tenantId": "` + w.two + `", "userId": "` + w.user + `", "refreshToken": "` + tokens.RefreshToken + `", "revokeToken": false}`
		get = m.ask(t, by, http.MethodGet, "/v2/user/switch-tenant/"+w.two+"?revokeToken=false", "")
		return get, m.ask(t, by, http.MethodPost, "/tenant/switch-tenant", body)
	}
	get, post := enter(false)
	expect(t, "switched", get, http.StatusForbidden, "mfa_required")
	expect(t, "exchanged", post, http.StatusForbidden, "mfa_required")
	if get, post := enter(true); get.status != http.StatusOK || post.status != http.StatusOK {
		t.Errorf("with a second factor: %d %s, %d %s", get.status, get.raw, post.status, post.raw)
	}
}

func TestExchangeOfARefreshTokenForAnotherTenant(t *testing.T) {
	t.Parallel()
	m := start(t)
	w := m.traveller(t)
	body := func(tenant, user, token string) string {
		return `{"tenantId": "` + tenant + `", "userId": "` + user + `", "refreshToken": "` + token + `"}`
	}
	const path = "/tenant/switch-tenant"
	expect(t, "another user's id", m.ask(t, w.by, http.MethodPost, path, body(w.two, newID(t), w.tokens.RefreshToken)), http.StatusForbidden, "another_user")
	expect(t, "not a member", m.ask(t, w.by, http.MethodPost, path, body(m.newTenant(t), w.user, w.tokens.RefreshToken)), http.StatusForbidden, "not_a_member")
	expect(t, "nothing given", m.ask(t, w.by, http.MethodPost, path, `{}`), http.StatusBadRequest, "invalid_request")
	expect(t, "made up", m.ask(t, w.by, http.MethodPost, path, body(w.two, w.user, "made-up")), http.StatusBadRequest, "invalid_grant")
	r := m.ask(t, w.by, http.MethodPost, path+"?tenantId="+w.two+"&userId="+w.user, `{"refreshToken": "`+w.tokens.RefreshToken+`"}`)
	if r.status != http.StatusOK || r.text("token_type") != "Bearer" || r.text("refresh_token") == "" || r.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	if p, found := m.resolve(t, r.text("access_token")); !found || p.TenantID != w.two {
		t.Errorf("the new token: %+v, %v", p, found)
	}
	if _, found := m.resolve(t, w.tokens.AccessToken); found {
		t.Error("the old token survived")
	}
}

func TestSwitchIsForMembersWhoAreSignedIn(t *testing.T) {
	t.Parallel()
	m := start(t)
	w := m.traveller(t)
	expect(t, "not a member", m.ask(t, w.by, http.MethodGet, "/v2/user/switch-tenant/"+m.newTenant(t), ""), http.StatusForbidden, "not_a_member")
	expect(t, "a flag that is none", m.ask(t, w.by, http.MethodGet, "/v2/user/switch-tenant/"+w.two+"?revokeToken=x", ""), http.StatusBadRequest, "invalid_request")
	key := w.by
	key.Kind = principal.APIKey
	expect(t, "an API key", m.ask(t, key, http.MethodGet, "/v2/user/switch-tenant/"+w.two, ""), http.StatusForbidden, "no_session")
}

func TestLogoutEndsTheSession(t *testing.T) {
	t.Parallel()
	m := start(t)
	w := m.traveller(t)
	heard := m.revocations(t)
	if r := m.ask(t, w.by, http.MethodPost, "/auth/user/logout", ""); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.raw)
	}
	hear(t, heard, session.Of(w.tokens.AccessToken))
	if _, found := m.resolve(t, w.tokens.AccessToken); found {
		t.Error("signed out and still in")
	}
}
