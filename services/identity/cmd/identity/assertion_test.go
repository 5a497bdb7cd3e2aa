package main

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// signer is a client that proves itself by a key.
type signer struct {
	m   *meshed
	id  string
	key *ecdsa.PrivateKey
}

func ecKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	return key
}

func setOf(t testing.TB, keys ...jose.JSONWebKey) string {
	t.Helper()
	text, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
	check(t, err)
	return string(text)
}

func newSigner(t testing.TB, m *meshed, more ...jose.JSONWebKey) signer {
	t.Helper()
	key := ecKey(t)
	keys := append([]jose.JSONWebKey{{Key: key.Public(), KeyID: "k1"}}, more...)
	id, secret := m.webClient(t, "token_endpoint_auth_method", `"private_key_jwt"`, "jwks", setOf(t, keys...),
		"grant_types", `["client_credentials"]`, "scope", `"patient:read"`, "redirect_uris", `[]`)
	if secret != "" {
		t.Error("a client with a key got a secret as well")
	}
	return signer{m: m, id: id, key: key}
}

func (s signer) claims(changes map[string]any) map[string]any {
	now := s.m.clock.now()
	claims := map[string]any{
		"iss": s.id, "sub": s.id, "aud": issuer, "jti": rand.Text(), "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
	}
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	return claims
}

func signed(t testing.TB, algorithm jose.SignatureAlgorithm, key any, header map[jose.HeaderKey]any, claims any) string {
	t.Helper()
	maker, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, &jose.SignerOptions{ExtraHeaders: header})
	check(t, err)
	text, err := jwt.Signed(maker).Claims(claims).Serialize()
	check(t, err)
	return text
}

func (s signer) assertion(t testing.TB, changes map[string]any) string {
	t.Helper()
	return signed(t, jose.ES256, s.key, nil, s.claims(changes))
}

func asserting(assertion string, changes ...string) url.Values {
	form := url.Values{"grant_type": {"client_credentials"}, "client_assertion_type": {assertionType}, "client_assertion": {assertion}}
	for i := 0; i+1 < len(changes); i += 2 {
		form.Set(changes[i], changes[i+1])
	}
	return form
}

func (s signer) ask(t testing.TB, form url.Values, header ...string) reply {
	t.Helper()
	return s.m.post(t, "/oauth2/token", form, header...)
}

func TestPrivateKeyJWT(t *testing.T) {
	t.Parallel()
	m := start(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	check(t, err)
	edPublic, edKey, err := ed25519.GenerateKey(rand.Reader)
	check(t, err)
	s := newSigner(t, m, jose.JSONWebKey{Key: rsaKey.Public(), KeyID: "rsa"}, jose.JSONWebKey{Key: edPublic, KeyID: "ed"})
	for name, assertion := range map[string]string{
		"ES256":                s.assertion(t, nil),
		"ES256 with kid":       signed(t, jose.ES256, s.key, map[jose.HeaderKey]any{"kid": "k1"}, s.claims(nil)),
		"RS256":                signed(t, jose.RS256, rsaKey, nil, s.claims(nil)),
		"PS256":                signed(t, jose.PS256, rsaKey, nil, s.claims(nil)),
		"EdDSA":                signed(t, jose.EdDSA, edKey, nil, s.claims(nil)),
		"a list of one":        s.assertion(t, map[string]any{"aud": []string{issuer}}),
		"five minutes, no iat": s.assertion(t, map[string]any{"exp": m.clock.now().Add(5 * time.Minute).Unix(), "iat": nil}),
	} {
		r := s.ask(t, asserting(assertion))
		if p, found := m.resolve(t, r.text("access_token")); r.status != http.StatusOK || !found || p.ClientID != s.id || p.Permissions != principal.PatientRead {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	if r := s.ask(t, asserting(s.assertion(t, nil), "client_id", s.id)); r.status != http.StatusOK {
		t.Errorf("with its client_id: %d %s", r.status, r.raw)
	}
	if r := m.post(t, "/oauth2/introspect", asserting(s.assertion(t, nil), "token", "x.y")); r.status != http.StatusOK {
		t.Errorf("introspection: %d %s", r.status, r.raw)
	}
}

// Fosite accepts an assertion with an expiry ten years out, and with a second audience.
func TestFositeTrapAssertionsOfTenYearsAndOfTwoAudiences(t *testing.T) {
	t.Parallel()
	m := start(t)
	s, other := newSigner(t, m), newSigner(t, m)
	at := func(after time.Duration) int64 { return m.clock.now().Add(after).Unix() }
	for name, changes := range map[string]map[string]any{
		"ten years":                {"exp": at(10 * 365 * 24 * time.Hour)},
		"six minutes":              {"exp": at(6 * time.Minute)},
		"expired":                  {"exp": at(-time.Second)},
		"no exp":                   {"exp": nil},
		"two audiences":            {"aud": []string{issuer, "https://elsewhere.example"}},
		"no audience":              {"aud": nil},
		"an empty list":            {"aud": []string{}},
		"another audience":         {"aud": "https://elsewhere.example"},
		"the token endpoint":       {"aud": issuer + "/oauth2/token"},
		"the issuer with a slash":  {"aud": issuer + "/"},
		"no jti":                   {"jti": nil},
		"an endless jti":           {"jti": strings.Repeat("x", 300)},
		"issued by another":        {"iss": other.id},
		"about another":            {"sub": other.id},
		"another client's":         {"iss": other.id, "sub": other.id},
		"nobody":                   {"iss": nil, "sub": nil},
		"a client that is not":     {"iss": newID(t), "sub": newID(t)},
		"the public client":        {"iss": publicID, "sub": publicID},
		"not yet":                  {"nbf": at(2 * time.Minute)},
		"issued in the future":     {"iat": at(2 * time.Minute), "exp": at(3 * time.Minute)},
		"an exp that is no number": {"exp": "soon"},
	} {
		m.refused(t, name, s.ask(t, asserting(s.assertion(t, changes))), 401, "invalid_client")
	}
	good := s.assertion(t, nil)
	m.refused(t, "another type", s.ask(t, asserting(good, "client_assertion_type", "urn:x")), 401, "invalid_client")
	m.refused(t, "another client_id beside it", s.ask(t, asserting(good, "client_id", other.id)), 401, "invalid_client")
	if r := s.ask(t, asserting(good)); r.status != http.StatusOK {
		t.Errorf("what was refused used its jti up: %d %s", r.status, r.raw)
	}
}

func TestTwoAuthenticationsAtOnce(t *testing.T) {
	t.Parallel()
	m := start(t)
	s := newSigner(t, m)
	id, secret := m.client(t, "Records Reader")
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(id)+":"+url.QueryEscape(secret)))
	m.refused(t, "assertion and Basic", s.ask(t, asserting(s.assertion(t, nil)), "Authorization", basic), 400, "invalid_request")
	m.refused(t, "assertion and secret", s.ask(t, asserting(s.assertion(t, nil), "client_secret", "x")), 400, "invalid_request")
	m.refused(t, "assertion and another's secret", s.ask(t, asserting(s.assertion(t, nil), "client_id", id, "client_secret", secret)), 400, "invalid_request")
	m.refused(t, "Basic and secret", s.ask(t, credentialsForm(id, secret), "Authorization", basic), 400, "invalid_request")
	m.refused(t, "Basic and another's client_id", m.post(t, "/oauth2/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {s.id}}, "Authorization", basic), 400, "invalid_request")
	m.refused(t, "a client with a key by its id alone", m.post(t, "/oauth2/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {s.id}}), 401, "invalid_client")
	m.refused(t, "a client with a key by a secret", m.post(t, "/oauth2/token", credentialsForm(s.id, "x")), 401, "invalid_client")
	m.refused(t, "the public client for itself", m.post(t, "/oauth2/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {publicID}}), 400, "unauthorized_client")
}

func TestReplayOfAnAssertionInParallel(t *testing.T) {
	t.Parallel()
	m := start(t)
	s, other := newSigner(t, m), newSigner(t, m)
	id := rand.Text()
	assertion := s.assertion(t, map[string]any{"jti": id})
	good := 0
	for _, r := range together(16, func() reply { return s.ask(t, asserting(assertion)) }) {
		if r.status == http.StatusOK {
			good++
			continue
		}
		m.refused(t, "a replay", r, 401, "invalid_client")
	}
	if good != 1 {
		t.Errorf("one assertion was good %d times", good)
	}
	if r := other.ask(t, asserting(other.assertion(t, map[string]any{"jti": id}))); r.status != http.StatusOK {
		t.Errorf("another client's jti of the same text: %d %s", r.status, r.raw)
	}
}

func TestAssertionWithoutRedisIsNotAccepted(t *testing.T) {
	t.Parallel()
	m := start(t)
	s := newSigner(t, m)
	assertion := s.assertion(t, nil)
	check(t, m.redis.Close())
	m.refused(t, "nobody can tell a replay", s.ask(t, asserting(assertion)), 503, "temporarily_unavailable")
}

// unsigned writes a JWT by hand.
func unsigned(t testing.TB, header, claims any, signature []byte) string {
	t.Helper()
	part := func(v any) string {
		text, err := json.Marshal(v)
		check(t, err)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	return part(header) + "." + part(claims) + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func TestAlgorithmTricks(t *testing.T) {
	t.Parallel()
	m := start(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	check(t, err)
	s := newSigner(t, m, jose.JSONWebKey{Key: rsaKey.Public(), KeyID: "only-rs", Algorithm: "RS256"})
	der, err := x509.MarshalPKIXPublicKey(rsaKey.Public())
	check(t, err)
	published := setOf(t, jose.JSONWebKey{Key: rsaKey.Public(), KeyID: "only-rs", Algorithm: "RS256"})
	attempts := map[string]string{
		"an algorithm that the key is not for": signed(t, jose.PS256, rsaKey, nil, s.claims(nil)),
		"RS512":                                signed(t, jose.RS512, rsaKey, nil, s.claims(nil)),
		"a signature of another text":          strings.Join(append(strings.Split(s.assertion(t, nil), ".")[:2], strings.Split(s.assertion(t, nil), ".")[2]), "."),
		"empty":                                "..",
		"no JWT":                               "x",
		"JSON form":                            `{"payload":"e30","signatures":[]}`,
	}
	for _, none := range []string{"none", "None", "NONE", "nOnE", ""} {
		attempts["alg "+none] = unsigned(t, map[string]any{"alg": none}, s.claims(nil), nil)
	}
	for what, secret := range map[string][]byte{
		"DER": der, "PEM": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), "JWKS": []byte(published), "zeros": make([]byte, 32),
	} {
		// HS256 with what is public for its secret.
		attempts["confusion by "+what] = signed(t, jose.HS256, secret, nil, s.claims(nil))
	}
	for name, assertion := range attempts {
		m.refused(t, name, s.ask(t, asserting(assertion)), 401, "invalid_client")
	}
}

func TestHeadersThatBringAKeyAreIgnored(t *testing.T) {
	t.Parallel()
	m := start(t)
	s := newSigner(t, m)
	forger := ecKey(t)
	var asked bool
	evil := testServer(t, func(w http.ResponseWriter, _ *http.Request) {
		asked = true
		_, _ = w.Write([]byte(setOf(t, jose.JSONWebKey{Key: forger.Public(), KeyID: "k1"})))
	})
	embedded := jose.JSONWebKey{Key: forger.Public(), KeyID: "k1"}
	for name, header := range map[string]map[jose.HeaderKey]any{
		"jwk":               {"jwk": embedded},
		"jwk and kid":       {"jwk": embedded, "kid": "k1"},
		"jku":               {"jku": evil, "kid": "k1"},
		"x5u":               {"x5u": evil, "kid": "k1"},
		"kid":               {"kid": "k1"},
		"kid as a path":     {"kid": "../../../../dev/null"},
		"kid as SQL":        {"kid": "k1' OR '1'='1"},
		"kid that is a URL": {"kid": evil},
		"crit":              {"crit": []string{"exp"}, "exp": 1},
	} {
		m.refused(t, name, s.ask(t, asserting(signed(t, jose.ES256, forger, header, s.claims(nil)))), 401, "invalid_client")
	}
	m.refused(t, "the right key under another's kid", s.ask(t, asserting(signed(t, jose.ES256, s.key, map[jose.HeaderKey]any{"kid": "k2"}, s.claims(nil)))), 401, "invalid_client")
	if asked {
		t.Error("an address out of a header was fetched")
	}
	if r := s.ask(t, asserting(signed(t, jose.ES256, s.key, map[jose.HeaderKey]any{"jku": evil, "jwk": embedded}, s.claims(nil)))); r.status != http.StatusOK || asked {
		t.Errorf("the right key, with a header to ignore: %d %s", r.status, r.raw)
	}
}

// testServer is a server on the loopback, by its address.
func testServer(t testing.TB, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func TestKeysOfAClientAreJudgedAtRegistration(t *testing.T) {
	t.Parallel()
	m := start(t)
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Skip("this Go makes no weak keys")
	}
	private := ecKey(t)
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	check(t, err)
	good := setOf(t, jose.JSONWebKey{Key: private.Public()})
	for name, c := range map[string]struct{ members, field string }{
		"neither":        {``, "jwks"},
		"both":           {`, "jwks": ` + good + `, "jwks_uri": "https://app.example/keys"`, "jwks_uri"},
		"private":        {`, "jwks": ` + setOf(t, jose.JSONWebKey{Key: private}), "jwks"},
		"symmetric":      {`, "jwks": {"keys": [{"kty": "oct", "k": "AAAA"}]}`, "jwks"},
		"empty":          {`, "jwks": {"keys": []}`, "jwks"},
		"no set":         {`, "jwks": {}`, "jwks"},
		"a text":         {`, "jwks": "x"`, "jwks"},
		"weak RSA":       {`, "jwks": ` + setOf(t, jose.JSONWebKey{Key: weak.Public()}), "jwks"},
		"another curve":  {`, "jwks": ` + setOf(t, jose.JSONWebKey{Key: p384.Public()}), "jwks"},
		"for encryption": {`, "jwks": ` + setOf(t, jose.JSONWebKey{Key: private.Public(), Use: "enc"}), "jwks"},
		"plain http":     {`, "jwks_uri": "http://app.example/keys"`, "jwks_uri"},
		"credentials":    {`, "jwks_uri": "https://u:p@app.example/keys"`, "jwks_uri"},
		"another scheme": {`, "jwks_uri": "file:///etc/passwd"`, "jwks_uri"},
	} {
		r := m.ask(t, m.caller(principal.ClientManage), http.MethodPost, "/v2/oauth2/client",
			`{"client_name": "c", "token_endpoint_auth_method": "private_key_jwt"`+c.members+`}`)
		if r.status != http.StatusBadRequest || !strings.Contains(r.raw, `"field":"`+c.field+`"`) {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	r := m.ask(t, m.caller(principal.ClientManage), http.MethodPost, "/v2/oauth2/client", `{"client_name": "c", "jwks": `+good+`}`)
	if r.status != http.StatusBadRequest || !strings.Contains(r.raw, `"field":"jwks"`) {
		t.Errorf("keys beside a secret: %d %s", r.status, r.raw)
	}
	r = m.ask(t, m.caller(principal.ClientManage), http.MethodPost, "/v2/oauth2/client",
		`{"client_name": "c", "token_endpoint_auth_method": "private_key_jwt", "jwks": `+good+`}`)
	if keys, _ := r.body["jwks"].(map[string]any); r.status != http.StatusCreated || r.text("client_secret") != "" || keys["keys"] == nil {
		t.Errorf("%d %s", r.status, r.raw)
	}
}

// SSRF by jwks_uri: an address within is never asked, and the client is not told why.
func TestKeysAreNotFetchedFromWithin(t *testing.T) {
	t.Parallel()
	m := start(t) // its own address is public, so the loopback is not allowed
	key := ecKey(t)
	asked := false
	within := testServer(t, func(w http.ResponseWriter, _ *http.Request) {
		asked = true
		_, _ = w.Write([]byte(setOf(t, jose.JSONWebKey{Key: key.Public()})))
	})
	for _, uri := range []string{
		within + "/keys", strings.Replace(within, "http:", "https:", 1), "https://169.254.169.254/latest", "https://10.0.0.1/", "https://[fd00:ec2::254]/",
		"https://localhost/keys", "https://2130706433/", "https://[::ffff:127.0.0.1]/",
	} {
		id, _ := m.webClient(t, "token_endpoint_auth_method", `"private_key_jwt"`, "jwks_uri", `"`+uri+`"`,
			"grant_types", `["client_credentials"]`, "scope", `"patient:read"`, "redirect_uris", `[]`)
		s := signer{m: m, id: id, key: key}
		m.refused(t, uri, s.ask(t, asserting(s.assertion(t, nil))), 401, "invalid_client")
	}
	if asked {
		t.Error("an address within was asked")
	}
}
