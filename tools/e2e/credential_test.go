package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

const unauthorized = http.StatusUnauthorized

func TestWhatIsNoCredential(t *testing.T) {
	demo := world.Demo().Tenants[0]
	mistyped := demo.APIKey[:len(demo.APIKey)-1] + "!"
	production := "prs_prod" + strings.TrimPrefix(demo.APIKey, "prs_demo")
	for name, header := range map[string]string{
		"nothing": "", "another scheme": "Basic dXNlcjpwYXNz", "no token": "Bearer", "an empty token": "Bearer ", "made up": "Bearer nonsense",
		"a mistyped key": "Bearer " + mistyped, "a key of production": "Bearer " + production, "only the key's prefix": "Bearer " + demo.APIKey[:40],
		"far too long": "Bearer " + strings.Repeat("x", 5000), "the key as the scheme": demo.APIKey,
	} {
		t.Run(name, func(t *testing.T) {
			c := anyone(t)
			if header != "" {
				c = c.with("Authorization", header)
			}
			for _, a := range []answer{c.get(patients), c.post(patients, ana()), c.do("PROPFIND", patients, nil), c.get("/v2/tenant")} {
				a.is(unauthorized)
				if !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") {
					t.Errorf("WWW-Authenticate %q", a.header.Get("WWW-Authenticate"))
				}
			}
		})
	}
	anyone(t).get(patients + "?access_token=" + url.QueryEscape(demo.APIKey)).is(unauthorized)
}

func TestWhereACredentialStands(t *testing.T) {
	keys := world.Demo().Tenants
	anyone(t).with("Authorization", "bearer "+keys[0].APIKey).get(patients).is(ok)
	anyone(t).with("X-API-Key", keys[0].APIKey).get(patients).is(ok)
	anyone(t).with("X-API-Key", keys[0].APIKey).get("/v2/tenant").is(unauthorized)
	for name, c := range map[string]*client{
		"two of a kind":  anyone(t).with("Authorization", "Bearer "+keys[0].APIKey).with("Authorization", "Bearer "+keys[1].APIKey),
		"the same twice": anyone(t).with("Authorization", "Bearer "+keys[0].APIKey).with("Authorization", "Bearer "+keys[0].APIKey),
		"one of each":    owner(t).with("X-API-Key", keys[1].APIKey),
		"two keys":       anyone(t).with("X-API-Key", keys[0].APIKey).with("X-API-Key", keys[1].APIKey),
		"two wrong":      anyone(t).with("Authorization", "Bearer x").with("X-API-Key", "y"),
	} {
		if a := c.get(patients); a.status != bad {
			t.Errorf("%s: answered %d", name, a.status)
		}
	}
}

// token gets an access token by client_credentials, as a client library does.
func token(t *testing.T, id, secret string, style oauth2.AuthStyle, scopes ...string) *oauth2.Token {
	t.Helper()
	config := clientcredentials.Config{ClientID: id, ClientSecret: secret, TokenURL: world.Demo().Gateway + "/oauth2/token", AuthStyle: style, Scopes: scopes}
	got, err := config.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestClientCredentials(t *testing.T) {
	demo := world.Demo().Tenants[0]
	for name, style := range map[string]oauth2.AuthStyle{"client_secret_basic": oauth2.AuthStyleInHeader, "client_secret_post": oauth2.AuthStyleInParams} {
		t.Run(name, func(t *testing.T) {
			got := token(t, demo.ClientID, demo.ClientSecret, style)
			if left := time.Until(got.Expiry); left > 15*time.Minute || left < 14*time.Minute || !strings.EqualFold(got.TokenType, "bearer") {
				t.Errorf("a token of type %q for %v", got.TokenType, left)
			}
			c := as(t, got.AccessToken)
			path, _ := stored(c, ana())
			owner(t).get(path).is(ok)
			other(t).get(path).is(missing)
		})
	}
}

func TestScopesNarrow(t *testing.T) {
	demo := world.Demo().Tenants[0]
	reader := as(t, token(t, demo.ClientID, demo.ClientSecret, oauth2.AuthStyleInHeader, "patient:read").AccessToken)
	reader.get(patients + "?size=1").is(ok)
	reader.post(patients, ana()).refused(http.StatusForbidden, "permission_denied")
	reader.post(patients, "not JSON").refused(http.StatusForbidden, "permission_denied")
	reader.delete(patients+"/1").refused(http.StatusForbidden, "permission_denied")
	reader.do("PROPFIND", patients, nil).is(http.StatusMethodNotAllowed)
}

func TestTokenEndpointRefusals(t *testing.T) {
	demo := world.Demo().Tenants[0]
	form := anyone(t).with("Content-Type", "application/x-www-form-urlencoded")
	basic := func(id, secret string) *client {
		req := &http.Request{Header: http.Header{}}
		req.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret))
		return form.with("Authorization", req.Header.Get("Authorization"))
	}
	for name, test := range map[string]struct {
		c      *client
		body   string
		status int
		code   string
	}{
		"wrong secret":         {basic(demo.ClientID, "wrong"), "grant_type=client_credentials", 401, "invalid_client"},
		"unknown client":       {basic("nobody", demo.ClientSecret), "grant_type=client_credentials", 401, "invalid_client"},
		"no client":            {form, "grant_type=client_credentials", 401, "invalid_client"},
		"no grant":             {basic(demo.ClientID, demo.ClientSecret), "scope=patient:read", 400, "invalid_request"},
		"password grant":       {basic(demo.ClientID, demo.ClientSecret), "grant_type=password&username=a&password=b", 400, "unsupported_grant_type"},
		"unknown grant":        {basic(demo.ClientID, demo.ClientSecret), "grant_type=magic", 400, "unsupported_grant_type"},
		"a scope it has not":   {basic(demo.ClientID, demo.ClientSecret), "grant_type=client_credentials&scope=client:manage", 400, "invalid_scope"},
		"a scope that is none": {basic(demo.ClientID, demo.ClientSecret), "grant_type=client_credentials&scope=everything", 400, "invalid_scope"},
		"another client_id":    {basic(demo.ClientID, demo.ClientSecret), "grant_type=client_credentials&client_id=" + world.Demo().Tenants[1].ClientID, 401, "invalid_client"},
		"another's secret":     {basic(demo.ClientID, world.Demo().Tenants[1].ClientSecret), "grant_type=client_credentials", 401, "invalid_client"},
	} {
		t.Run(name, func(t *testing.T) {
			a := test.c.post("/auth/oauth2/token", test.body)
			got := a.object()
			if (a.status != test.status && (name != "another client_id" || a.status != bad)) || (got["error"] != test.code && name != "another client_id") {
				t.Errorf("answered %d %v, want %d %s", a.status, got["error"], test.status, test.code)
			}
			if a.header.Get("Cache-Control") != "no-store" {
				t.Errorf("Cache-Control %q", a.header.Get("Cache-Control"))
			}
			if strings.Contains(string(a.raw), demo.ClientSecret) {
				t.Error("the answer shows the secret")
			}
		})
	}
}

func TestARevokedTokenIsDead(t *testing.T) {
	demo := world.Demo().Tenants[0]
	access := token(t, demo.ClientID, demo.ClientSecret, oauth2.AuthStyleInHeader).AccessToken
	as(t, access).get(patients + "?size=1").is(ok)
	c := anyone(t).with("Content-Type", "application/x-www-form-urlencoded")
	form := url.Values{"token": {access}, "client_id": {demo.ClientID}, "client_secret": {demo.ClientSecret}}
	c.post("/oauth2/revoke", form.Encode()).is(ok)
	eventually(t, time.Second, func() bool { return as(t, access).get(patients+"?size=1").status == unauthorized })
}

func TestMetadata(t *testing.T) {
	meta := anyone(t).get("/.well-known/oauth-authorization-server").is(ok).object()
	if meta["issuer"] != world.Demo().Gateway {
		t.Errorf("issuer %v", meta["issuer"])
	}
	for _, member := range []string{"token_endpoint", "jwks_uri", "revocation_endpoint", "introspection_endpoint"} {
		if where, _ := meta[member].(string); !strings.HasPrefix(where, world.Demo().Gateway+"/") {
			t.Errorf("%s is %q", member, where)
		}
	}
	keys, _ := anyone(t).get("/oauth2/jwks").is(ok).object()["keys"].([]any)
	if len(keys) == 0 {
		t.Error("no keys")
	}
	for _, k := range keys {
		if member, _ := k.(map[string]any); member["d"] != nil || member["k"] != nil {
			t.Error("a private key is published")
		}
	}
}

// roles is the id of each role by its name.
func roles(c *client) map[string]string {
	c.t.Helper()
	var got struct {
		Content []struct {
			ID, Name    string
			Permissions []string
		}
	}
	c.get("/v2/access-control/role/all").is(ok).into(&got)
	byName := map[string]string{}
	for _, r := range got.Content {
		byName[r.Name] = r.ID
		if r.Name == "Owner" && (slices.Contains(r.Permissions, "client:manage") || len(r.Permissions) != 12) {
			c.t.Errorf("Owner has %v", r.Permissions)
		}
	}
	return byName
}

func TestKeysAreMintedScopedListedAndRevoked(t *testing.T) {
	c := owner(t)
	ids := roles(c)
	for _, name := range []string{"Owner", "Clinician", "Records Writer", "Records Reader", "Matcher", "Auditor"} {
		if ids[name] == "" {
			t.Errorf("no role %q", name)
		}
	}
	made := c.post("/v2/token", map[string]any{"acRoleIds": []string{ids["Records Reader"]}, "name": "nightly"}).is(http.StatusCreated).object()
	key, id := fmt.Sprint(made["token"]), fmt.Sprint(made["id"])
	if !strings.HasPrefix(key, "prs_demo_") || made["prefix"] == "" || made["name"] != "nightly" {
		t.Errorf("made %v", made)
	}
	reader := as(t, key)
	reader.get(patients + "?size=1").is(ok)
	reader.post(patients, ana()).refused(http.StatusForbidden, "permission_denied")
	reader.post("/v2/token", map[string]any{"acRoleIds": []string{ids["Records Reader"]}}).is(http.StatusForbidden)

	listed := c.get("/v2/token?size=500").is(ok)
	if !strings.Contains(string(listed.raw), id) || strings.Contains(string(listed.raw), key[len(key)-30:]) {
		t.Error("the list must name the key and not show it")
	}
	if strings.Contains(string(other(t).get("/v2/token?size=500").is(ok).raw), id) {
		t.Error("another tenant sees the key")
	}
	other(t).delete("/v2/token/" + id).is(missing)
	c.delete("/v2/token/" + id).is(ok)
	eventually(t, time.Second, func() bool { return reader.get(patients+"?size=1").status == unauthorized })
	c.delete("/v2/token/" + id).is(missing)
}

func TestKeysCannotWiden(t *testing.T) {
	c := owner(t)
	ids := roles(c)
	admin := ids["Multi-tenant Administrator"]
	if admin == "" {
		t.Fatal("the system role is not listed")
	}
	c.post("/v2/token", map[string]any{"acRoleIds": []string{admin}}).is(http.StatusForbidden)
	for _, body := range []map[string]any{
		{},
		{"acRoleIds": []string{}},
		{"acRoleIds": "x"},
		{"acRoleIds": []string{"00000000-0000-0000-0000-000000000000"}},
		{"acRoleIds": []string{ids["Owner"]}, "expiresAt": "2001-01-01T00:00:00Z"},
		{"acRoleIds": []string{ids["Owner"]}, "expiresAt": "soon"},
	} {
		c.post("/v2/token", body).is(bad)
	}
	k := c.with("Idempotency-Key", key(t))
	first := k.post("/v2/token", map[string]any{"acRoleIds": []string{ids["Matcher"]}}).is(http.StatusCreated).object()
	again := k.post("/v2/token", map[string]any{"acRoleIds": []string{ids["Matcher"]}})
	again.refused(http.StatusConflict, "already_created")
	if again.object()["id"] != first["id"] || strings.Contains(string(again.raw), fmt.Sprint(first["token"])) {
		t.Errorf("the repeat must name the key and not show it: %s", again.raw)
	}
}

// admin is a client as multi-tenant administrator.
func admin(t *testing.T) *client {
	a := world.Demo().Admin
	return as(t, token(t, a.ClientID, a.ClientSecret, oauth2.AuthStyleInHeader).AccessToken)
}

func TestTheAdministratorSeesNoPatient(t *testing.T) {
	admin(t).get(patients).refused(http.StatusForbidden, "permission_denied")
	admin(t).post(patients, ana()).refused(http.StatusForbidden, "permission_denied")
}

func TestOAuthClients(t *testing.T) {
	owner(t).get("/v2/oauth2/client").refused(http.StatusForbidden, "permission_denied")
	owner(t).post("/v2/oauth2/client", map[string]any{}).refused(http.StatusForbidden, "permission_denied")
	c := admin(t)
	made := c.post("/v2/oauth2/client", map[string]any{
		"client_name": "pipeline", "grant_types": []string{"client_credentials"}, "scope": "patient:read", "tenantId": world.Demo().Tenants[1].ID,
	}).is(http.StatusCreated).object()
	id, secret := fmt.Sprint(made["client_id"]), fmt.Sprint(made["client_secret"])
	access := token(t, id, secret, oauth2.AuthStyleInHeader).AccessToken
	as(t, access).get(patients + "?size=1").is(ok)
	as(t, access).post(patients, ana()).is(http.StatusForbidden)
	if listed := c.get("/v2/oauth2/client?size=500").is(ok); strings.Contains(string(listed.raw), secret) || !strings.Contains(string(listed.raw), id) {
		t.Error("the list must name the client and not show its secret")
	}
	c.delete("/v2/oauth2/client/" + id).is(ok)
	eventually(t, time.Second, func() bool { return as(t, access).get(patients+"?size=1").status == unauthorized })
}

// eventually waits until a condition holds, and fails when it does not within the limit that the product promises.
func eventually(t *testing.T, limit time.Duration, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v", limit)
		}
		<-tick.C
	}
}
