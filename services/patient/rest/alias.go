package rest

import (
	"context"
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/api"
)

type aliases[S any] = children[patient.Alias, *patient.Alias, patient.AliasInput, S]

func (s *Server) aliasesV3() aliases[api.AliasResponseDTO] {
	return aliases[api.AliasResponseDTO]{
		face: v3(), verbs: s.Aliases, kind: "alias", input: aliasInput, show: aliasResponse,
		needs: map[string][]string{"alias": {"firstName", "lastName", "fullName"}},
	}
}

func (s *Server) aliasesV2() aliases[api.AliasV2] {
	return aliases[api.AliasV2]{
		face: v2(), verbs: s.Aliases, kind: "alias", input: aliasInput, show: aliasV2,
		needs: map[string][]string{"alias": {"firstName", "lastName", "fullName"}},
	}
}

func aliasInput(o *body.Object, _ spelling) patient.AliasInput {
	return patient.AliasInput{
		Type:          o.Text("type", body.TextLength).Pointer(),
		Alias:         o.Text("alias", body.NameLength).Pointer(),
		FirstName:     o.Text("firstName", body.NameLength).Pointer(),
		LastName:      o.Text("lastName", body.NameLength).Pointer(),
		FullName:      o.Text("fullName", body.NameLength).Pointer(),
		EffectiveFrom: o.Text("effectiveFrom", body.TextLength).Pointer(),
		EffectiveTo:   o.Text("effectiveTo", body.TextLength).Pointer(),
	}
}

// aliasResponse is an alias as v3 shows it.
func aliasResponse(a patient.Alias, now time.Time) api.AliasResponseDTO {
	return api.AliasResponseDTO{
		Id: a.ID, Type: a.Type, Alias: a.Alias, FirstName: a.FirstName, LastName: a.LastName, FullName: a.FullName,
		EffectiveFrom: a.From.String(), EffectiveTo: a.Until.String(),
		Active: a.Active(now), CreatedAt: instant(a.CreatedAt), UpdatedAt: instant(a.UpdatedAt),
	}
}

// aliasV2 is an alias as v2 shows it.
func aliasV2(a patient.Alias, now time.Time) api.AliasV2 {
	return api.AliasV2{
		Id: a.ID, PatientId: strconv.FormatInt(a.PatientID, 10), Type: a.Type, Alias: a.Alias, FirstName: a.FirstName,
		LastName: a.LastName, FullName: a.FullName, EffectiveFrom: a.From.String(), EffectiveTo: a.Until.String(),
		Active: a.Active(now), CreatedAt: instant(a.CreatedAt),
	}
}

// CreateAlias is v3's.
func (s *Server) CreateAlias(ctx context.Context, r api.CreateAliasRequestObject) (api.CreateAliasResponseObject, error) {
	shown, headers, err := s.aliasesV3().create(ctx, r.PatientId, r.Body, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	return api.CreateAlias200JSONResponse{Body: shown, Headers: api.CreateAlias200ResponseHeaders(headers)}, nil
}

// Alias is v2's create.
func (s *Server) Alias(ctx context.Context, r api.AliasRequestObject) (api.AliasResponseObject, error) {
	shown, headers, err := s.aliasesV2().create(ctx, r.Id, r.Body, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	return api.Alias201JSONResponse{Body: shown, Headers: api.Alias201ResponseHeaders(headers)}, nil
}

// ListAliases is v3's.
func (s *Server) ListAliases(ctx context.Context, r api.ListAliasesRequestObject) (api.ListAliasesResponseObject, error) {
	page, next, err := s.aliasesV3().list(ctx, r.PatientId, listing(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListAliases200JSONResponse{Body: api.AliasPage(page), Headers: api.ListAliases200ResponseHeaders{Link: next}}, nil
}

// AliasList is v2's.
func (s *Server) AliasList(ctx context.Context, r api.AliasListRequestObject) (api.AliasListResponseObject, error) {
	page, next, err := s.aliasesV2().list(ctx, r.Id, listing(r.Params))
	if err != nil {
		return nil, err
	}
	return api.AliasList200JSONResponse{Body: api.AliasV2Page(page), Headers: api.AliasList200ResponseHeaders{Link: next}}, nil
}

// ReadAlias is v3's; v2 reads them in lists.
func (s *Server) ReadAlias(ctx context.Context, r api.ReadAliasRequestObject) (api.ReadAliasResponseObject, error) {
	shown, etag, err := s.aliasesV3().read(ctx, r.PatientId, r.ChildId)
	if err != nil {
		return nil, err
	}
	return api.ReadAlias200JSONResponse{AliasJSONResponse: api.AliasJSONResponse{Body: shown, Headers: api.AliasResponseHeaders{ETag: etag}}}, nil
}

// UpdateAlias is v3's.
func (s *Server) UpdateAlias(ctx context.Context, r api.UpdateAliasRequestObject) (api.UpdateAliasResponseObject, error) {
	shown, etag, err := s.aliasesV3().update(ctx, r.PatientId, r.ChildId, r.Body, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	return api.UpdateAlias200JSONResponse{AliasJSONResponse: api.AliasJSONResponse{Body: shown, Headers: api.AliasResponseHeaders{ETag: etag}}}, nil
}

// DeleteAlias is v3's.
func (s *Server) DeleteAlias(ctx context.Context, r api.DeleteAliasRequestObject) (api.DeleteAliasResponseObject, error) {
	gone, err := s.aliasesV3().deactivate(ctx, r.PatientId, r.ChildId, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	return api.DeleteAlias200JSONResponse{DeactivatedJSONResponse: gone}, nil
}

// AliasDelete is v2's.
func (s *Server) AliasDelete(ctx context.Context, r api.AliasDeleteRequestObject) (api.AliasDeleteResponseObject, error) {
	gone, err := s.aliasesV2().deactivate(ctx, r.Id, r.ChildId, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	return api.AliasDelete200JSONResponse{DeactivatedJSONResponse: gone}, nil
}
