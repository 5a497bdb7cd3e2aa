package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/oauth"
)

func TestRedirectURIVariants(t *testing.T) {
	t.Parallel()
	m := start(t)
	web, _ := m.webClient(t)
	proof := verifier()
	for _, good := range []struct{ client, uri string }{
		{publicID, "http://127.0.0.1/callback"},
		{publicID, "http://127.0.0.1:1/callback"},
		{publicID, "http://127.0.0.1:65535/callback"},
		{publicID, "http://[::1]:8080/callback"},
		{web, webBack},
	} {
		a, refused, err := m.server.BeginAuthorize(t.Context(), asking(proof, "client_id", good.client, "redirect_uri", good.uri, "scope", "patient:read"))
		if err != nil || refused != nil || a.RedirectURI != good.uri {
			t.Errorf("%s: %+v, %v", good.uri, refused, err)
		}
	}
	for _, bad := range []struct{ client, uri string }{
		{publicID, ""}, // there are two
		{publicID, "http://127.0.0.1:0/callback"},
		{publicID, "http://127.0.0.1:65536/callback"},
		{publicID, "http://127.0.0.1:/callback"},
		{publicID, "http://127.0.0.1:+1/callback"},
		{publicID, "http://127.0.0.1:80@evil.example/callback"},
		{publicID, "http://127.0.0.1@evil.example/callback"},
		{publicID, "http://user@127.0.0.1/callback"},
		{publicID, "http://127.0.0.1.evil.example/callback"},
		{publicID, "http://127.0.0.1evil.example/callback"},
		{publicID, "http://127.0.0.2/callback"},
		{publicID, "http://127.1/callback"},
		{publicID, "http://2130706433/callback"},
		{publicID, "http://localhost/callback"},
		{publicID, "http://[0:0:0:0:0:0:0:1]/callback"},
		{publicID, "https://127.0.0.1/callback"},
		{publicID, "HTTP://127.0.0.1/callback"},
		{publicID, "http://127.0.0.1/Callback"},
		{publicID, "http://127.0.0.1/callback/"},
		{publicID, "http://127.0.0.1/callback/../callback"},
		{publicID, "http://127.0.0.1/./callback"},
		{publicID, "http://127.0.0.1/%63allback"},
		{publicID, "http://127.0.0.1/callback#x"},
		{publicID, "http://127.0.0.1/callback?x=1"},
		{publicID, "http://127.0.0.1/callback?"},
		{publicID, "http://127.0.0.1/callback\r\nX: y"},
		{publicID, " http://127.0.0.1/callback"},
		{web, "https://app.example/back"},
		{web, "https://app.example/back?x=1&y=2"},
		{web, "https://app.example/back?x=2"},
		{web, "https://app.example:443/back?x=1"},
		{web, "https://app.example:8443/back?x=1"},
		{web, "https://APP.example/back?x=1"},
		{web, "https://app.example./back?x=1"},
		{web, "https://user@app.example/back?x=1"},
		{web, "https://app.example/a/../back?x=1"},
		{web, "https://app.example/back?x=1#"},
		{web, "http://app.example/back?x=1"},
		{web, "https://app.example.evil.example/back?x=1"},
		{web, "javascript:alert(1)"},
		{web, "//app.example/back?x=1"},
	} {
		request := asking(proof, "client_id", bad.client, "redirect_uri", bad.uri, "scope", "patient:read")
		if a, refused, err := m.server.BeginAuthorize(t.Context(), request); bad.uri != "" || bad.client == publicID {
			if a != nil || refused != nil || !fault.Is(err, fault.Invalid) {
				t.Errorf("%q is taken: %+v, %+v, %v", bad.uri, a, refused, err)
			}
		}
	}
	// Where one address is registered it may be left out, and is then not asked for at the token endpoint.
	a, refused, err := m.server.BeginAuthorize(t.Context(), asking(proof, "client_id", web, "redirect_uri", "", "scope", "patient:read"))
	if err != nil || refused != nil || a.RedirectURI != webBack {
		t.Errorf("left out: %+v, %v", refused, err)
	}
}

func TestAuthorizationRequestThatIsNotAnswered(t *testing.T) {
	t.Parallel()
	m := start(t)
	service, _ := m.client(t, "Owner") // client_credentials alone
	proof := verifier()
	for name, request := range map[string]url.Values{
		"no client":               asking(proof, "client_id", ""),
		"unknown client":          asking(proof, "client_id", newID(t)),
		"a client of no form":     asking(proof, "client_id", "root"),
		"a client without grant":  asking(proof, "client_id", service),
		"two clients":             {"client_id": {publicID, publicID}, "redirect_uri": {loopback}},
		"two redirect URIs":       {"client_id": {publicID}, "redirect_uri": {loopback, loopback}, "response_type": {"code"}},
		"a request_uri elsewhere": asking(proof, "request_uri", "https://evil.example/request"),
		"a made-up request_uri":   asking(proof, "request_uri", "urn:ietf:params:oauth:request_uri:x"),
	} {
		if a, refused, err := m.server.BeginAuthorize(t.Context(), request); a != nil || refused != nil || !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %+v, %+v, %v", name, a, refused, err)
		}
	}
}

func TestAuthorizationErrorsGoBackWithStateAndIssuer(t *testing.T) {
	t.Parallel()
	m := start(t)
	proof := verifier()
	repeated := asking(proof)
	repeated["scope"] = []string{"patient:read", "match:read"}
	twice := asking(proof)
	twice["state"] = []string{"a state of eight", "another of eight"}
	for _, c := range []struct {
		name    string
		request url.Values
		code    string
	}{
		{"no response type", asking(proof, "response_type", ""), "invalid_request"},
		{"implicit", asking(proof, "response_type", "token"), "unsupported_response_type"},
		{"hybrid", asking(proof, "response_type", "code token"), "unsupported_response_type"},
		{"fragment", asking(proof, "response_mode", "fragment"), "invalid_request"},
		{"form_post", asking(proof, "response_mode", "form_post"), "invalid_request"},
		{"a state that can be guessed", asking(proof, "state", "1234567"), "invalid_request"},
		{"a scope twice", repeated, "invalid_request"},
		{"a state twice", twice, "invalid_request"},
		{"an unknown scope", asking(proof, "scope", "everything"), "invalid_scope"},
		{"a request object", asking(proof, "request", "x.y.z"), "request_not_supported"},
		{"an audience", asking(proof, "audience", "https://elsewhere.example"), "invalid_request"},
		{"prompt none and login", asking(proof, "prompt", "none login"), "invalid_request"},
		{"an unknown prompt", asking(proof, "prompt", "create"), "invalid_request"},
		{"a max_age that is none", asking(proof, "max_age", "-1"), "invalid_request"},
		{"a tenant that is none", asking(proof, "tenantId", "x"), "invalid_request"},
	} {
		a, refused, err := m.server.BeginAuthorize(t.Context(), c.request)
		if a != nil || err != nil || refused == nil {
			t.Errorf("%s: %+v, %v", c.name, a, err)
			continue
		}
		sent := m.sentTo(t, *refused)
		state := c.request.Get("state")
		if c.name == "a state twice" {
			state = ""
		}
		if sent.Get("error") != c.code || sent.Get("state") != state || !strings.HasPrefix(refused.Header["Location"], loopback+"?") {
			t.Errorf("%s: %s", c.name, refused.Header["Location"])
		}
	}
}

// Mix-up (RFC 9207): every answer, also an error, says which server it is from; sentTo checks it.
func TestMixUpEveryAnswerNamesItsIssuer(t *testing.T) {
	t.Parallel()
	m := start(t)
	user := m.user(t)
	web, _ := m.webClient(t)
	proof := verifier()
	sent := m.grant(t, user, asking(proof, "client_id", web, "redirect_uri", webBack, "scope", "patient:read", "state", ""))
	if sent.Get("x") != "1" || sent.Has("state") || sent.Get("code") == "" {
		t.Errorf("an address with a query: %v", sent)
	}
	a, _, err := m.server.BeginAuthorize(t.Context(), asking(proof, "prompt", "none", "max_age", "60", "login_hint", "ada@example.org", "tenantId", m.tenant))
	check(t, err)
	if a.Prompt != "none" || a.MaxAge == nil || *a.MaxAge != 60 || a.LoginHint != "ada@example.org" || a.TenantID != m.tenant || a.Client.ID != publicID {
		t.Errorf("%+v", a)
	}
	for _, code := range []string{"access_denied", "login_required", "consent_required"} {
		if sent := m.sentTo(t, m.server.Deny(t.Context(), a, code)); sent.Get("error") != code || sent.Get("state") != a.State {
			t.Errorf("%s: %v", code, sent)
		}
	}
}

func TestGrantKeepsToWhatWasAskedAndToMembers(t *testing.T) {
	t.Parallel()
	m := start(t)
	user, other := m.user(t), m.newTenant(t)
	proof := verifier()
	a, _, err := m.server.BeginAuthorize(t.Context(), asking(proof))
	check(t, err)
	bound, _, err := m.server.BeginAuthorize(t.Context(), asking(proof, "tenantId", other))
	check(t, err)
	for name, c := range map[string]struct {
		request  *oauth.Authorization
		decision oauth.Decision
	}{
		"more scope":                    {a, oauth.Decision{UserID: user, TenantID: m.tenant, Scopes: []string{"patient:delete"}}},
		"no scope":                      {a, oauth.Decision{UserID: user, TenantID: m.tenant}},
		"a tenant of others":            {a, oauth.Decision{UserID: user, TenantID: other, Scopes: a.Scopes}},
		"not the tenant that was asked": {bound, oauth.Decision{UserID: user, TenantID: m.tenant, Scopes: a.Scopes}},
	} {
		r, err := m.server.Grant(t.Context(), c.request, c.decision)
		check(t, err)
		if sent := m.sentTo(t, r); sent.Get("error") != "access_denied" || sent.Has("code") {
			t.Errorf("%s: %v", name, sent)
		}
	}
	// Less than was asked for is the person's to decide.
	r, err := m.server.Grant(t.Context(), a, oauth.Decision{UserID: user, TenantID: m.tenant, Scopes: []string{"patient:read"}})
	check(t, err)
	got := m.post(t, "/oauth2/token", redemption(m.sentTo(t, r).Get("code"), proof))
	if p, found := m.resolve(t, got.text("access_token")); !found || got.text("scope") != "patient:read" || p.Permissions != principal.PatientRead {
		t.Errorf("%s: %+v", got.raw, p)
	}
	m.tenants.leave(true)
	if _, err := m.server.Grant(t.Context(), a, oauth.Decision{UserID: user, TenantID: m.tenant, Scopes: a.Scopes}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("the tenant service is away: %v", err)
	}
}

func TestPushedAuthorizationRequest(t *testing.T) {
	t.Parallel()
	m := start(t)
	user := m.user(t)
	web, secret := m.webClient(t)
	other, otherSecret := m.webClient(t)
	proof := verifier()
	pushing := func(changes ...string) url.Values {
		return asking(proof, append([]string{"client_id", web, "client_secret", secret, "redirect_uri", webBack, "scope", "patient:read"}, changes...)...)
	}
	for name, c := range map[string]struct {
		form   url.Values
		status int
		code   string
	}{
		"wrong secret":          {pushing("client_secret", "x"), 401, "invalid_client"},
		"no secret":             {pushing("client_secret", ""), 401, "invalid_client"},
		"a request_uri":         {pushing("request_uri", "urn:x"), 400, "invalid_request"},
		"another redirect URI":  {pushing("redirect_uri", "https://evil.example/"), 400, "invalid_request"},
		"no challenge":          {pushing("code_challenge", ""), 400, "invalid_request"},
		"a scope that it lacks": {pushing("scope", "match:read"), 400, "invalid_scope"},
		"implicit":              {pushing("response_type", "token"), 400, "unsupported_response_type"},
	} {
		r := m.post(t, "/oauth2/par", c.form)
		m.refused(t, name, r, c.status, c.code)
		if r.text("request_uri") != "" {
			t.Errorf("%s: %s", name, r.raw)
		}
	}
	push := func() string {
		r := m.post(t, "/oauth2/par", pushing())
		if r.status != http.StatusCreated || r.body["expires_in"] != float64(60) || r.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %s", r.status, r.raw)
		}
		return r.text("request_uri")
	}
	uri := push()
	by := func(client, uri string, more ...string) url.Values {
		form := url.Values{"client_id": {client}, "request_uri": {uri}}
		for i := 0; i+1 < len(more); i += 2 {
			form.Set(more[i], more[i+1])
		}
		return form
	}
	if a, _, err := m.server.BeginAuthorize(t.Context(), by(other, uri)); a != nil || !fault.Is(err, fault.Invalid) {
		t.Errorf("another client's: %+v, %v", a, err)
	}
	_ = otherSecret
	// What comes beside it counts for nothing.
	a, refused, err := m.server.BeginAuthorize(t.Context(), by(web, uri, "scope", "patient:write", "redirect_uri", "https://evil.example/"))
	if err != nil || refused != nil || strings.Join(a.Scopes, " ") != "patient:read" || a.RedirectURI != webBack {
		t.Fatalf("%+v, %v", refused, err)
	}
	// The person takes ten minutes to sign in; the page is loaded again.
	m.clock.move(10 * time.Minute)
	again, _, err := m.server.BeginAuthorize(t.Context(), by(web, uri))
	check(t, err)
	decision := oauth.Decision{UserID: user, TenantID: m.tenant, Scopes: a.Scopes}
	results := together(8, func() oauth.Response {
		r, err := m.server.Grant(t.Context(), again, decision)
		check(t, err)
		return r
	})
	codes := 0
	for _, r := range results {
		if sent := m.sentTo(t, r); sent.Get("code") != "" {
			codes++
		} else if sent.Get("error") != "invalid_request" {
			t.Errorf("who came late: %v", sent)
		}
	}
	if codes != 1 {
		t.Errorf("one request gave %d codes", codes)
	}
	if a, _, err := m.server.BeginAuthorize(t.Context(), by(web, uri)); a != nil || !fault.Is(err, fault.Invalid) {
		t.Errorf("used twice: %+v, %v", a, err)
	}
	late := push()
	m.clock.move(identity.PushedLifetime)
	if a, _, err := m.server.BeginAuthorize(t.Context(), by(web, late)); a != nil || !fault.Is(err, fault.Invalid) {
		t.Errorf("after a minute: %+v, %v", a, err)
	}
	slow := push()
	_, _, err = m.server.BeginAuthorize(t.Context(), by(web, slow))
	check(t, err)
	m.clock.move(identity.BegunLifetime)
	if a, _, err := m.server.BeginAuthorize(t.Context(), by(web, slow)); a != nil || !fault.Is(err, fault.Invalid) {
		t.Errorf("after a quarter of an hour: %+v, %v", a, err)
	}
}
