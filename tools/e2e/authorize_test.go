package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// From forms without script to the first call of the interface.
func TestSignInByFormsAndCallTheInterface(t *testing.T) {
	who := newAccount(t)
	s := signIn(t, who)
	if left := time.Until(s.Expiry); left > 15*time.Minute || left < 14*time.Minute || s.Type() != "Bearer" {
		t.Errorf("a token of type %q for %v", s.TokenType, left)
	}
	c := s.client()
	me := c.get("/v2/user/myself").is(ok).object()
	if me["id"] != who.id || me["email"] != who.email || me["emailVerified"] != true || me["firstName"] != "Ada" {
		t.Errorf("myself %v", me)
	}
	place, _ := me["activeTenant"].(map[string]any)
	if place["tenantId"] != who.tenant || place["name"] != "Analytical Ward" || fmt.Sprint(place["roles"]) != "[Owner]" || len(me["memberships"].([]any)) != 1 {
		t.Errorf("active tenant %v of %v", place, me["memberships"])
	}
	at, _ := stored(c, ana())
	c.get(at).is(ok)
	owner(t).get(at).is(missing)
	next := s.refresh()
	next.client().get(at).is(ok)
	if next.tenant() != who.tenant {
		t.Error("a refresh leads to another tenant")
	}
}

// Consent is remembered for what was allowed, and asked for again for more.
func TestConsentIsRemembered(t *testing.T) {
	who := newAccount(t)
	config := publicClient(world, "patient:read")
	s := signInAt(t, world, who, config)
	s.client().post(patients, ana()).refused(http.StatusForbidden, "permission_denied")
	verifier := oauth2.GenerateVerifier()
	again := s.by.visit(config.AuthCodeURL(state(), oauth2.S256ChallengeOption(verifier)))
	if told := again.callback(); told.Get("code") == "" {
		t.Errorf("asked again for the same: %v", told)
	}
	silent := publicClient(world, "patient:read", "patient:write")
	told := s.by.visit(silent.AuthCodeURL(state(), oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("prompt", "none"))).callback()
	if told.Get("error") != "consent_required" || told.Get("iss") != world.URL() {
		t.Errorf("more, without a word: %v", told)
	}
	more := s.by.visit(silent.AuthCodeURL(state(), oauth2.S256ChallengeOption(verifier)))
	told = s.by.submit(more, map[string]string{"decision": "deny"}).callback()
	if told.Get("error") != "access_denied" || told.Get("code") != "" || told.Get("state") == "" {
		t.Errorf("denied: %v", told)
	}
}

// The sign-in redirect takes the organization to stand in.
func TestTheRedirectTakesATenant(t *testing.T) {
	who, demo := first(world), world.Demo().Tenants
	for _, d := range demo {
		s := signInAt(t, world, who, publicClient(world), oauth2.SetAuthURLParam("tenantId", d.ID))
		if s.tenant() != d.ID {
			t.Errorf("stands in another tenant than %s", d.Name)
		}
	}
	elsewhere := newAccount(t)
	p := newPerson(t, world)
	verifier := oauth2.GenerateVerifier()
	config := publicClient(world)
	seen := p.visit(config.AuthCodeURL(state(), oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("tenantId", elsewhere.tenant)))
	seen = p.submit(seen, map[string]string{"email": who.email, "password": who.password}).is(http.StatusForbidden).says("not a member")
	if told := p.submit(seen, map[string]string{"decision": "deny"}).callback(); told.Get("error") != "access_denied" {
		t.Errorf("no member: %v", told)
	}
}

const webCallback = "https://app.example/back?x=1"

// webClient registers a confidential client at which people sign in.
func webClient(t *testing.T, changes map[string]any) (oauth2.Config, map[string]any) {
	t.Helper()
	body := map[string]any{
		"client_name": t.Name(), "grant_types": []string{"authorization_code", "refresh_token"}, "redirect_uris": []string{webCallback},
		"scope": "patient:read patient:write tenant:read offline_access",
	}
	for name, value := range changes {
		body[name] = value
	}
	made := admin(t).post("/v2/oauth2/client", body).is(http.StatusCreated).object()
	config := publicClient(world)
	config.ClientID, config.RedirectURL = made["client_id"].(string), webCallback
	config.ClientSecret, _ = made["client_secret"].(string)
	secretly(config.ClientSecret)
	return config, made
}

func TestConfidentialClientsSignPeopleIn(t *testing.T) {
	who := newAccount(t)
	config, _ := webClient(t, nil)
	for name, style := range map[string]oauth2.AuthStyle{"client_secret_basic": oauth2.AuthStyleInHeader, "client_secret_post": oauth2.AuthStyleInParams} {
		t.Run(name, func(t *testing.T) {
			config := config
			config.Endpoint.AuthStyle = style
			s := signInAt(t, world, who, config).refresh()
			at, _ := stored(s.client(), ana())
			s.client().delete(at).refused(http.StatusForbidden, "permission_denied") // not in its scope
			anyone(t).form("/auth/oauth2/token", s.refreshing()).fails("invalid_client")
		})
	}
	// Only what it was registered for: no token for itself.
	anyone(t).form("/oauth2/token", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {config.ClientID}, "client_secret": {config.ClientSecret},
	}).fails("unauthorized_client")
}

// asserted is the form of a client that proves itself by a key (RFC 7523 §2.2).
func asserted(t *testing.T, key *ecdsa.PrivateKey, id, audience, jti string, life time.Duration) url.Values {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	text, err := jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: id, Subject: id, Audience: jwt.Audience{audience}, ID: jti, IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(life)),
	}).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return url.Values{
		"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}, "client_assertion": {secretly(text)},
		"grant_type": {"client_credentials"},
	}
}

// keyedClient registers a client that acts for itself and has a key.
func keyedClient(t *testing.T) (*ecdsa.PrivateKey, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, made := webClient(t, map[string]any{
		"grant_types": []string{"client_credentials"}, "redirect_uris": []string{}, "tenantId": world.Demo().Tenants[1].ID, "scope": "patient:read",
		"token_endpoint_auth_method": "private_key_jwt",
		"jwks":                       jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "one"}}},
	})
	if made["client_secret"] != nil {
		t.Error("a client with a key got a secret as well")
	}
	return key, made["client_id"].(string)
}

func TestPrivateKeyJWT(t *testing.T) {
	key, id := keyedClient(t)
	form := asserted(t, key, id, world.URL(), rand.Text(), time.Minute)
	access := anyone(t).form("/auth/oauth2/token", form).is(ok).object()["access_token"].(string)
	as(t, secretly(access)).get(patients + "?size=1").is(ok)
	as(t, access).get("/v2/user/myself").refused(http.StatusForbidden, "no_user")
	anyone(t).form("/auth/oauth2/token", form).fails("invalid_client") // its jti is spent
	for name, form := range map[string]url.Values{
		"another's audience": asserted(t, key, id, "https://elsewhere.example", rand.Text(), time.Minute),
		"ten years":          asserted(t, key, id, world.URL(), rand.Text(), 10*365*24*time.Hour),
		"another's id":       asserted(t, key, world.Demo().Tenants[0].ClientID, world.URL(), rand.Text(), time.Minute),
	} {
		t.Run(name, func(t *testing.T) { anyone(t).form("/oauth2/token", form).fails("invalid_client") })
	}
}

func TestPushedAuthorizationRequests(t *testing.T) {
	who := newAccount(t)
	config, _ := webClient(t, nil)
	verifier := oauth2.GenerateVerifier()
	query := func(config oauth2.Config) url.Values {
		u, err := url.Parse(config.AuthCodeURL(state(), oauth2.S256ChallengeOption(verifier)))
		if err != nil {
			t.Fatal(err)
		}
		return u.Query()
	}
	anyone(t).form("/oauth2/par", query(config)).fails("invalid_client") // a confidential one says who it is here already
	pushed := query(config)
	pushed.Set("client_secret", config.ClientSecret)
	made := anyone(t).form("/oauth2/par", pushed).is(http.StatusCreated).object()
	at := "/oauth2/authorize?" + url.Values{"client_id": {config.ClientID}, "request_uri": {made["request_uri"].(string)}}.Encode()
	p := newPerson(t, world)
	p.stop = webCallback
	told := p.through(p.visit(at), who, nil)
	got, err := config.Exchange(t.Context(), told.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	as(t, secretly(got.AccessToken)).get(patients + "?size=1").is(ok)
	p.visit(at).is(bad) // it was good for one grant

	public := publicClient(world)
	made = anyone(t).form("/oauth2/par", query(public)).is(http.StatusCreated).object()
	newPerson(t, world).visit("/oauth2/authorize?" + url.Values{"client_id": {config.ClientID}, "request_uri": {made["request_uri"].(string)}}.Encode()).is(bad)
	anyone(t).form("/oauth2/par", url.Values{"client_id": {public.ClientID}, "request_uri": {"urn:x"}}).fails("invalid_request")
}

// The metadata (RFC 8414) is what the servers do: each endpoint that it names is there and takes what it is said to take.
func TestMetadataIsTrue(t *testing.T) {
	var meta map[string]any
	anyone(t).get("/.well-known/oauth-authorization-server").is(ok).into(&meta)
	at := func(name string) string {
		where, found := strings.CutPrefix(fmt.Sprint(meta[name]), world.URL())
		if !found {
			t.Fatalf("%s is %v", name, meta[name])
		}
		return where
	}
	listed := func(name string) []string {
		var list []string
		for _, v := range meta[name].([]any) {
			list = append(list, fmt.Sprint(v))
		}
		return list
	}
	newPerson(t, world).visit(at("authorization_endpoint")).is(bad) // without a client: a page
	anyone(t).get(at("jwks_uri")).is(ok)
	demo := world.Demo().Tenants[0]
	key, keyed := keyedClient(t)
	for _, name := range []string{"token_endpoint", "introspection_endpoint", "revocation_endpoint"} {
		for _, method := range listed(name + "_auth_methods_supported") {
			values := url.Values{"token": {"made-up"}, "grant_type": {"client_credentials"}}
			c := anyone(t)
			switch method {
			case "client_secret_basic":
				req := &http.Request{Header: http.Header{}}
				req.SetBasicAuth(demo.ClientID, demo.ClientSecret)
				c = c.with("Authorization", req.Header.Get("Authorization"))
			case "client_secret_post":
				values.Set("client_id", demo.ClientID)
				values.Set("client_secret", demo.ClientSecret)
			case "private_key_jwt":
				values = asserted(t, key, keyed, meta["issuer"].(string), rand.Text(), time.Minute)
				values.Set("token", "made-up")
			case "none":
				values.Set("client_id", world.Demo().PublicClientID)
				if name == "token_endpoint" { // a public client gets no token for itself, and is known
					c.form(at(name), values).fails("unauthorized_client")
					continue
				}
			default:
				t.Errorf("%s: an unknown method %q", name, method)
			}
			c.form(at(name), values).is(ok)
		}
	}
	anyone(t).form(at("pushed_authorization_request_endpoint"), nil).fails("invalid_client")
	if got := listed("code_challenge_methods_supported"); !slices.Equal(got, []string{"S256"}) {
		t.Errorf("challenges %v", got)
	}
	for _, grant := range []string{"password", "implicit", "urn:ietf:params:oauth:grant-type:jwt-bearer"} {
		if slices.Contains(listed("grant_types_supported"), grant) {
			t.Errorf("%s is offered", grant)
		}
	}
	for _, scope := range listed("scopes_supported") {
		if scope == "offline_access" {
			continue
		}
		config := publicClient(world, scope)
		p := newPerson(t, world)
		if !p.visit(config.AuthCodeURL(state(), oauth2.S256ChallengeOption(oauth2.GenerateVerifier()))).is(ok).asks("password") {
			t.Errorf("the scope %s is refused", scope)
		}
	}
}

// A resource that refuses says where a credential is had (RFC 9728), and there it is had, by a standard library.
func TestAResourceLeadsToItsAuthorizationServer(t *testing.T) {
	challenge := anyone(t).get(patients).is(unauthorized).header.Get("WWW-Authenticate")
	_, rest, _ := strings.Cut(challenge, `resource_metadata="`)
	where, _, _ := strings.Cut(rest, `"`)
	where, found := strings.CutPrefix(where, world.URL())
	if !found {
		t.Fatalf("WWW-Authenticate %q", challenge)
	}
	var resource struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
	}
	anyone(t).get(where).is(ok).into(&resource)
	if resource.Resource != world.URL() || !slices.Equal(resource.Servers, []string{world.URL()}) {
		t.Errorf("resource %+v", resource)
	}
	var server struct {
		Issuer string `json:"issuer"`
		Token  string `json:"token_endpoint"`
	}
	anyone(t).get("/.well-known/oauth-authorization-server").is(ok).into(&server)
	if server.Issuer != resource.Servers[0] {
		t.Errorf("issuer %q", server.Issuer)
	}
	demo := world.Demo().Tenants[0]
	config := clientcredentials.Config{ClientID: demo.ClientID, ClientSecret: demo.ClientSecret, TokenURL: server.Token}
	got, err := config.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	as(t, secretly(got.AccessToken)).get(patients + "?size=1").is(ok)
}

// What introspection signs (RFC 9701) is verified by a library that knows nothing but the address of the keys.
func TestSignedIntrospection(t *testing.T) {
	demo := world.Demo().Tenants[0]
	access := secretly(token(t, demo.ClientID, demo.ClientSecret, oauth2.AuthStyleInHeader, "patient:read").AccessToken)
	form := url.Values{"token": {access}, "client_id": {demo.ClientID}, "client_secret": {demo.ClientSecret}}
	a := anyone(t).with("Accept", "application/token-introspection+jwt").form("/oauth2/introspect", form).is(ok)
	raw, err := oidc.NewRemoteKeySet(t.Context(), world.URL()+"/oauth2/jwks").VerifySignature(t.Context(), string(a.raw))
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Issuer string         `json:"iss"`
		For    string         `json:"aud"`
		About  map[string]any `json:"token_introspection"`
	}
	if err := json.Unmarshal(raw, &said); err != nil {
		t.Fatal(err)
	}
	if said.Issuer != world.URL() || said.For != demo.ClientID || said.About["active"] != true || said.About["scope"] != "patient:read" || said.About["tenantId"] != demo.ID {
		t.Errorf("signed %s", raw)
	}
	// Another client learns nothing of the token.
	theirs := world.Demo().Tenants[1]
	form.Set("client_id", theirs.ClientID)
	form.Set("client_secret", theirs.ClientSecret)
	if about := anyone(t).form("/oauth2/introspect", form).is(ok); strings.TrimSpace(string(about.raw)) != `{"active":false}` {
		t.Errorf("another client learns %s", about.raw)
	}
}
