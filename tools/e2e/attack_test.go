package e2e

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// What is attacked, and the tests that answer it. Those of this package see it from outside, through the gateway; those
// with a path stand where a clock or a neighbour can be moved.
//
//	code injection                        TestCodeInjection
//	PKCE downgrade, three forms           TestPKCEDowngrade
//	wrong verifier, then none             TestWrongVerifierThenNone
//	parallel redemption, late replay      TestParallelRedemption
//	mix-up                                every sign-in here checks iss; TestAuthorizationErrorsNameTheIssuer
//	redirect URI variants                 TestRedirectURIVariants
//	open redirects                        TestContinueLeadsNowhereElse, TestLaunchLeadsNowhereElse, TestLoggingOutLeadsNowhereElse, TestAProviderThatIsNone
//	refresh reuse in sequence             TestRefreshReuseInSequenceEndsTheFamily
//	refresh reuse in parallel, lost answer  TestRefreshInParallelRotatesOnce, TestRefreshAfterALostAnswer
//	refresh by another client, more scope TestRefreshByAnotherClientOrForMore
//	alg none, confusion, jwk, jku, kid    services/identity/cmd/identity: TestAlgorithmTricks, TestHeadersThatBringAKeyAreIgnored
//	jti replay in parallel                TestAssertionsAreTakenOnce
//	two authentications at once           TestTwoAuthenticationsAtOnce, TestWhereACredentialStands
//	one-time code replay, expiry          TestLaunchReplayAndForgery, TestOfParallelExchangesOneWins; services/identity/cmd/identity: TestEveryRefusedExchangeIsAnsweredAlike
//	five wrong signatures                 TestFiveWrongSignaturesSpendACode
//	launch payload, wrong environment     TestLaunchReplayAndForgery
//	launch login CSRF                     tools/example
//	old token after a switch              TestSwitchThenRefresh, TestSwitchByExchange, TestSwitchKeepsTheOldToken
//	switching for others, elsewhere       TestWhoMayNotSwitch
//	API key guessing and widening         TestWhatIsNoCredential, TestKeysCannotWiden
//	user enumeration                      TestSignInDoesNotTellWhoIsRegistered, TestRegisteringTellsNobodyWhoIsRegistered, TestResetEndsEverySession; time: services/identity/cmd/identity
//	Host header poisoning                 TestMailedLinksDoNotFollowTheHostHeader
//	reset link reuse, userId swap         TestResetEndsEverySession
//	lockout abuse                         TestAVictimIsNotLockedOut
//	password spraying                     TestProduction/spraying
//	MFA brute force                       TestMFABruteForce
//	TOTP replay                           TestAuthenticatorAppAndRecoveryCodes
//	code flooding                         TestMailedCodesAreBounded
//	session fixation                      TestSessionFixation
//	CSRF                                  TestForeignForms, TestConsentCannotBeForged
//	framing                               TestNoPageStandsInAFrame
//	smuggled internal headers             TestSmuggledHeaders; gateway: TestSmuggling
//	SSRF by jwks_uri and issuer           TestProduction/addresses_within, TestAProviderThatIsNone; services/identity/cmd/identity: TestKeysAreNotFetchedFromWithin
//	argon2 memory exhaustion              TestManySignInsAtOnce; services/identity/password
//	cached session after revocation       TestLogoutEndsTheSessionEverywhere, TestARevokedTokenIsDead, TestKeysAreMintedScopedListedAndRevoked
//	cached session across scopes, tenants TestCachedSessionsAreApart
//	cached session across environments    TestProduction/environments_are_apart

// authorizing is a good authorization request of the public client, with changes; an empty one leaves out.
func authorizing(changes ...string) string {
	query := url.Values{
		"client_id": {world.Demo().PublicClientID}, "response_type": {"code"}, "redirect_uri": {callback}, "scope": {"patient:read"},
		"state": {state()}, "code_challenge": {oauth2.S256ChallengeFromVerifier(oauth2.GenerateVerifier())}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(changes); i += 2 {
		query.Set(changes[i], changes[i+1])
		if changes[i+1] == "" {
			query.Del(changes[i])
		}
	}
	return "/oauth2/authorize?" + query.Encode()
}

func TestRedirectURIVariants(t *testing.T) {
	web, _ := webClient(t, nil)
	p := newPerson(t, world)
	for _, v := range []struct{ client, uri string }{
		{"", "http://127.0.0.1:80@evil.example/callback"},
		{"", "http://user@127.0.0.1/callback"},
		{"", "http://127.0.0.1.evil.example/callback"},
		{"", "http://127.0.0.2/callback"},
		{"", "http://localhost/callback"},
		{"", "https://127.0.0.1/callback"},
		{"", "HTTP://127.0.0.1/callback"},
		{"", "http://127.0.0.1/Callback"},
		{"", "http://127.0.0.1/callback/"},
		{"", "http://127.0.0.1/callback/../callback"},
		{"", "http://127.0.0.1/%63allback"},
		{"", "http://127.0.0.1/callback#x"},
		{"", "http://127.0.0.1/callback?x=1"},
		{"", "http://127.0.0.1:65536/callback"},
		{"", "http://127.0.0.1/callback\r\nX: y"},
		{web.ClientID, "https://app.example/back"},
		{web.ClientID, "https://app.example/back?x=1&y=2"},
		{web.ClientID, "https://app.example:443/back?x=1"},
		{web.ClientID, "https://APP.example/back?x=1"},
		{web.ClientID, "https://user@app.example/back?x=1"},
		{web.ClientID, "https://app.example/a/../back?x=1"},
		{web.ClientID, "https://app.example/back?x=1#"},
		{web.ClientID, "http://app.example/back?x=1"},
		{web.ClientID, "https://app.example.evil.example/back?x=1"},
		{web.ClientID, "javascript:alert(1)"},
		{web.ClientID, "//app.example/back?x=1"},
	} {
		if v.client == "" {
			v.client = world.Demo().PublicClientID
		}
		seen := p.visit(authorizing("client_id", v.client, "redirect_uri", v.uri))
		if seen.status != bad || seen.header.Get("Location") != "" || len(seen.forms) != 0 {
			t.Errorf("%q answered %d %s", v.uri, seen.status, seen.header.Get("Location"))
		}
	}
	for _, uri := range []string{callback, "http://127.0.0.1:49152/callback", "http://[::1]:1/callback"} {
		p.visit(authorizing("redirect_uri", uri)).is(ok)
	}
}

func TestPKCEDowngrade(t *testing.T) {
	p := newPerson(t, world)
	for name, changes := range map[string][]string{
		"no challenge": {"code_challenge", "", "code_challenge_method", ""}, "a method without a challenge": {"code_challenge", ""},
		"plain": {"code_challenge_method", "plain"}, "plain by default": {"code_challenge_method", ""},
	} {
		if told := p.visit(authorizing(changes...)).callback(); told.Get("error") != "invalid_request" || told.Get("iss") != world.URL() {
			t.Errorf("%s: %v", name, told)
		}
	}
	// A code with a challenge is redeemed by its verifier alone.
	who, config := newAccount(t), publicClient(world)
	code, verifier := p.codeFor(config, who)
	for _, proof := range []string{"", oauth2.S256ChallengeFromVerifier(verifier), oauth2.GenerateVerifier()} {
		anyone(t).form("/oauth2/token", redeeming(config, code, proof)).fails("invalid_grant")
	}
}

// redeeming is the form that redeems a code.
func redeeming(config oauth2.Config, code, verifier string) url.Values {
	form := url.Values{"grant_type": {"authorization_code"}, "client_id": {config.ClientID}, "code": {code}, "redirect_uri": {config.RedirectURL}}
	if config.ClientSecret != "" {
		form.Set("client_secret", config.ClientSecret)
	}
	if verifier != "" {
		form.Set("code_verifier", verifier)
	}
	return form
}

// A wrong try does not take the proof away that the next one has to bring.
func TestWrongVerifierThenNone(t *testing.T) {
	p, config := newPerson(t, world), publicClient(world)
	code, verifier := p.codeFor(config, newAccount(t))
	anyone(t).form("/oauth2/token", redeeming(config, code, oauth2.GenerateVerifier())).fails("invalid_grant")
	anyone(t).form("/oauth2/token", redeeming(config, code, "")).fails("invalid_grant")
	anyone(t).form("/oauth2/token", redeeming(config, code, verifier)).is(ok)
}

// Somebody's code is worth nothing at another client, at another address, or with another's proof.
func TestCodeInjection(t *testing.T) {
	p, config := newPerson(t, world), publicClient(world)
	web, _ := webClient(t, nil)
	code, verifier := p.codeFor(config, newAccount(t))
	_, theirs := newPerson(t, world).codeFor(config, newAccount(t))
	elsewhere := config
	elsewhere.RedirectURL = "http://127.0.0.1:49152/callback"
	anyone(t).form("/oauth2/token", redeeming(web, code, verifier)).fails("invalid_grant")
	anyone(t).form("/oauth2/token", redeeming(elsewhere, code, verifier)).fails("invalid_grant")
	anyone(t).form("/oauth2/token", redeeming(config, code, theirs)).fails("invalid_grant")
	anyone(t).form("/oauth2/token", redeeming(config, code, verifier)).is(ok)
}

func TestAuthorizationErrorsNameTheIssuer(t *testing.T) {
	p := newPerson(t, world)
	for code, changes := range map[string][]string{
		"unsupported_response_type": {"response_type", "token"}, "invalid_scope": {"scope", "everything"}, "invalid_request": {"response_mode", "fragment"},
		"login_required": {"prompt", "none"}, "request_not_supported": {"request", "x.y.z"},
	} {
		asked := state()
		told := p.visit(authorizing(append(changes, "state", asked)...)).callback()
		if told.Get("error") != code || told.Get("iss") != world.URL() || told.Get("state") != asked {
			t.Errorf("%s: %v", code, told)
		}
	}
}

func TestAssertionsAreTakenOnce(t *testing.T) {
	key, id := keyedClient(t)
	form := asserted(t, key, id, world.URL(), rand.Text(), time.Minute)
	won := 0
	for _, a := range together(16, func() answer { return anyone(t).form("/oauth2/token", form) }) {
		if a.status == ok {
			won++
		} else {
			a.fails("invalid_client")
		}
	}
	if won != 1 {
		t.Errorf("%d of 16 used one assertion", won)
	}
}

func TestTwoAuthenticationsAtOnce(t *testing.T) {
	d := world.Demo().Tenants[0]
	req := &http.Request{Header: http.Header{}}
	req.SetBasicAuth(d.ClientID, d.ClientSecret)
	basic := req.Header.Get("Authorization")
	key, keyed := keyedClient(t)
	for name, form := range map[string]url.Values{
		"the secret twice": {"grant_type": {"client_credentials"}, "client_id": {d.ClientID}, "client_secret": {d.ClientSecret}},
		"and an assertion": asserted(t, key, keyed, world.URL(), rand.Text(), time.Minute),
		"of another":       {"grant_type": {"client_credentials"}, "client_id": {world.Demo().Tenants[1].ClientID}},
	} {
		a := anyone(t).with("Authorization", basic).form("/oauth2/token", form)
		if a.status == ok || a.object()["access_token"] != nil || !slices.Contains([]string{"invalid_request", "invalid_client"}, a.object()["error"].(string)) {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
	}
	// The gateway takes no request with two of them, whatever they are and wherever it goes.
	twice := anyone(t).with("Authorization", basic).with("Authorization", basic).with("Content-Type", formType)
	if a, err := twice.try(http.MethodPost, "/oauth2/token", "", nil); err != nil || a.status != bad {
		t.Errorf("two headers: %d, %v", a.status, err)
	}
}

// A session that gateways remember is used as nothing but what it is, whichever other one was used just before.
func TestCachedSessionsAreApart(t *testing.T) {
	who := first(world)
	d := world.Demo().Tenants
	narrow := signInAt(t, world, who, publicClient(world, "patient:read"), oauth2.SetAuthURLParam("tenantId", d[0].ID))
	wide := signInAt(t, world, who, publicClient(world), oauth2.SetAuthURLParam("tenantId", d[0].ID))
	there := signInAt(t, world, who, publicClient(world), oauth2.SetAuthURLParam("tenantId", d[1].ID))
	at, _ := stored(wide.client(), ana())
	for range 3 {
		wide.client().patch(at, map[string]any{"middleName": state()}).is(ok)
		narrow.client().get(at).is(ok)
		narrow.client().patch(at, map[string]any{"middleName": "N"}).refused(http.StatusForbidden, "permission_denied")
		there.client().get(at).is(missing)
	}
	wide.client().post("/auth/user/logout", nil).is(ok)
	wide.ended()
	narrow.client().get(at).is(ok) // a sign-in of its own, in a browser of its own
	there.client().get(at).is(missing)
}

// What only the mesh may say to itself is not taken from outside, on pages as little as on the interface.
func TestSmuggledHeaders(t *testing.T) {
	inside(t)
	keys, err := principal.ParseKeyring(world.MeshKey())
	if err != nil {
		t.Fatal(err)
	}
	// Even a genuine assertion is none when it comes from outside.
	me := principal.Encode(principal.Principal{
		Kind: principal.Session, UserID: world.Demo().Tenants[0].User.ID, TenantID: world.Demo().Tenants[0].ID, Environment: "demo", Permissions: principal.All,
	})
	for _, path := range []string{patients, "/account", "/v2/user/myself", "/v2/tenant"} {
		genuine := keys.Sign(me, http.MethodGet, path, time.Now())
		for _, name := range []string{principal.AssertionHeader, "mesh-assertion", "Mesh_Assertion", "Mesh-User-Id", "Mesh-Tenant-Id"} {
			header := map[string]string{name: genuine, "Connection": "close, " + name, "X-Forwarded-User": world.Demo().Tenants[0].User.ID}
			if path == "/account" {
				if seen := newPerson(t, world).sendWith(header, http.MethodGet, path, nil); seen.at.Path != "/sign-in" {
					t.Errorf("%s leads to %s", name, seen.at.Path)
				}
				continue
			}
			c := anyone(t)
			for n, v := range header {
				c = c.with(n, v)
			}
			c.get(path).is(unauthorized)
		}
	}
	other(t).with(principal.AssertionHeader, keys.Sign(me, http.MethodGet, "/v2/tenant", time.Now())).get("/v2/tenant").is(ok)
	if got := other(t).with(principal.AssertionHeader, keys.Sign(me, http.MethodGet, "/v2/tenant", time.Now())).get("/v2/tenant").object(); got["id"] != world.Demo().Tenants[1].ID {
		t.Error("a smuggled assertion changed the tenant")
	}
	// And who is signed in as themselves stays that.
	anyone(t).get("/internal/credential").is(unauthorized)
	owner(t).post("/internal/user", map[string]any{}).is(missing)
}

// Many sign-ins at once cost bounded memory: each is answered, with a refusal where it must be, and then all is well.
func TestManySignInsAtOnce(t *testing.T) {
	p := newPerson(t, world)
	at := p.visit("/sign-in")
	form := at.form(map[string]string{"email": "", "password": ""})
	seen := map[int]int{}
	for _, status := range together(24, func() int {
		values := url.Values{}
		for name, list := range form.inputs {
			values[name] = list
		}
		values.Set("email", strings.ToLower(rand.Text())+"@hospital.example")
		values.Set("password", rand.Text())
		return p.send(http.MethodPost, p.base+form.action, values).status
	}) {
		seen[status]++
	}
	for status := range seen {
		if status != bad && status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests {
			t.Errorf("answered %v", seen)
		}
	}
	signIn(t, first(world)).client().get(fmt.Sprint(patients, "?size=1")).is(ok)
}
