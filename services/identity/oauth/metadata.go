package oauth

import (
	"encoding/json"
	"net/http"

	"github.com/go-jose/go-jose/v4"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// serverMetadata is RFC 8414 §2, as far as there is something to tell.
type serverMetadata struct {
	Issuer                   string                    `json:"issuer"`
	AuthorizationEndpoint    string                    `json:"authorization_endpoint"`
	TokenEndpoint            string                    `json:"token_endpoint"`
	PushedEndpoint           string                    `json:"pushed_authorization_request_endpoint"`
	PushedRequired           bool                      `json:"require_pushed_authorization_requests"`
	JWKSURI                  string                    `json:"jwks_uri"`
	ScopesSupported          []string                  `json:"scopes_supported"`
	ResponseTypesSupported   []string                  `json:"response_types_supported"`
	ResponseModesSupported   []string                  `json:"response_modes_supported"`
	GrantTypesSupported      []string                  `json:"grant_types_supported"`
	ChallengeMethods         []string                  `json:"code_challenge_methods_supported"`
	IssInResponse            bool                      `json:"authorization_response_iss_parameter_supported"`
	TokenAuthMethods         []string                  `json:"token_endpoint_auth_methods_supported"`
	TokenAuthAlgorithms      []jose.SignatureAlgorithm `json:"token_endpoint_auth_signing_alg_values_supported"`
	RevocationEndpoint       string                    `json:"revocation_endpoint"`
	RevocationAuthMethods    []string                  `json:"revocation_endpoint_auth_methods_supported"`
	RevocationAlgorithms     []jose.SignatureAlgorithm `json:"revocation_endpoint_auth_signing_alg_values_supported"`
	IntrospectionEndpoint    string                    `json:"introspection_endpoint"`
	IntrospectionAuthMethods []string                  `json:"introspection_endpoint_auth_methods_supported"`
	IntrospectionAlgorithms  []jose.SignatureAlgorithm `json:"introspection_endpoint_auth_signing_alg_values_supported"`
	IntrospectionSigned      []jose.SignatureAlgorithm `json:"introspection_signing_alg_values_supported"`
	RequestURISupported      bool                      `json:"request_uri_parameter_supported"`
	RequestSupported         bool                      `json:"request_parameter_supported"`
	PromptValues             []string                  `json:"prompt_values_supported"`
}

func metadata(issuer string) ([]byte, error) {
	proving := []string{identity.SecretBasic, identity.SecretPost, identity.PrivateKey}
	all := append([]string{identity.NoSecret}, proving...)
	algorithms := identity.AssertionAlgorithms()
	return json.Marshal(serverMetadata{
		Issuer: issuer, AuthorizationEndpoint: issuer + "/oauth2/authorize", TokenEndpoint: issuer + "/oauth2/token",
		PushedEndpoint: issuer + "/oauth2/par", JWKSURI: issuer + "/oauth2/jwks",
		ScopesSupported: append(principal.All.Names(), identity.OfflineAccess), ResponseTypesSupported: []string{"code"},
		ResponseModesSupported: []string{"query"}, GrantTypesSupported: grants[:],
		ChallengeMethods: []string{challengeMethod}, IssInResponse: true,
		TokenAuthMethods: all, TokenAuthAlgorithms: algorithms,
		RevocationEndpoint: issuer + "/oauth2/revoke", RevocationAuthMethods: all, RevocationAlgorithms: algorithms,
		IntrospectionEndpoint: issuer + "/oauth2/introspect", IntrospectionAuthMethods: proving, IntrospectionAlgorithms: algorithms,
		IntrospectionSigned: []jose.SignatureAlgorithm{jose.ES256},
		PromptValues:        []string{"none", "login", "consent"},
	})
}

// Metadata tells what the server can do (RFC 8414).
func (s *Server) Metadata() Response { return public(s.metadata) }

// public is JSON that may be kept for a while.
func public(body []byte) Response {
	return Response{Status: http.StatusOK, Body: body, Header: map[string]string{
		"Content-Type": "application/json", "Cache-Control": "public, max-age=300",
	}}
}
