package main

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

func credentialsForm(id, secret string, more ...string) url.Values {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}
	for i := 0; i+1 < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return form
}

func TestClientCredentialsByARealClientLibrary(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, secret := m.client(t, "Records Reader")
	for name, style := range map[string]oauth2.AuthStyle{"basic": oauth2.AuthStyleInHeader, "post": oauth2.AuthStyleInParams} {
		for _, path := range []string{"/oauth2/token", "/auth/oauth2/token"} {
			c := clientcredentials.Config{
				ClientID: id, ClientSecret: secret, TokenURL: m.base + path, AuthStyle: style, Scopes: []string{"patient:read", "tenant:read"},
			}
			token, err := c.Token(t.Context())
			if err != nil {
				t.Fatalf("%s at %s: %v", name, path, err)
			}
			if token.Type() != "Bearer" || token.Extra("scope") != "patient:read tenant:read" || token.Extra("expires_in") != float64(900) {
				t.Errorf("%s: %s token with %v for %v s", name, token.Type(), token.Extra("scope"), token.Extra("expires_in"))
			}
			p, found := m.resolve(t, token.AccessToken)
			if !found || p.Kind != principal.Client || p.ClientID != id || p.TenantID != m.tenant || p.UserID != "" || p.CredentialID == "" ||
				p.Permissions != principal.PatientRead|principal.TenantRead || p.Plan != "free" || p.Environment != "demo" || p.ExpiresAt.IsZero() {
				t.Errorf("%s: principal %+v, %v", name, p, found)
			}
		}
	}
}

func TestTokenWithoutScopeGetsAllThatTheClientHas(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, secret := m.client(t, "Records Reader")
	r := m.post(t, "/oauth2/token", credentialsForm(id, secret))
	if r.status != http.StatusOK || r.text("scope") != "patient:read document:read tenant:read" {
		t.Errorf("%d %s", r.status, r.raw)
	}
	if r.header.Get("Cache-Control") != "no-store" || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", r.header)
	}
}

func TestTokenErrors(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, secret := m.client(t, "Records Reader")
	otherID, otherSecret := m.client(t, "Records Reader")
	basic := func(id, secret string) string {
		r, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, "/", nil)
		r.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret))
		return r.Header.Get("Authorization")
	}
	plain := url.Values{"grant_type": {"client_credentials"}}
	for _, c := range []struct {
		name   string
		form   url.Values
		header []string
		status int
		code   string
	}{
		{"wrong secret", credentialsForm(id, "x"+secret[1:]), nil, 401, "invalid_client"},
		{"another client's secret", credentialsForm(id, otherSecret), nil, 401, "invalid_client"},
		{"unknown client", credentialsForm(m.tenant, secret), nil, 401, "invalid_client"},
		{"client id of no form", credentialsForm("root", secret), nil, 401, "invalid_client"},
		{"no credentials", plain, nil, 401, "invalid_client"},
		{"no secret", url.Values{"grant_type": {"client_credentials"}, "client_id": {id}}, nil, 401, "invalid_client"},
		{"wrong basic", plain, []string{"Authorization", basic(id, "wrong")}, 401, "invalid_client"},
		{"basic that is none", plain, []string{"Authorization", "Basic !!!"}, 401, "invalid_client"},
		{"a bearer for a client", plain, []string{"Authorization", "Bearer x"}, 401, "invalid_client"},
		{"an assertion", credentialsForm("", "", "client_assertion", "x.y.z"), nil, 401, "invalid_client"},
		{"basic with another's client_id", url.Values{"grant_type": {"client_credentials"}, "client_id": {otherID}}, []string{"Authorization", basic(id, secret)}, 400, "invalid_request"},
		{"basic and post", credentialsForm(id, secret), []string{"Authorization", basic(id, secret)}, 400, "invalid_request"},
		{"two Authorization headers", plain, []string{"Authorization", basic(id, secret), "Authorization", basic(otherID, otherSecret)}, 400, "invalid_request"},
		{"no grant type", url.Values{"client_id": {id}, "client_secret": {secret}}, nil, 400, "invalid_request"},
		{"nothing", url.Values{}, nil, 400, "invalid_request"},
		{"a parameter twice", url.Values{"grant_type": {"client_credentials"}, "client_id": {id, otherID}, "client_secret": {secret}}, nil, 400, "invalid_request"},
		{"grant type twice", url.Values{"grant_type": {"client_credentials", "password"}, "client_id": {id}, "client_secret": {secret}}, nil, 400, "invalid_request"},
		{"an audience", credentialsForm(id, secret, "audience", "https://elsewhere.example"), nil, 400, "invalid_request"},
		{"password grant", credentialsForm(id, secret, "grant_type", "password", "username", "u", "password", "p"), nil, 400, "unsupported_grant_type"},
		{"jwt-bearer grant", credentialsForm(id, secret, "grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), nil, 400, "unsupported_grant_type"},
		{"two grants in one", credentialsForm(id, secret, "grant_type", "client_credentials password"), nil, 400, "unsupported_grant_type"},
		{"scope it lacks", credentialsForm(id, secret, "scope", "patient:read patient:write"), nil, 400, "invalid_scope"},
		{"scope there is not", credentialsForm(id, secret, "scope", "everything"), nil, 400, "invalid_scope"},
		{"offline_access without refresh", credentialsForm(id, secret, "scope", "offline_access"), nil, 400, "invalid_scope"},
	} {
		r := m.post(t, "/oauth2/token", c.form, c.header...)
		if r.status != c.status || r.text("error") != c.code {
			t.Errorf("%s: %d %s, want %d %s", c.name, r.status, r.raw, c.status, c.code)
		}
		if r.header.Get("Cache-Control") != "no-store" || r.text("access_token") != "" {
			t.Errorf("%s: %v %s", c.name, r.header, r.raw)
		}
		challenge := r.header.Get("WWW-Authenticate")
		if (challenge != "") != (r.status == http.StatusUnauthorized && len(c.header) > 0) {
			t.Errorf("%s: challenge %q", c.name, challenge)
		}
	}
}

func TestTokenRequestOfAnotherForm(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, secret := m.client(t, "Records Reader")
	for name, c := range map[string]struct{ contentType, body string }{
		"JSON":             {"application/json", `{"grant_type": "client_credentials"}`},
		"no content type":  {"", credentialsForm(id, secret).Encode()},
		"plain text":       {"text/plain", credentialsForm(id, secret).Encode()},
		"multipart":        {"multipart/form-data; boundary=x", "--x--"},
		"broken encoding":  {"application/x-www-form-urlencoded", "grant_type=%zz"},
		"a very long form": {"application/x-www-form-urlencoded", credentialsForm(id, secret, "pad", strings.Repeat("x", 100_000)).Encode()},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.base+"/oauth2/token", strings.NewReader(c.body))
		check(t, err)
		request.Header["Content-Type"] = []string{c.contentType}
		if r := send(t, request); r.status != http.StatusBadRequest || r.text("error") != "invalid_request" {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	// A charset and an empty parameter are no faults.
	r := m.post(t, "/oauth2/token", credentialsForm(id, secret, "scope", ""), "Accept", "*/*")
	if r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.raw)
	}
}

func TestTenantServiceAwayIsNoWrongSecret(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, secret := m.client(t, "Records Reader")
	m.tenants.leave(true)
	r := m.post(t, "/oauth2/token", credentialsForm(id, secret))
	if r.status != http.StatusServiceUnavailable || r.text("error") != "temporarily_unavailable" || r.header.Get("Retry-After") == "" {
		t.Errorf("%d %s %v", r.status, r.raw, r.header)
	}
	m.tenants.leave(false)
	if r = m.post(t, "/oauth2/token", credentialsForm(id, secret)); r.status != http.StatusOK {
		t.Errorf("back again: %d %s", r.status, r.raw)
	}
}

func TestTokenExpires(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, secret := m.client(t, "Owner")
	token := m.token(t, id, secret)
	m.clock.move(14 * time.Minute)
	if _, found := m.resolve(t, token); !found {
		t.Error("gone after 14 minutes")
	}
	m.clock.move(time.Minute + time.Second)
	if _, found := m.resolve(t, token); found {
		t.Error("still there after 15 minutes")
	}
}

func TestMadeUpTokensAreNobodys(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, secret := m.client(t, "Owner")
	token := m.token(t, id, secret)
	for _, made := range []string{"", "x", "x.y", token + "x", "x" + token[1:], strings.ToUpper(token), "prs_demo_x", strings.Repeat("a", 4000)} {
		if _, found := m.resolve(t, made); found {
			t.Errorf("%q is somebody's", made)
		}
	}
}

func TestRevocation(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, secret := m.client(t, "Owner")
	otherID, otherSecret := m.client(t, "Owner")
	token := m.token(t, id, secret)
	heard := m.revocations(t)

	if r := m.post(t, "/oauth2/revoke", url.Values{"token": {token}, "client_id": {otherID}, "client_secret": {otherSecret}}); r.status != http.StatusOK {
		t.Errorf("another client: %d %s", r.status, r.raw)
	}
	if _, found := m.resolve(t, token); !found {
		t.Fatal("another client revoked the token")
	}
	for _, hint := range []string{"access_token", "refresh_token", "nonsense", ""} {
		r := m.post(t, "/oauth2/revoke", url.Values{"token": {token}, "token_type_hint": {hint}, "client_id": {id}, "client_secret": {secret}})
		if r.status != http.StatusOK || r.raw != "" {
			t.Errorf("hint %q: %d %s", hint, r.status, r.raw)
		}
	}
	if _, found := m.resolve(t, token); found {
		t.Error("the token lives on")
	}
	hear(t, heard, session.Of(token))
	look, err := session.Store{Redis: m.redis}.Find(t.Context(), session.HashOf(token))
	if err != nil || look.State != session.Ended {
		t.Errorf("at the gateways: %+v, %v", look, err)
	}
	for name, form := range map[string]url.Values{
		"unknown token":  {"token": {"abc.def"}, "client_id": {id}, "client_secret": {secret}},
		"no form at all": {"token": {"abc"}, "client_id": {id}, "client_secret": {secret}},
	} {
		if r := m.post(t, "/oauth2/revoke", form); r.status != http.StatusOK {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	if r := m.post(t, "/oauth2/revoke", url.Values{"token": {token}, "client_id": {id}, "client_secret": {"wrong"}}); r.status != http.StatusUnauthorized {
		t.Errorf("wrong secret: %d %s", r.status, r.raw)
	}
	if r := m.post(t, "/oauth2/revoke", url.Values{"client_id": {id}, "client_secret": {secret}}); r.status != http.StatusBadRequest {
		t.Errorf("no token: %d %s", r.status, r.raw)
	}
}

func TestIntrospectionTellsAClientAboutItsOwnTokens(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, secret := m.client(t, "Records Reader")
	otherID, otherSecret := m.client(t, "Records Reader")
	token := m.token(t, id, secret)
	own := m.post(t, "/oauth2/introspect", url.Values{"token": {token}, "client_id": {id}, "client_secret": {secret}})
	if own.body["active"] != true || own.text("client_id") != id || own.text("scope") != "patient:read document:read tenant:read" ||
		own.text("iss") != "https://mesh.example" || own.header.Get("Cache-Control") != "no-store" {
		t.Errorf("own: %d %s", own.status, own.raw)
	}
	for name, form := range map[string]url.Values{
		"another client":  {"token": {token}, "client_id": {otherID}, "client_secret": {otherSecret}},
		"a made-up token": {"token": {"abc.def"}, "client_id": {id}, "client_secret": {secret}},
	} {
		if r := m.post(t, "/oauth2/introspect", form); r.status != http.StatusOK || strings.TrimSpace(r.raw) != `{"active":false}` {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	if r := m.post(t, "/oauth2/introspect", url.Values{"token": {token}}, "Authorization", "Bearer "+token); r.status != http.StatusUnauthorized {
		t.Errorf("a bearer token for a client: %d %s", r.status, r.raw)
	}
}

func TestMetadataAndKeys(t *testing.T) {
	t.Parallel()
	m := start(t)
	get := func(path string) reply {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.base+path, nil)
		check(t, err)
		return send(t, request)
	}
	about := get("/.well-known/oauth-authorization-server")
	if about.status != http.StatusOK || about.text("issuer") != "https://mesh.example" || about.text("token_endpoint") != "https://mesh.example/oauth2/token" {
		t.Errorf("%d %s", about.status, about.raw)
	}
	first, again := get("/oauth2/jwks"), get("/oauth2/jwks")
	if first.status != http.StatusOK || first.raw != again.raw || !strings.Contains(first.raw, `"ES256"`) || strings.Contains(first.raw, `"d"`) {
		t.Errorf("%d %s", first.status, first.raw)
	}
	if r := get("/oauth2/token"); r.status != http.StatusMethodNotAllowed {
		t.Errorf("GET on the token endpoint: %d %s", r.status, r.raw)
	}
}

func TestInternalOperationsNeedAnAssertionOfAProgram(t *testing.T) {
	t.Parallel()
	m := start(t)
	for _, path := range []string{"/internal/credential", "/internal/user", "/internal/client", "/internal/key", "/internal/external-application"} {
		if r := m.ask(t, m.caller(principal.All), http.MethodPost, path, `{"token": "x"}`); r.status != http.StatusForbidden {
			t.Errorf("%s by a caller: %d %s", path, r.status, r.raw)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.base+path, strings.NewReader(`{}`))
		check(t, err)
		request.Header.Set("Content-Type", "application/json")
		if r := send(t, request); r.status != http.StatusUnauthorized {
			t.Errorf("%s without an assertion: %d %s", path, r.status, r.raw)
		}
	}
}
