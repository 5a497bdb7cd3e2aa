package rest

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/api"
)

// CreateApiKey mints a key.
func (s *Server) CreateApiKey(ctx context.Context, r api.CreateApiKeyRequestObject) (api.CreateApiKeyResponseObject, error) { //nolint:revive // generated name
	by, _ := principal.From(ctx) // the verb refuses a request without one
	key, keyFaults := idempotency.Parse(by, r.Params.IdempotencyKey, []byte("createApiKey"), r.Body.Raw())
	draft := identity.KeyDraft{
		RoleIDs:   r.Body.Texts("acRoleIds", mostEntries, body.TextLength).Value,
		Name:      r.Body.Text("name", body.TextLength).Value,
		ExpiresAt: r.Body.Text("expiresAt", body.TextLength).Pointer(),
	}
	k, err := s.Identity.MintKey(ctx, draft, key, func(rules ...fault.Field) error {
		return r.Body.Err(append(rules, keyFaults...)...)
	})
	if err != nil {
		return nil, err
	}
	location, store := "/v2/token/"+k.ID, noStore
	return api.CreateApiKey201JSONResponse{
		Body: api.MintedApiKey{
			Id: k.ID, Token: k.Token, Name: k.Name, Prefix: k.Prefix(), Roles: shownRoles(k.Roles, k.RoleIDs),
			CreatedAt: instant(k.CreatedAt), ExpiresAt: maybeInstant(k.ExpiresAt),
		},
		Headers: api.CreateApiKey201ResponseHeaders{Location: &location, CacheControl: &store},
	}, nil
}

// ListApiKeys answers a page of keys.
func (s *Server) ListApiKeys(ctx context.Context, r api.ListApiKeysRequestObject) (api.ListApiKeysResponseObject, error) { //nolint:revive // generated name
	if _, err := principal.Require(ctx, principal.KeyManage); err != nil {
		return nil, err // before the parameters' faults
	}
	part, err := parsePage(r.Params.Page, r.Params.Size, r.Params.After)
	if err != nil {
		return nil, err
	}
	list, err := s.Identity.ListKeys(ctx, part)
	if err != nil {
		return nil, err
	}
	keys, next := page.Cut(list.Keys, part, "/v2/token?", func(k identity.APIKey) string { return k.ID })
	content := make([]api.ApiKey, len(keys))
	for i, k := range keys {
		content[i] = api.ApiKey{
			Id: k.ID, Name: k.Name, Prefix: k.Prefix(), Roles: shownRoles(list.Roles, k.RoleIDs),
			CreatedAt: instant(k.CreatedAt), ExpiresAt: maybeInstant(k.ExpiresAt), LastUsedAt: maybeInstant(k.LastUsedAt),
		}
	}
	return api.ListApiKeys200JSONResponse{
		Body:    api.ApiKeyPage{Content: content, Page: part.Page, Size: part.Size, TotalElements: list.Total},
		Headers: api.ListApiKeys200ResponseHeaders{Link: next},
	}, nil
}

// RevokeApiKey ends a key.
func (s *Server) RevokeApiKey(ctx context.Context, r api.RevokeApiKeyRequestObject) (api.RevokeApiKeyResponseObject, error) { //nolint:revive // generated name
	if err := s.Identity.RevokeKey(ctx, r.Id); err != nil {
		return nil, err
	}
	return api.RevokeApiKey200JSONResponse{Message: "The key is revoked."}, nil
}
