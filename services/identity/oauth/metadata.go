package oauth

import (
	"encoding/json"
	"net/http"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// serverMetadata is RFC 8414 §2, as far as there is something to tell.
type serverMetadata struct {
	Issuer                   string   `json:"issuer"`
	TokenEndpoint            string   `json:"token_endpoint"`
	JWKSURI                  string   `json:"jwks_uri"`
	ScopesSupported          []string `json:"scopes_supported"`
	ResponseTypesSupported   []string `json:"response_types_supported"`
	GrantTypesSupported      []string `json:"grant_types_supported"`
	TokenAuthMethods         []string `json:"token_endpoint_auth_methods_supported"`
	RevocationEndpoint       string   `json:"revocation_endpoint"`
	RevocationAuthMethods    []string `json:"revocation_endpoint_auth_methods_supported"`
	IntrospectionEndpoint    string   `json:"introspection_endpoint"`
	IntrospectionAuthMethods []string `json:"introspection_endpoint_auth_methods_supported"`
}

func metadata(issuer string) ([]byte, error) {
	methods := []string{identity.SecretBasic, identity.SecretPost}
	return json.Marshal(serverMetadata{
		Issuer: issuer, TokenEndpoint: issuer + "/oauth2/token", JWKSURI: issuer + "/oauth2/jwks",
		ScopesSupported: principal.All.Names(), ResponseTypesSupported: []string{}, GrantTypesSupported: grants[:],
		TokenAuthMethods:   methods,
		RevocationEndpoint: issuer + "/oauth2/revoke", RevocationAuthMethods: methods,
		IntrospectionEndpoint: issuer + "/oauth2/introspect", IntrospectionAuthMethods: methods,
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
