package main

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/oauth"
)

func verifier() string { return rand.Text() + rand.Text() }

func TestAuthorizationCodeByARealClientLibrary(t *testing.T) {
	t.Parallel()
	m := start(t)
	user := m.user(t)
	config := oauth2.Config{
		ClientID: publicID, RedirectURL: loopback, Scopes: []string{"patient:read", "offline_access"},
		Endpoint: oauth2.Endpoint{AuthURL: "https://mesh.example/oauth2/authorize", TokenURL: m.base + "/auth/oauth2/token", AuthStyle: oauth2.AuthStyleInParams},
	}
	proof := oauth2.GenerateVerifier()
	address, err := url.Parse(config.AuthCodeURL("a state of eight", oauth2.S256ChallengeOption(proof)))
	check(t, err)
	code := m.code(t, user, address.Query())
	token, err := config.Exchange(t.Context(), code, oauth2.VerifierOption(proof))
	check(t, err)
	p, found := m.resolve(t, token.AccessToken)
	if !found || p.Kind != principal.Session || p.UserID != user || p.TenantID != m.tenant || p.ClientID != publicID ||
		p.Permissions != principal.PatientRead || p.CredentialID == "" || p.Plan != "free" || p.Environment != "demo" {
		t.Errorf("principal %+v, %v", p, found)
	}
	if token.Extra("scope") != "patient:read offline_access" || token.Extra("expires_in") != float64(900) {
		t.Errorf("scope %v for %v s", token.Extra("scope"), token.Extra("expires_in"))
	}
	token.Expiry = time.Now().Add(-time.Second)
	next, err := config.TokenSource(t.Context(), token).Token()
	if err != nil || next.RefreshToken == token.RefreshToken || next.AccessToken == token.AccessToken {
		t.Errorf("refreshed %v, %v", next, err)
	}
	if again, found := m.resolve(t, next.AccessToken); !found || again.CredentialID != p.CredentialID {
		t.Errorf("after the refresh: %+v, %v", again, found)
	}
}

func TestPermissionsOfAPersonAreTheirRolesNowWithinTheScope(t *testing.T) {
	t.Parallel()
	m := start(t)
	user := m.user(t)
	r := m.signIn(t, user)
	for _, c := range []struct{ roles, want principal.Permission }{
		{principal.All, principal.PatientRead | principal.PatientWrite | principal.TenantRead},
		{principal.PatientRead | principal.KeyManage, principal.PatientRead},
	} {
		m.tenants.join(m.tenant, user, c.roles)
		if p, found := m.resolve(t, r.text("access_token")); !found || p.Permissions != c.want {
			t.Errorf("%v: %v, %v", c.roles, p.Permissions, found)
		}
	}
	m.tenants.join(m.tenant, user, 0)
	if _, found := m.resolve(t, r.text("access_token")); found {
		t.Error("who left the organization still gets in")
	}
	m.refused(t, "refresh of who left", m.post(t, "/oauth2/token", refreshing(r.text("refresh_token"))), 400, "invalid_grant")
	m.tenants.join(m.tenant, user, principal.PatientRead)
	if r := m.post(t, "/oauth2/token", refreshing(r.text("refresh_token"))); r.status != http.StatusOK {
		t.Errorf("back again: %d %s", r.status, r.raw)
	}
}

func TestConfidentialClientRedeemsAndRefreshes(t *testing.T) {
	t.Parallel()
	m := start(t)
	user := m.user(t)
	id, secret := m.webClient(t)
	proof := verifier()
	code := m.code(t, user, asking(proof, "client_id", id, "redirect_uri", webBack, "scope", "patient:read"))
	form := redemption(code, proof, "client_id", id, "redirect_uri", webBack)
	m.refused(t, "without its secret", m.post(t, "/oauth2/token", form), 401, "invalid_client")
	form.Set("client_secret", secret)
	r := m.post(t, "/oauth2/token", form)
	if r.status != http.StatusOK || r.text("scope") != "patient:read" {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	if p, found := m.resolve(t, r.text("access_token")); !found || p.UserID != user || p.ClientID != id {
		t.Errorf("%+v, %v", p, found)
	}
	again := refreshing(r.text("refresh_token"), "client_id", id)
	m.refused(t, "refresh without its secret", m.post(t, "/oauth2/token", again), 401, "invalid_client")
	again.Set("client_secret", secret)
	if r = m.post(t, "/oauth2/token", again); r.status != http.StatusOK {
		t.Errorf("refresh: %d %s", r.status, r.raw)
	}
	if gone := m.ask(t, m.caller(principal.ClientManage), http.MethodDelete, "/v2/oauth2/client/"+id, ""); gone.status != http.StatusOK {
		t.Errorf("delete: %d %s", gone.status, gone.raw)
	}
	if _, found := m.resolve(t, r.text("access_token")); found {
		t.Error("a token outlives its client")
	}
}

// Fosite deletes the PKCE session before it looks at the verifier: a wrong verifier, and then none, got a token.
func TestFositeTrapWrongVerifierThenNone(t *testing.T) {
	t.Parallel()
	m := start(t)
	user := m.user(t)
	proof := verifier()
	code := m.code(t, user, asking(proof))
	m.refused(t, "a wrong verifier", m.post(t, "/oauth2/token", redemption(code, verifier())), 400, "invalid_grant")
	none := redemption(code, "")
	m.refused(t, "then none", m.post(t, "/oauth2/token", none), 400, "invalid_grant")
	none.Del("code_verifier")
	m.refused(t, "then not even an empty one", m.post(t, "/oauth2/token", none), 400, "invalid_grant")
	if r := m.post(t, "/oauth2/token", redemption(code, proof)); r.status != http.StatusOK {
		t.Errorf("the right verifier after wrong ones: %d %s", r.status, r.raw)
	}
}

func TestPKCEDowngradeInThreeForms(t *testing.T) {
	t.Parallel()
	m := start(t)
	user := m.user(t)
	id, _ := m.webClient(t)
	proof := verifier()
	for name, request := range map[string]url.Values{
		"no challenge":                        asking(proof, "code_challenge", "", "code_challenge_method", ""),
		"no challenge, confidential client":   asking(proof, "client_id", id, "redirect_uri", webBack, "scope", "patient:read", "code_challenge", "", "code_challenge_method", ""),
		"plain":                               asking(proof, "code_challenge", proof, "code_challenge_method", "plain"),
		"no method, which would mean plain":   asking(proof, "code_challenge_method", ""),
		"plain with a challenge of S256":      asking(proof, "code_challenge_method", "plain"),
		"a method in another case":            asking(proof, "code_challenge_method", "s256"),
		"a challenge that is no hash":         asking(proof, "code_challenge", "short"),
		"a method without a challenge":        asking(proof, "code_challenge", ""),
		"a challenge longer than any SHA-256": asking(proof, "code_challenge", challengeOf(proof)+"A"),
	} {
		a, refused, err := m.server.BeginAuthorize(t.Context(), request)
		if a != nil || err != nil || refused == nil {
			t.Errorf("%s: %+v, %v", name, a, err)
			continue
		}
		if sent := m.sentTo(t, *refused); sent.Get("error") != "invalid_request" || sent.Get("code") != "" {
			t.Errorf("%s: %v", name, sent)
		}
	}
	// The verifier is left out, though the code has a challenge; and the challenge is sent for the verifier.
	code := m.code(t, user, asking(proof))
	for name, wrong := range map[string]string{"challenge for verifier": challengeOf(proof), "short": "x", "long": strings.Repeat("x", 129)} {
		m.refused(t, name, m.post(t, "/oauth2/token", redemption(code, wrong)), 400, "invalid_grant")
	}
}

func TestCodeInjection(t *testing.T) {
	t.Parallel()
	m := start(t)
	victim, attacker := m.user(t), m.user(t)
	id, secret := m.webClient(t)
	proof, own := verifier(), verifier()
	stolen := m.code(t, victim, asking(proof))
	_ = m.code(t, attacker, asking(own)) // the attacker's own flow, into which the stolen code is put
	m.refused(t, "into the attacker's session", m.post(t, "/oauth2/token", redemption(stolen, own)), 400, "invalid_grant")
	m.refused(t, "at another client", m.post(t, "/oauth2/token",
		redemption(stolen, proof, "client_id", id, "client_secret", secret)), 400, "invalid_grant")
	m.refused(t, "with another redirect URI", m.post(t, "/oauth2/token",
		redemption(stolen, proof, "redirect_uri", "http://127.0.0.1:1/callback")), 400, "invalid_grant")
	without := redemption(stolen, proof)
	without.Del("redirect_uri")
	m.refused(t, "without redirect URI", m.post(t, "/oauth2/token", without), 400, "invalid_grant")
	if r := m.post(t, "/oauth2/token", redemption(stolen, proof)); r.status != http.StatusOK {
		t.Errorf("the victim's own client: %d %s", r.status, r.raw)
	}
}

func TestCodeExpiresAndIsOfThisServer(t *testing.T) {
	t.Parallel()
	m := start(t)
	user := m.user(t)
	proof := verifier()
	code := m.code(t, user, asking(proof))
	for _, made := range []string{"x", code + "x", strings.ToUpper(code), verifier()} {
		m.refused(t, "a made-up code", m.post(t, "/oauth2/token", redemption(made, proof)), 400, "invalid_grant")
	}
	m.clock.move(identity.CodeLifetime)
	m.refused(t, "after a minute", m.post(t, "/oauth2/token", redemption(code, proof)), 400, "invalid_grant")
}

func TestParallelRedemptionHasOneWinnerAndLateReplayEndsIt(t *testing.T) {
	t.Parallel()
	m := start(t)
	user := m.user(t)
	id, secret := m.webClient(t)
	proof := verifier()
	code := m.code(t, user, asking(proof))
	replies := together(16, func() reply { return m.post(t, "/oauth2/token", redemption(code, proof)) })
	var won []reply
	for _, r := range replies {
		if r.status == http.StatusOK {
			won = append(won, r)
			continue
		}
		m.refused(t, "who lost", r, 400, "invalid_grant")
	}
	if len(won) != 1 {
		t.Fatalf("%d of 16 redeemed one code", len(won))
	}
	access := won[0].text("access_token")
	families, err := m.server.FamiliesOf(t.Context(), user)
	if err != nil || len(families) != 1 || families[0].Application == "" || families[0].Agent != "Firefox" {
		t.Errorf("families %+v, %v", families, err)
	}
	m.clock.move(identity.GraceOfReuse)
	m.refused(t, "a replay at once", m.post(t, "/oauth2/token", redemption(code, proof)), 400, "invalid_grant")
	if _, found := m.resolve(t, access); !found {
		t.Error("who sent the code twice at once is signed out")
	}
	m.clock.move(time.Second)
	m.refused(t, "another client's replay", m.post(t, "/oauth2/token", redemption(code, proof, "client_id", id, "client_secret", secret)), 400, "invalid_grant")
	if _, found := m.resolve(t, access); !found {
		t.Error("another client's replay ended the family")
	}
	heard := m.revocations(t)
	m.refused(t, "a late replay", m.post(t, "/oauth2/token", redemption(code, proof)), 400, "invalid_grant")
	hear(t, heard, session.Of(access))
	if _, found := m.resolve(t, access); found {
		t.Error("a late replay leaves the access token")
	}
	m.refused(t, "refresh after a late replay", m.post(t, "/oauth2/token", refreshing(won[0].text("refresh_token"))), 400, "invalid_grant")
}

// together runs f so many times at once.
func together[T any](times int, f func() T) []T {
	results := make([]T, times)
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() { results[i] = f() })
	}
	all.Wait()
	return results
}

func TestRefreshReuseInSequenceEndsTheFamily(t *testing.T) {
	t.Parallel()
	m := start(t)
	first := m.signIn(t, m.user(t))
	second := m.post(t, "/oauth2/token", refreshing(first.text("refresh_token")))
	if second.status != http.StatusOK {
		t.Fatalf("%d %s", second.status, second.raw)
	}
	m.clock.move(identity.GraceOfReuse + time.Second)
	heard := m.revocations(t)
	m.refused(t, "reuse", m.post(t, "/oauth2/token", refreshing(first.text("refresh_token"))), 400, "invalid_grant")
	hear(t, heard, session.Of(second.text("access_token")))
	for _, r := range []reply{first, second} {
		if _, found := m.resolve(t, r.text("access_token")); found {
			t.Error("an access token outlives its family")
		}
	}
	m.refused(t, "the newest after it", m.post(t, "/oauth2/token", refreshing(second.text("refresh_token"))), 400, "invalid_grant")
}

func TestRefreshAfterALostAnswerGetsTheSamePair(t *testing.T) {
	t.Parallel()
	m := start(t)
	first := m.signIn(t, m.user(t))
	second := m.post(t, "/oauth2/token", refreshing(first.text("refresh_token")))
	m.clock.move(identity.GraceOfReuse)
	again := m.post(t, "/oauth2/token", refreshing(first.text("refresh_token")))
	if again.status != http.StatusOK || again.text("access_token") != second.text("access_token") || again.text("refresh_token") != second.text("refresh_token") ||
		again.text("scope") != second.text("scope") {
		t.Errorf("%d %s, want %s", again.status, again.raw, second.raw)
	}
	if third := m.post(t, "/oauth2/token", refreshing(again.text("refresh_token"))); third.status != http.StatusOK {
		t.Errorf("nobody should be signed out: %d %s", third.status, third.raw)
	}
}

func TestRefreshInParallelRotatesOnce(t *testing.T) {
	t.Parallel()
	m := start(t)
	user := m.user(t)
	first := m.signIn(t, user)
	replies := together(16, func() reply { return m.post(t, "/oauth2/token", refreshing(first.text("refresh_token"))) })
	for _, r := range replies {
		if r.status != http.StatusOK || r.text("refresh_token") != replies[0].text("refresh_token") || r.text("access_token") != replies[0].text("access_token") {
			t.Errorf("%d %s, want the pair of %s", r.status, r.raw, replies[0].raw)
		}
	}
	if r := m.post(t, "/oauth2/token", refreshing(replies[0].text("refresh_token"))); r.status != http.StatusOK {
		t.Errorf("the pair is good for nothing: %d %s", r.status, r.raw)
	}
	if _, found := m.resolve(t, replies[0].text("access_token")); !found {
		t.Error("the access token is nobody's")
	}
}

func TestRefreshByAnotherClientChangesNothing(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, secret := m.webClient(t)
	first := m.signIn(t, m.user(t))
	other := func(token string) url.Values { return refreshing(token, "client_id", id, "client_secret", secret) }
	m.refused(t, "a fresh token", m.post(t, "/oauth2/token", other(first.text("refresh_token"))), 400, "invalid_grant")
	second := m.post(t, "/oauth2/token", refreshing(first.text("refresh_token")))
	m.refused(t, "a spent token at once", m.post(t, "/oauth2/token", other(first.text("refresh_token"))), 400, "invalid_grant")
	m.clock.move(identity.GraceOfReuse + time.Second)
	m.refused(t, "a spent token later", m.post(t, "/oauth2/token", other(first.text("refresh_token"))), 400, "invalid_grant")
	if r := m.post(t, "/oauth2/token", refreshing(second.text("refresh_token"))); r.status != http.StatusOK {
		t.Errorf("another client ended the family: %d %s", r.status, r.raw)
	}
}

func TestRefreshScope(t *testing.T) {
	t.Parallel()
	m := start(t)
	first := m.signIn(t, m.user(t))
	for _, more := range []string{"patient:read match:read", "patient:delete", "offline_access", "everything"} {
		m.refused(t, "more: "+more, m.post(t, "/oauth2/token", refreshing(first.text("refresh_token"), "scope", more)), 400, "invalid_scope")
	}
	// Fosite ignores a narrower scope.
	narrow := m.post(t, "/oauth2/token", refreshing(first.text("refresh_token"), "scope", "patient:read"))
	if narrow.status != http.StatusOK || narrow.text("scope") != "patient:read" {
		t.Fatalf("narrower: %d %s", narrow.status, narrow.raw)
	}
	if p, _ := m.resolve(t, narrow.text("access_token")); p.Permissions != principal.PatientRead {
		t.Errorf("narrower: %v", p.Permissions)
	}
	whole := m.post(t, "/oauth2/token", refreshing(narrow.text("refresh_token")))
	if whole.text("scope") != "patient:read patient:write tenant:read" {
		t.Errorf("the family lost its grant: %d %s", whole.status, whole.raw)
	}
}

func TestRefreshTokenSlides(t *testing.T) {
	t.Parallel()
	m := start(t)
	r := m.signIn(t, m.user(t))
	for range 3 {
		m.clock.move(identity.RefreshTokenLifetime - time.Minute)
		if r = m.post(t, "/oauth2/token", refreshing(r.text("refresh_token"))); r.status != http.StatusOK {
			t.Fatalf("%d %s", r.status, r.raw)
		}
	}
	m.clock.move(identity.RefreshTokenLifetime)
	m.refused(t, "after thirty days", m.post(t, "/oauth2/token", refreshing(r.text("refresh_token"))), 400, "invalid_grant")
}

func TestRefreshWithoutTheTenantServiceIsNoWrongToken(t *testing.T) {
	t.Parallel()
	m := start(t)
	r := m.signIn(t, m.user(t))
	m.tenants.leave(true)
	m.refused(t, "away", m.post(t, "/oauth2/token", refreshing(r.text("refresh_token"))), 503, "temporarily_unavailable")
	m.tenants.leave(false)
	if r = m.post(t, "/oauth2/token", refreshing(r.text("refresh_token"))); r.status != http.StatusOK {
		t.Errorf("back: %d %s", r.status, r.raw)
	}
}

func TestRevocationOfAPersonsTokens(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, secret := m.webClient(t)
	first := m.signIn(t, m.user(t))
	access, refresh := first.text("access_token"), first.text("refresh_token")
	for _, token := range []string{access, refresh} {
		if r := m.post(t, "/oauth2/revoke", url.Values{"token": {token}, "client_id": {id}, "client_secret": {secret}}); r.status != http.StatusOK {
			t.Errorf("another client: %d %s", r.status, r.raw)
		}
	}
	if _, found := m.resolve(t, access); !found {
		t.Error("another client revoked the tokens")
	}
	// The public client, by its id alone. An access token ends alone.
	if r := m.post(t, "/oauth2/revoke", url.Values{"token": {access}, "client_id": {publicID}}); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.raw)
	}
	if _, found := m.resolve(t, access); found {
		t.Error("the access token lives on")
	}
	second := m.post(t, "/oauth2/token", refreshing(refresh))
	if second.status != http.StatusOK {
		t.Fatalf("the family ended with an access token: %d %s", second.status, second.raw)
	}
	heard := m.revocations(t)
	if r := m.post(t, "/oauth2/revoke", url.Values{"token": {second.text("refresh_token")}, "token_type_hint": {"access_token"}, "client_id": {publicID}}); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.raw)
	}
	hear(t, heard, session.Of(second.text("access_token")))
	if _, found := m.resolve(t, second.text("access_token")); found {
		t.Error("a refresh token's end leaves the access token")
	}
	m.refused(t, "refresh after revocation", m.post(t, "/oauth2/token", refreshing(second.text("refresh_token"))), 400, "invalid_grant")
}

func TestIntrospectionOfAPersonsTokens(t *testing.T) {
	t.Parallel()
	m := start(t)
	user := m.user(t)
	id, secret := m.webClient(t)
	other, otherSecret := m.webClient(t)
	proof := verifier()
	code := m.code(t, user, asking(proof, "client_id", id, "redirect_uri", webBack, "scope", "patient:read"))
	r := m.post(t, "/oauth2/token", redemption(code, proof, "client_id", id, "client_secret", secret, "redirect_uri", webBack))
	ask := func(token, id, secret string) reply {
		return m.post(t, "/oauth2/introspect", url.Values{"token": {token}, "client_id": {id}, "client_secret": {secret}})
	}
	if about := ask(r.text("access_token"), id, secret); about.body["active"] != true || about.text("sub") != user || about.text("tenantId") != m.tenant || about.text("token_type") != "Bearer" {
		t.Errorf("access: %d %s", about.status, about.raw)
	}
	if about := ask(r.text("refresh_token"), id, secret); about.body["active"] != true || about.text("sub") != user || about.text("token_type") != "" {
		t.Errorf("refresh: %d %s", about.status, about.raw)
	}
	for name, about := range map[string]reply{
		"another client, access":  ask(r.text("access_token"), other, otherSecret),
		"another client, refresh": ask(r.text("refresh_token"), other, otherSecret),
	} {
		if about.raw != `{"active":false}` {
			t.Errorf("%s: %d %s", name, about.status, about.raw)
		}
	}
	m.refused(t, "a public client", m.post(t, "/oauth2/introspect", url.Values{"token": {r.text("access_token")}, "client_id": {publicID}}), 401, "invalid_client")
	m.tenants.join(m.tenant, user, 0)
	if about := ask(r.text("access_token"), id, secret); about.raw != `{"active":false}` {
		t.Errorf("who left: %s", about.raw)
	}
}

func TestFamiliesBeginSwitchAndEndWithoutACode(t *testing.T) {
	t.Parallel()
	m := start(t)
	user, stranger, second := m.user(t), m.user(t), m.newTenant(t)
	first, err := m.server.Start(t.Context(), identity.FamilyDraft{ClientID: publicID, UserID: user, TenantID: m.tenant, Agent: "launch"})
	check(t, err)
	if p, found := m.resolve(t, first.AccessToken); !found || p.CredentialID != first.FamilyID || p.Permissions != principal.PatientRead|principal.PatientWrite {
		t.Errorf("%+v, %v", p, found)
	}
	if _, err := m.server.Start(t.Context(), identity.FamilyDraft{ClientID: publicID, UserID: user, TenantID: second}); err == nil {
		t.Error("a family in a tenant that the user is not in")
	}
	if _, err := m.server.SwitchFamily(t.Context(), user, first.FamilyID, second, true); err == nil {
		t.Error("switched to a tenant that the user is not in")
	}
	if _, found := m.resolve(t, first.AccessToken); !found {
		t.Error("a refused switch ended a token")
	}
	m.tenants.join(second, user, principal.TenantRead)
	m.tenants.join(second, stranger, principal.TenantRead)
	if done, err := m.server.SwitchFamily(t.Context(), stranger, first.FamilyID, second, true); err != nil || done {
		t.Error("somebody else's family was switched")
	}
	heard := m.revocations(t)
	done, err := m.server.SwitchFamily(t.Context(), user, first.FamilyID, second, true)
	if err != nil || !done {
		t.Fatalf("switch: %v, %v", done, err)
	}
	hear(t, heard, session.Of(first.AccessToken))
	if _, found := m.resolve(t, first.AccessToken); found {
		t.Error("the old token lives on after a switch with revokeToken")
	}
	r := m.post(t, "/auth/oauth2/token", refreshing(first.RefreshToken))
	if p, found := m.resolve(t, r.text("access_token")); !found || p.TenantID != second || p.Permissions != principal.TenantRead {
		t.Errorf("%+v, %v", p, found)
	}
	if _, err := m.server.Exchange(t.Context(), identity.Exchange{RefreshToken: r.text("refresh_token"), ClientID: publicID, UserID: stranger}); err == nil {
		t.Error("somebody else's refresh token was exchanged")
	}
	nowhere := m.newTenant(t)
	if _, err := m.server.Exchange(t.Context(), identity.Exchange{RefreshToken: r.text("refresh_token"), ClientID: publicID, TenantID: nowhere}); err == nil {
		t.Error("exchanged into a tenant that the user is not in")
	}
	back, err := m.server.Exchange(t.Context(), identity.Exchange{RefreshToken: r.text("refresh_token"), ClientID: publicID, UserID: user, TenantID: m.tenant})
	check(t, err)
	if p, found := m.resolve(t, back.AccessToken); !found || p.TenantID != m.tenant {
		t.Errorf("%+v, %v", p, found)
	}
	if p, found := m.resolve(t, r.text("access_token")); !found || p.TenantID != second {
		t.Errorf("without revokeToken the old token lives on: %+v, %v", p, found)
	}
	last, err := m.server.Exchange(t.Context(), identity.Exchange{RefreshToken: back.RefreshToken, ClientID: publicID, TenantID: second, Revoke: true})
	check(t, err)
	if _, found := m.resolve(t, back.AccessToken); found {
		t.Error("the old token lives on after an exchange with revokeToken")
	}
	if p, found := m.resolve(t, last.AccessToken); !found || p.TenantID != second {
		t.Errorf("%+v, %v", p, found)
	}
	for _, c := range []struct {
		who  string
		done bool
	}{{stranger, false}, {user, true}, {user, false}} {
		if done, err := m.server.EndFamily(t.Context(), c.who, first.FamilyID, false); err != nil || done != c.done {
			t.Errorf("ended by %s: %v, %v", c.who, done, err)
		}
	}
	if _, found := m.resolve(t, last.AccessToken); found {
		t.Error("the end of the family leaves its token")
	}
}

func TestEndOfAllFamiliesAlsoTakesCodes(t *testing.T) {
	t.Parallel()
	m := start(t)
	user, other := m.user(t), m.user(t)
	one, two, spared := m.signIn(t, user), m.signIn(t, user), m.signIn(t, other)
	proof := verifier()
	code := m.code(t, user, asking(proof))
	check(t, m.people.EndAllSessions(t.Context(), identity.SignIn{ID: newID(t), UserID: user}))
	for _, r := range []reply{one, two} {
		if _, found := m.resolve(t, r.text("access_token")); found {
			t.Error("a token is left")
		}
		m.refused(t, "refresh", m.post(t, "/oauth2/token", refreshing(r.text("refresh_token"))), 400, "invalid_grant")
	}
	m.refused(t, "a code of before", m.post(t, "/oauth2/token", redemption(code, proof)), 400, "invalid_grant")
	if _, found := m.resolve(t, spared.text("access_token")); !found {
		t.Error("somebody else's token ended")
	}
	if list, err := m.server.FamiliesOf(t.Context(), user); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// Attack: whoever holds a browser's session asks for codes again and again while its owner ends it.
func TestABrowserSessionThatHasEndedIsGivenNoCode(t *testing.T) {
	t.Parallel()
	m := start(t)
	user := m.user(t)
	a, refused, err := m.server.BeginAuthorize(t.Context(), asking(verifier()))
	if err != nil || refused != nil {
		t.Fatalf("%+v, %v", refused, err)
	}
	in := m.browsing(t, user, identity.ByPassword)
	if done, err := m.people.SignIns.EndSignIn(t.Context(), user, in, audit.Entry{}); err != nil || !done {
		t.Fatalf("%v, %v", done, err)
	}
	r, err := m.server.Grant(t.Context(), a, oauth.Decision{UserID: user, TenantID: m.tenant, SignInID: in, Scopes: a.Scopes})
	check(t, err)
	if sent := m.sentTo(t, r); sent.Has("code") || sent.Get("error") != "login_required" {
		t.Errorf("%v", sent)
	}
}

func TestConsentIsRememberedPerClientAndScope(t *testing.T) {
	t.Parallel()
	m := start(t)
	user, other := m.user(t), m.user(t)
	check(t, m.server.Consent(t.Context(), user, publicID, []string{"patient:read"}))
	check(t, m.server.Consent(t.Context(), user, publicID, []string{"match:read", "patient:read"}))
	scopes, err := m.server.Consented(t.Context(), user, publicID)
	if err != nil || strings.Join(scopes, " ") != "match:read patient:read" {
		t.Errorf("%v, %v", scopes, err)
	}
	for who, client := range map[string]string{user: "another", other: publicID} {
		if scopes, err := m.server.Consented(t.Context(), who, client); err != nil || len(scopes) != 0 {
			t.Errorf("%s at %s: %v, %v", who, client, scopes, err)
		}
	}
}

func TestParallelExchangeWithRevocationLeavesTheNewPair(t *testing.T) {
	t.Parallel()
	m := start(t)
	user, second := m.user(t), m.newTenant(t)
	m.tenants.join(second, user, principal.TenantRead)
	first := m.signIn(t, user)
	results := together(8, func() identity.Exchanged {
		x, err := m.server.Exchange(t.Context(), identity.Exchange{
			UserID: user, ClientID: publicID, TenantID: second, RefreshToken: first.text("refresh_token"), Revoke: true,
		})
		if err != nil {
			t.Error(err)
		}
		return x
	})
	for _, x := range results {
		if x.AccessToken != results[0].AccessToken || x.RefreshToken != results[0].RefreshToken {
			t.Error("one refresh token gave two pairs")
		}
	}
	if p, found := m.resolve(t, results[0].AccessToken); !found || p.TenantID != second {
		t.Errorf("who came second ended the new token: %+v, %v", p, found)
	}
	if _, found := m.resolve(t, first.text("access_token")); found {
		t.Error("the old token lives on")
	}
}
