package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// What fosite was seen doing wrong, and where a test answers it:
//
//	PKCE's session deleted before the check   TestFositeTrapWrongVerifierThenNone
//	PKCE not enforced, plain allowed          TestPKCEDowngradeInThreeForms
//	redemption races                          TestParallelRedemptionHasOneWinnerAndLateReplayEndsIt
//	rotation races                            TestRefreshInParallelRotatesOnce
//	assertions for ten years, two audiences   TestFositeTrapAssertionsOfTenYearsAndOfTwoAudiences
//	jti races                                 TestReplayOfAnAssertionInParallel
//	introspection answers any client          TestFositeTrapIntrospectionAnswersAnyClient
//	Basic beside another's client_id          TestTwoAuthenticationsAtOnce
//	a narrower scope ignored on refresh       TestRefreshScope
//	a state too short, and one not there      TestAuthorizationErrorsGoBackWithStateAndIssuer, TestMixUpEveryAnswerNamesItsIssuer
//	bcrypt on random secrets                  TestFositeTrapSecretsAreNotStretched
//	implicit and password grants turned on    TestFositeTrapNothingElseIsComposed
//	the last of duplicate headers             TestFositeTrapDuplicateHeaders

func TestFositeTrapIntrospectionAnswersAnyClient(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, secret := m.webClient(t)
	r := m.signIn(t, m.user(t))
	for _, token := range []string{r.text("access_token"), r.text("refresh_token")} {
		about := m.post(t, "/oauth2/introspect", url.Values{"token": {token}, "client_id": {id}, "client_secret": {secret}})
		if about.raw != `{"active":false}` {
			t.Errorf("another client learns %s", about.raw)
		}
	}
}

func TestFositeTrapSecretsAreNotStretched(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, _ := m.webClient(t)
	c, err := m.service.FindClient(t.Context(), id)
	if err != nil || len(c.SecretHash) != 32 {
		t.Errorf("a secret of 256 random bits is kept as %d bytes, %v", len(c.SecretHash), err)
	}
}

func TestFositeTrapNothingElseIsComposed(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, secret := m.webClient(t)
	for _, grant := range []string{
		"password", "implicit", "urn:ietf:params:oauth:grant-type:jwt-bearer", "urn:ietf:params:oauth:grant-type:device_code",
		"urn:ietf:params:oauth:grant-type:token-exchange", "authorization_code refresh_token",
	} {
		m.refused(t, grant, m.post(t, "/oauth2/token", url.Values{
			"grant_type": {grant}, "client_id": {id}, "client_secret": {secret}, "username": {"u"}, "password": {"p"}, "assertion": {"x.y.z"},
		}), 400, "unsupported_grant_type")
	}
	m.refused(t, "a grant that the client has not", m.post(t, "/oauth2/token", credentialsForm(id, secret)), 400, "unauthorized_client")
}

func TestFositeTrapDuplicateHeaders(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, secret := m.client(t, "Records Reader")
	otherID, otherSecret := m.client(t, "Records Reader")
	header := func(id, secret string) string {
		r, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, "/", nil)
		r.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret))
		return r.Header.Get("Authorization")
	}
	for _, pair := range [][2]string{{header(id, secret), header(otherID, otherSecret)}, {header(id, secret), header(id, secret)}, {header(id, secret), "Basic x"}} {
		r := m.post(t, "/oauth2/token", url.Values{"grant_type": {"client_credentials"}}, "Authorization", pair[0], "Authorization", pair[1])
		m.refused(t, "two headers", r, 400, "invalid_request")
	}
}

func TestMetadataIsCompleteAndTrue(t *testing.T) {
	t.Parallel()
	m := start(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.base+"/.well-known/oauth-authorization-server", nil)
	check(t, err)
	about := send(t, request)
	for name, want := range map[string]any{
		"issuer": issuer, "authorization_endpoint": issuer + "/oauth2/authorize", "pushed_authorization_request_endpoint": issuer + "/oauth2/par",
		"token_endpoint": issuer + "/oauth2/token", "jwks_uri": issuer + "/oauth2/jwks", "revocation_endpoint": issuer + "/oauth2/revoke",
		"introspection_endpoint": issuer + "/oauth2/introspect", "authorization_response_iss_parameter_supported": true,
		"code_challenge_methods_supported": []any{"S256"}, "response_types_supported": []any{"code"}, "response_modes_supported": []any{"query"},
		"grant_types_supported":                            []any{"authorization_code", "refresh_token", "client_credentials"},
		"token_endpoint_auth_methods_supported":            []any{"none", "client_secret_basic", "client_secret_post", "private_key_jwt"},
		"introspection_endpoint_auth_methods_supported":    []any{"client_secret_basic", "client_secret_post", "private_key_jwt"},
		"token_endpoint_auth_signing_alg_values_supported": []any{"ES256", "RS256", "PS256", "EdDSA"},
		"require_pushed_authorization_requests":            false, "request_parameter_supported": false,
	} {
		got, err := json.Marshal(about.body[name])
		check(t, err)
		wanted, err := json.Marshal(want)
		check(t, err)
		if string(got) != string(wanted) {
			t.Errorf("%s: %s, want %s", name, got, wanted)
		}
	}
	scopes, _ := about.body["scopes_supported"].([]any)
	if len(scopes) != len(principal.All.Names())+1 || !slices.Contains(scopes, any("offline_access")) {
		t.Errorf("scopes %v", scopes)
	}
}

// The answer is signed by a key that a client of another library finds in the key set (RFC 9701).
func TestSignedIntrospectionIsVerifiedByGoOIDC(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, secret := m.client(t, "Records Reader")
	token := m.token(t, id, secret)
	form := url.Values{"token": {token}, "client_id": {id}, "client_secret": {secret}}
	r := m.post(t, "/oauth2/introspect", form, "Accept", "application/token-introspection+jwt")
	if r.status != http.StatusOK || r.header.Get("Content-Type") != "application/token-introspection+jwt" {
		t.Fatalf("%d %v %s", r.status, r.header, r.raw)
	}
	raw, err := oidc.NewRemoteKeySet(t.Context(), m.base+"/oauth2/jwks").VerifySignature(t.Context(), r.raw)
	check(t, err)
	var said struct {
		Issuer   string         `json:"iss"`
		Audience string         `json:"aud"`
		About    map[string]any `json:"token_introspection"`
	}
	check(t, json.Unmarshal(raw, &said))
	if said.Issuer != issuer || said.Audience != id || said.About["active"] != true || said.About["sub"] != id || strings.Contains(string(raw), token) {
		t.Errorf("%s", raw)
	}
	if plain := m.post(t, "/oauth2/introspect", form, "Accept", "application/json"); plain.body["active"] != true {
		t.Errorf("%d %s", plain.status, plain.raw)
	}
}
