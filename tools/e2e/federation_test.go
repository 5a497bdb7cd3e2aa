package e2e

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A provider is on the public internet, or is none; the mesh asks no address within. How people sign in by a real one is
// proved in services/identity/federation.
func TestAProviderThatIsNone(t *testing.T) {
	boss := signIn(t, newAccount(t))
	c := boss.client()
	const provider = "/v2/tenant/identity-provider"
	c.get(provider).is(missing)
	for _, issuer := range []string{world.URL(), "https://127.0.0.1", "https://localhost", "https://169.254.169.254", "https://10.1.2.3", "http://accounts.example", "nothing"} {
		c.put(provider, map[string]any{"issuer": issuer, "clientId": "x", "clientSecret": "a secret of theirs"}).is(bad)
	}
	c.put(provider, map[string]any{}).is(bad)
	c.mint("Clinician").get(provider).refused(http.StatusForbidden, "permission_denied")
	anyone(t).get(provider).is(unauthorized)

	// Without a provider the redirect leads to our own form, whatever it is asked for.
	p := newPerson(t, world)
	for _, tenant := range []string{boss.who.tenant, "00000000-0000-0000-0000-000000000000", "https://evil.example", "//evil.example"} {
		seen := p.visit("/sign-in/federated?tenantId=" + url.QueryEscape(tenant))
		if !strings.HasPrefix(seen.at.String(), world.URL()) || seen.status >= http.StatusInternalServerError {
			t.Errorf("%s leads to %s (%d)", tenant, seen.at, seen.status)
		}
		seen = p.visit("/sign-in/federated/callback/" + url.PathEscape(tenant) + "?code=x&state=made-up")
		if seen.status < bad || seen.status >= http.StatusInternalServerError {
			t.Errorf("a callback nobody asked for: %d", seen.status)
		}
	}
}
