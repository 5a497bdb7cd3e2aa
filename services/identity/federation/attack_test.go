package federation_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/federation"
)

// A state is for the browser that began, for its tenant, for ten minutes, and once.
func TestStateIsBound(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.linked("ann", r.user("ann@example.org", true))
	query := r.travel("ann", chrome)
	for _, browser := range []string{firefox, ""} {
		_, err := r.finish(browser, query)
		wants(t, "browser "+browser, err, fault.Invalid, "sign_in_expired")
	}
	_, err := r.Finish(t.Context(), identity.Caller{}, chrome, newID(t), query)
	wants(t, "another tenant's address", err, fault.Invalid, "sign_in_expired")
	twice := url.Values{"state": {query.Get("state"), query.Get("state")}, "code": query["code"]}
	_, err = r.finish(chrome, twice)
	wants(t, "two states", err, fault.Invalid, "sign_in_expired")
	_, err = r.finish(chrome, url.Values{"code": query["code"]})
	wants(t, "no state", err, fault.Invalid, "sign_in_expired")

	if _, err = r.finish(chrome, query); err != nil {
		t.Fatalf("its own browser: %v", err) // what others tried did not spend it
	}
	_, err = r.finish(chrome, query)
	wants(t, "again", err, fault.Invalid, "sign_in_expired")

	query = r.travel("ann", chrome)
	r.clock.move(11 * time.Minute)
	_, err = r.finish(chrome, query)
	wants(t, "late", err, fault.Invalid, "sign_in_expired")
}

func TestStateSpentOnce(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.linked("ann", r.user("ann@example.org", true))
	query := r.travel("ann", chrome)
	results := make(chan error, 8)
	for range cap(results) {
		go func() {
			_, err := r.Finish(context.Background(), identity.Caller{}, chrome, r.tenant, query)
			results <- err
		}()
	}
	entered := 0
	for range cap(results) {
		if <-results == nil {
			entered++
		}
	}
	if entered != 1 {
		t.Errorf("%d entered", entered)
	}
}

// An ID token that is not exactly about this sign-in, at this client, from this provider, now, is worth nothing.
func TestIDTokenMustHold(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.linked("ann", r.user("ann@example.org", true))
	stolen, err := rsa.GenerateKey(rand.Reader, 2048)
	check(t, err)
	at := r.clock.now().Unix()
	for name, bend := range map[string]func(map[string]any){
		"another nonce":         func(c map[string]any) { c["nonce"] = "x" },
		"no nonce":              func(c map[string]any) { delete(c, "nonce") },
		"another audience":      func(c map[string]any) { c["aud"] = "x" },
		"no audience":           func(c map[string]any) { delete(c, "aud") },
		"another party":         func(c map[string]any) { c["azp"] = "x" },
		"two audiences, no azp": func(c map[string]any) { c["aud"] = []string{clientID, "x"}; delete(c, "azp") },
		"another issuer":        func(c map[string]any) { c["iss"] = "https://evil.example" },
		"expired":               func(c map[string]any) { c["exp"] = at - 1 },
		"no expiry":             func(c map[string]any) { delete(c, "exp") },
		"of yesterday":          func(c map[string]any) { c["iat"] = at - 86400 },
		"of tomorrow":           func(c map[string]any) { c["iat"] = at + 86400 },
		"no subject":            func(c map[string]any) { delete(c, "sub") },
		"another access token":  func(c map[string]any) { c["at_hash"] = "AAAAAAAAAAAAAAAAAAAAAA" },
	} {
		r.provider.bend = bend
		_, err := r.signIn("ann")
		wants(t, name, err, fault.Denied, "provider_distrusted")
	}
	r.provider.bend = nil
	for name, forge := range map[string]func(map[string]any) string{
		"another key": func(c map[string]any) string { return sign(jose.RS256, stolen, r.provider.id, c) },
		"unsigned": func(c map[string]any) string {
			raw, _ := json.Marshal(c)
			return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString(raw) + "."
		},
		"the public key as a secret": func(c map[string]any) string {
			return sign(jose.HS256, x509.MarshalPKCS1PublicKey(&r.provider.key.PublicKey), r.provider.id, c)
		},
		"our secret as a key": func(c map[string]any) string {
			return sign(jose.HS256, []byte(clientSecret+"0123456789abcdef"), r.provider.id, c)
		},
		"no token": func(map[string]any) string { return "" },
	} {
		r.provider.forge = forge
		_, err := r.signIn("ann")
		wants(t, name, err, fault.Denied, "provider_distrusted")
	}
	r.provider.forge = nil
	if _, err := r.signIn("ann"); err != nil {
		t.Errorf("untouched: %v", err)
	}
}

// A code stolen from one sign-in and put into another is refused by the provider: the verifier is another.
func TestCodeInjection(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.linked("ann", r.user("ann@example.org", true))
	victim, thief := r.travel("ann", chrome), r.travel("ann", firefox)
	thief.Set("code", victim.Get("code"))
	_, err := r.finish(firefox, thief)
	wants(t, "injected", err, fault.Denied, "provider_distrusted")
}

// RFC 9207: an answer that names another provider, or that does not name itself though it said it would, is not taken,
// and its code goes nowhere.
func TestMixUp(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.linked("ann", r.user("ann@example.org", true))
	redeemed := r.provider.calls("/oauth/token")

	named := r.travel("ann", chrome)
	named.Set("iss", "https://honest.example") // nothing promised, but said
	_, err := r.finish(chrome, named)
	wants(t, "another issuer", err, fault.Denied, "provider_distrusted")

	r.provider.namesIss = true
	r.name(r.tenant, r.provider)
	for name, iss := range map[string][]string{
		"missing": nil, "another": {"https://honest.example"}, "two": {r.provider.issuer, r.provider.issuer}, "empty": {""}, "with a slash": {r.provider.issuer + "/"},
	} {
		query := r.travel("ann", chrome)
		query["iss"] = iss
		if iss == nil {
			query.Del("iss")
		}
		_, err := r.finish(chrome, query)
		wants(t, name, err, fault.Denied, "provider_distrusted")
	}
	query := r.travel("ann", chrome)
	query.Set("iss", "https://honest.example")
	query.Set("error", "access_denied")
	_, err = r.finish(chrome, query)
	wants(t, "an error of another", err, fault.Denied, "provider_distrusted")
	if n := r.provider.calls("/oauth/token"); n != redeemed {
		t.Errorf("%d codes were sent away", n-redeemed)
	}
	if _, err = r.signIn("ann"); err != nil {
		t.Errorf("its own name: %v", err)
	}
}

// Two tenants, an honest provider and one that is not: the answer of one never reaches the other's tenant, since each
// has its own address, which a provider holds us to.
func TestMixUpOfTenants(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.linked("ann", r.user("ann@example.org", true))
	other := newID(t)
	evil := newProvider(t, r.Callback(other))
	r.name(other, evil)

	to, err := r.Begin(t.Context(), other, onward, chrome)
	check(t, err)
	u, err := url.Parse(to)
	check(t, err)
	honest := r.travel("ann", chrome)
	// The evil provider sends the browser on to the honest one with its own state: the code comes to the honest address.
	mixed := url.Values{"state": u.Query()["state"], "code": honest["code"]}
	_, err = r.finish(chrome, mixed)
	wants(t, "mixed up", err, fault.Invalid, "sign_in_expired")
	if n := evil.calls("/oauth/token"); n != 0 {
		t.Error("the code was shown to the evil provider")
	}
}

// A provider speaks of its own subjects: the same name at another one is somebody else.
func TestSubjectOfAnotherIssuer(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.linked("ann", r.user("ann@example.org", true))
	other := newProvider(t, r.Callback(r.tenant))
	other.people.add("ann", "ann@example.org", true)
	r.name(r.tenant, other)
	f, err := r.signIn("ann")
	check(t, err)
	if f.Link == nil {
		t.Error("entered by another provider's word")
	}
}

// The provider changes while somebody is away: their answer belongs to the one that was asked.
func TestProviderChangesMeanwhile(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.linked("ann", r.user("ann@example.org", true))
	query := r.travel("ann", chrome)
	r.name(r.tenant, newProvider(t, r.Callback(r.tenant)))
	_, err := r.finish(chrome, query)
	wants(t, "changed", err, fault.Invalid, "sign_in_expired")
	r.name(r.tenant, r.provider)
	query = r.travel("ann", chrome)
	check(t, r.Remove(administrator(r.tenant)))
	_, err = r.finish(chrome, query)
	wants(t, "removed", err, fault.Invalid, "sign_in_expired")
}

// What a provider refuses with is not shown.
func TestProviderRefuses(t *testing.T) {
	t.Parallel()
	r := start(t)
	for code, want := range map[string]string{
		"access_denied": "provider_refused", "<script>": "provider_refused", "server_error": "unavailable", "temporarily_unavailable": "unavailable",
	} {
		query := r.travel("ann", chrome)
		_, err := r.finish(chrome, url.Values{"state": query["state"], "error": {code}, "error_description": {"<b>evil</b>"}})
		if f := fault.Of(err); err == nil || f.Code != want {
			t.Errorf("%s: %v", code, err)
		}
	}
	query := r.travel("ann", chrome)
	_, err := r.finish(chrome, url.Values{"state": query["state"]})
	wants(t, "no code", err, fault.Denied, "provider_distrusted")
}

// User info of somebody else proves no address.
func TestUserInfoOfSomebodyElse(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.user("ann@example.org", true)
	r.provider.bend = func(c map[string]any) { c["sub"] = "eve" }
	_, err := r.signIn("ann")
	wants(t, "somebody else", err, fault.Denied, "provider_distrusted")
	var none federation.Finished
	if f, _ := r.signIn("ann"); f.Link != none.Link {
		t.Error("a link was offered")
	}
}
