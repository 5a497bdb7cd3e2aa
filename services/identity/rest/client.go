package rest

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/api"
)

const longestURI = 2000

// CreateClient registers an OAuth client.
func (s *Server) CreateClient(ctx context.Context, r api.CreateClientRequestObject) (api.CreateClientResponseObject, error) {
	by, _ := principal.From(ctx) // the verb refuses a request without one
	key, keyFaults := idempotency.Parse(by, r.Params.IdempotencyKey, []byte("createClient"), r.Body.Raw())
	draft := identity.ClientDraft{
		TenantID:     r.Body.Text("tenantId", body.TextLength).Value,
		Name:         r.Body.Text("client_name", body.TextLength).Value,
		Scope:        r.Body.Text("scope", longestSecret).Pointer(),
		GrantTypes:   r.Body.Texts("grant_types", mostEntries, body.TextLength).Value,
		RedirectURIs: r.Body.Texts("redirect_uris", identity.MostRedirects, longestURI).Value,
		AuthMethod:   r.Body.Text("token_endpoint_auth_method", body.TextLength).Value,
		JWKS:         string(r.Body.Structure("jwks", identity.LongestKeySet).Value),
		JWKSURI:      r.Body.Text("jwks_uri", longestURI).Value,
	}
	c, err := s.Identity.RegisterClient(ctx, draft, key, func(rules ...fault.Field) error {
		return r.Body.Err(append(rules, keyFaults...)...)
	})
	if err != nil {
		return nil, err
	}
	shown := shownClient(c.Client)
	answer := api.RegisteredClient{
		ClientId: shown.ClientId, ClientIdIssuedAt: shown.ClientIdIssuedAt, ClientName: shown.ClientName, Scope: shown.Scope,
		GrantTypes: shown.GrantTypes, RedirectUris: shown.RedirectUris, TenantId: shown.TenantId,
		TokenEndpointAuthMethod: shown.TokenEndpointAuthMethod, Jwks: shown.Jwks, JwksUri: shown.JwksUri,
	}
	if c.Secret != "" {
		var never int64
		answer.ClientSecret, answer.ClientSecretExpiresAt = &c.Secret, &never
	}
	location, store := "/v2/oauth2/client/"+c.ID, noStore
	return api.CreateClient201JSONResponse{
		Body: answer, Headers: api.CreateClient201ResponseHeaders{Location: &location, CacheControl: &store},
	}, nil
}

func shownClient(c identity.Client) api.Client {
	shown := api.Client{
		ClientId: c.ID, ClientIdIssuedAt: c.CreatedAt.Unix(), ClientName: c.Name, Scope: strings.Join(c.Scope, " "),
		GrantTypes: c.GrantTypes, RedirectUris: c.RedirectURIs, TokenEndpointAuthMethod: c.AuthMethod, TenantId: c.TenantID,
	}
	if c.JWKSURI != "" {
		shown.JwksUri = &c.JWKSURI
	}
	var keys map[string]any
	if c.JWKS != "" && json.Unmarshal([]byte(c.JWKS), &keys) == nil {
		shown.Jwks = &keys
	}
	return shown
}

// ListClients answers a page of the clients of all tenants.
func (s *Server) ListClients(ctx context.Context, r api.ListClientsRequestObject) (api.ListClientsResponseObject, error) {
	if _, err := principal.Require(ctx, principal.ClientManage); err != nil {
		return nil, err // before the parameters' faults
	}
	part, err := parsePage(r.Params.Page, r.Params.Size, r.Params.After)
	if err != nil {
		return nil, err
	}
	list, total, err := s.Identity.ListClients(ctx, part)
	if err != nil {
		return nil, err
	}
	list, next := page.Cut(list, part, "/v2/oauth2/client?", func(c identity.Client) string { return c.ID })
	content := make([]api.Client, len(list))
	for i, c := range list {
		content[i] = shownClient(c)
	}
	return api.ListClients200JSONResponse{
		Body:    api.ClientPage{Content: content, Page: part.Page, Size: part.Size, TotalElements: total},
		Headers: api.ListClients200ResponseHeaders{Link: next},
	}, nil
}

// DeleteClient removes a client.
func (s *Server) DeleteClient(ctx context.Context, r api.DeleteClientRequestObject) (api.DeleteClientResponseObject, error) {
	if err := s.Identity.DeleteClient(ctx, r.ClientId); err != nil {
		return nil, err
	}
	return api.DeleteClient200JSONResponse{Message: "The client is deleted."}, nil
}
