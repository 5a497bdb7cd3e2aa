package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

const providerPath = "/v2/tenant/identity-provider"

// described is a server that answers a discovery document and nothing more.
func described(t *testing.T) string {
	t.Helper()
	var srv *httptest.Server
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/openid-configuration" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": srv.URL, "authorization_endpoint": srv.URL + "/a", "token_endpoint": srv.URL + "/t", "jwks_uri": srv.URL + "/k",
		})
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestNameAnIdentityProvider(t *testing.T) {
	t.Parallel()
	m := startAt(t, "http://127.0.0.1:8080")
	by, issuer := m.caller(principal.TenantAdmin), described(t)
	body := `{"issuer": "` + issuer + `", "clientId": "c", "clientSecret": " s3cret/ ", "name": "Example Hospital"}`
	if r := m.ask(t, by, http.MethodGet, providerPath, ""); r.status != http.StatusNotFound || r.text("code") != "identity_provider_not_found" {
		t.Errorf("before: %d %s", r.status, r.raw)
	}
	for range 2 { // the same again changes nothing
		r := m.ask(t, by, http.MethodPut, providerPath, body)
		if r.status != http.StatusOK || r.text("issuer") != issuer || r.text("clientId") != "c" || r.text("name") != "Example Hospital" ||
			r.text("redirectUri") != "http://127.0.0.1:8080/sign-in/federated/callback/"+m.tenant {
			t.Fatalf("put: %d %s", r.status, r.raw)
		}
	}
	r := m.ask(t, by, http.MethodGet, providerPath, "")
	if r.status != http.StatusOK || strings.Contains(strings.ToLower(r.raw), "s3cret") || strings.Contains(r.raw, "ecret") || r.text("createdAt") == "" {
		t.Errorf("get: %d %s", r.status, r.raw)
	}
	stranger := by
	stranger.TenantID = m.newTenant(t)
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		if r := m.ask(t, stranger, method, providerPath, ""); r.status != http.StatusNotFound {
			t.Errorf("another tenant's %s: %d %s", method, r.status, r.raw)
		}
	}
	if r := m.ask(t, by, http.MethodDelete, providerPath, ""); r.status != http.StatusOK || r.text("message") == "" {
		t.Errorf("delete: %d %s", r.status, r.raw)
	}
	if r := m.ask(t, by, http.MethodDelete, providerPath, ""); r.status != http.StatusNotFound {
		t.Errorf("delete again: %d %s", r.status, r.raw)
	}
	m.logged.Lock()
	defer m.logged.Unlock()
	if strings.Contains(m.log.String(), "s3cret") {
		t.Error("the secret was logged")
	}
}

// All faults of a body at once; and no issuer that is not on the public internet, now that we are.
func TestIdentityProviderRefusals(t *testing.T) {
	t.Parallel()
	m := start(t)
	by := m.caller(principal.TenantAdmin)
	for body, want := range map[string]map[string]string{
		`{}`: {"issuer": "required", "clientId": "required", "clientSecret": "required", "name": "required"},
		`{"issuer": 1, "clientId": "c", "clientSecret": "s", "name": "n"}`:                                     {"issuer": "invalid_type"},
		`{"issuer": "` + described(t) + `", "clientId": "c", "clientSecret": "s", "name": "n"}`:                {"issuer": "invalid_uri"},
		`{"issuer": "https://127.0.0.1", "clientId": "c", "clientSecret": "s", "name": "n"}`:                   {"issuer": "unreachable"},
		`{"issuer": "https://169.254.169.254", "clientId": "c", "clientSecret": "s", "name": "n"}`:             {"issuer": "unreachable"},
		`{"issuer": "https://a.example/?x", "clientSecret": "` + strings.Repeat("s", 2001) + `", "name": "n"}`: {"issuer": "invalid_uri", "clientId": "required", "clientSecret": "too_long"},
	} {
		r := m.ask(t, by, http.MethodPut, providerPath, body)
		got := map[string]string{}
		list, _ := r.body["errors"].([]any)
		for _, e := range list {
			f, _ := e.(map[string]any)
			got[f["field"].(string)], _ = f["code"].(string)
		}
		if r.status != http.StatusBadRequest || len(got) != len(want) {
			t.Errorf("%.80s: %d %s", body, r.status, r.raw)
		}
		for field, code := range want {
			if got[field] != code {
				t.Errorf("%.80s: %s is %q, want %q", body, field, got[field], code)
			}
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
		if r := m.ask(t, m.caller(principal.All&^principal.TenantAdmin), method, providerPath, `{}`); r.status != http.StatusForbidden {
			t.Errorf("%s without the permission: %d %s", method, r.status, r.raw)
		}
	}
}
