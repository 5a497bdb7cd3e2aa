package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// The parts of TestProduction that are about people.

func closed(t *testing.T, m *mesh.Mesh) {
	a := stranger()
	nobody := &client{t: t, base: m.URL(), header: http.Header{}}
	nobody.post("/user/public/register-user", a.registration()).refused(http.StatusForbidden, "registration_closed")
	if seen := newPerson(t, m).visit("/sign-up"); seen.asks("password") || seen.status >= http.StatusInternalServerError {
		t.Errorf("the sign-up page offers a form: %s", seen.shown())
	}
	if n := letters(t, m, a.email); n != 0 {
		t.Errorf("%d letters", n)
	}
}

// What a person is given in one environment is worth nothing in the other.
func peopleApart(t *testing.T, m *mesh.Mesh) {
	ours, theirs := signInAt(t, m, first(m), publicClient(m)), signIn(t, first(world))
	ours.client().get("/v2/tenant").is(ok)
	as(t, ours.AccessToken).get("/v2/tenant").refused(unauthorized, "invalid_token")
	at(t, m, theirs.AccessToken).get("/v2/tenant").refused(unauthorized, "invalid_token")
	anyone(t).form("/auth/oauth2/token", ours.refreshing()).fails("invalid_grant")
	code, verifier := theirs.by.codeFor(theirs.config, theirs.who)
	nobody := &client{t: t, base: m.URL(), header: http.Header{}}
	nobody.form("/oauth2/token", redeeming(theirs.config, code, verifier)).fails("invalid_grant")
	nobody.form("/oauth2/token", theirs.refreshing()).fails("invalid_grant")
	here, err := url.Parse(m.URL())
	if err != nil {
		t.Fatal(err)
	}
	p := newPerson(t, m)
	p.http.Jar.SetCookies(here, []*http.Cookie{{Name: "sign-in", Value: theirs.by.cookie("sign-in"), Path: "/"}})
	if p.visit("/account").at.Path != "/sign-in" {
		t.Error("a browser's session of the other environment is taken")
	}
	ours.refresh()
	theirs.refresh()
}

// An address that a client names is asked for nothing when it leads to where the mesh runs. (A demo mesh on
// loopback asks its own machine, for whoever develops there.)
func within(t *testing.T, m *mesh.Mesh) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan string, 100)
	keys := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "one"}}})
	})
	plain, secure := httptest.NewServer(keys), httptest.NewTLSServer(keys)
	defer plain.Close()
	defer secure.Close()
	c, nobody := administrator(t, m), &client{t: t, base: m.URL(), header: http.Header{}}
	for _, address := range []string{
		plain.URL + "/keys", secure.URL + "/keys", strings.Replace(secure.URL, "127.0.0.1", "localhost", 1) + "/keys",
		strings.Replace(secure.URL, "127.0.0.1", "[::ffff:127.0.0.1]", 1) + "/keys", "https://169.254.169.254/latest/meta-data",
		"https://10.0.0.1/keys", "https://user:pass@keys.example/keys", "file:///etc/passwd", "gopher://127.0.0.1/",
	} {
		made := c.post("/v2/oauth2/client", map[string]any{
			"client_name": "ssrf", "grant_types": []string{"client_credentials"}, "scope": "patient:read", "tenantId": m.Demo().Tenants[1].ID,
			"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": address,
		})
		if made.status == bad {
			continue
		}
		id := made.is(http.StatusCreated).object()["client_id"].(string)
		nobody.form("/oauth2/token", asserted(t, key, id, m.URL(), rand.Text(), time.Minute)).fails("invalid_client")
		c.delete("/v2/oauth2/client/" + id).is(ok)
	}
	if len(asked) != 0 {
		t.Errorf("asked for %s", <-asked)
	}
}

// Attack: trying a password on many accounts. An address may fail at few of them; whoever is known gets in all the same.
func spraying(t *testing.T, m *mesh.Mesh) {
	who := first(m)
	known := signInAt(t, m, who, publicClient(m)).by
	known.submit(known.visit("/sign-out"), map[string]string{})
	p := newPerson(t, m)
	try := func(email, password, from string) int {
		at := p.visit("/sign-in")
		f := at.form(map[string]string{"email": "", "password": ""})
		values := url.Values{"email": {email}, "password": {password}, "csrf": f.inputs["csrf"]}
		return p.sendWith(map[string]string{"X-Forwarded-For": from, "X-Real-Ip": from, "Forwarded": "for=" + from}, http.MethodPost, "/sign-in", values).status
	}
	for i := range strictSignIns {
		if status := try(stranger().email, "Spring2026 forever", "203.0.113."+string(rune('1'+i))); status != bad {
			t.Errorf("try %d answered %d", i, status)
		}
	}
	for _, from := range []string{"203.0.113.77", "127.0.0.1", "10.0.0.1"} { // what the sender says of themselves is not believed
		if status := try(stranger().email, "Spring2026 forever", from); status != http.StatusTooManyRequests {
			t.Errorf("one account more answered %d", status)
		}
	}
	if status := try(who.email, who.password, "203.0.113.78"); status != http.StatusTooManyRequests {
		t.Errorf("a hit answered %d", status)
	}
	verifier := oauth2.GenerateVerifier()
	config := publicClient(m)
	if told := known.through(known.visit(config.AuthCodeURL(state(), oauth2.S256ChallengeOption(verifier))), who, nil); told.Get("code") == "" {
		t.Errorf("who is known is told %v", told)
	}
}
