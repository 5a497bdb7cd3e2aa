package rest

import (
	"context"
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/api"
)

type identifiers[S any] = children[patient.Identifier, *patient.Identifier, patient.IdentifierInput, S]

func (s *Server) identifiersV3() identifiers[api.IdentifierResponseDTO] {
	return identifiers[api.IdentifierResponseDTO]{
		face: v3(), verbs: s.Identifiers, kind: "identifier", input: identifierInput, show: identifierResponse,
	}
}

func (s *Server) identifiersV2() identifiers[api.IdentifierV2] {
	return identifiers[api.IdentifierV2]{
		face: v2().spelt(identifierV2Spelling()), verbs: s.Identifiers, kind: "identifier", input: identifierInput, show: identifierV2,
	}
}

// identifierV2Spelling is what v2 calls an identifier's members.
func identifierV2Spelling() spelling {
	return spelling{
		"authorityOrganizationId": "authority_organization_id", "authorityOrganizationName": "authority_organization_name",
		"authorityExternalSystemId": "authority_external_system_id", "authorityExternalSystemName": "authority_external_system_name",
		"sourceName": "source_name", "activeFrom": "active_from", "activeUntil": "active_until",
	}
}

func identifierInput(o *body.Object, s spelling) patient.IdentifierInput {
	given := func(name string) *string { return o.Text(s.of(name), body.TextLength).Pointer() }
	return patient.IdentifierInput{
		Type: given("type"), Value: given("value"), SourceName: given("sourceName"),
		AuthorityOrganizationID: given("authorityOrganizationId"), AuthorityOrganizationName: given("authorityOrganizationName"),
		AuthorityExternalSystemID: given("authorityExternalSystemId"), AuthorityExternalSystemName: given("authorityExternalSystemName"),
		ActiveFrom: given("activeFrom"), ActiveUntil: given("activeUntil"),
	}
}

// identifierResponse is an identifier as v3 shows it.
func identifierResponse(i patient.Identifier, now time.Time) api.IdentifierResponseDTO {
	return api.IdentifierResponseDTO{
		Id: i.ID, Type: i.Type, Value: i.Value,
		AuthorityOrganizationId: i.OrganizationID, AuthorityOrganizationName: i.OrganizationName,
		AuthorityExternalSystemId: i.ExternalSystemID, AuthorityExternalSystemName: i.ExternalSystemName,
		SourceName: i.SourceName, ActiveFrom: i.From.String(), ActiveUntil: i.Until.String(),
		Active: i.Active(now), CreatedAt: instant(i.CreatedAt), UpdatedAt: instant(i.UpdatedAt),
	}
}

// identifierV2 is an identifier as v2 shows it.
func identifierV2(i patient.Identifier, now time.Time) api.IdentifierV2 {
	return api.IdentifierV2{
		Id: i.ID, PatientId: strconv.FormatInt(i.PatientID, 10), Type: i.Type, Value: i.Value,
		AuthorityOrganizationId: i.OrganizationID, AuthorityOrganizationName: i.OrganizationName,
		AuthorityExternalSystemId: i.ExternalSystemID, AuthorityExternalSystemName: i.ExternalSystemName,
		SourceName: i.SourceName, ActiveFrom: i.From.String(), ActiveUntil: i.Until.String(),
		Active: i.Active(now), CreatedAt: instant(i.CreatedAt),
	}
}

// CreateIdentifier is v3's.
func (s *Server) CreateIdentifier(ctx context.Context, r api.CreateIdentifierRequestObject) (api.CreateIdentifierResponseObject, error) {
	shown, headers, err := s.identifiersV3().create(ctx, r.PatientId, r.Body, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	return api.CreateIdentifier200JSONResponse{Body: shown, Headers: api.CreateIdentifier200ResponseHeaders(headers)}, nil
}

// Identifier is v2's create.
func (s *Server) Identifier(ctx context.Context, r api.IdentifierRequestObject) (api.IdentifierResponseObject, error) {
	shown, headers, err := s.identifiersV2().create(ctx, r.Id, r.Body, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	return api.Identifier201JSONResponse{Body: shown, Headers: api.Identifier201ResponseHeaders(headers)}, nil
}

// ListIdentifiers is v3's.
func (s *Server) ListIdentifiers(ctx context.Context, r api.ListIdentifiersRequestObject) (api.ListIdentifiersResponseObject, error) {
	page, next, err := s.identifiersV3().list(ctx, r.PatientId, listing(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListIdentifiers200JSONResponse{Body: api.IdentifierPage(page), Headers: api.ListIdentifiers200ResponseHeaders{Link: next}}, nil
}

// IdentifierList is v2's.
func (s *Server) IdentifierList(ctx context.Context, r api.IdentifierListRequestObject) (api.IdentifierListResponseObject, error) {
	page, next, err := s.identifiersV2().list(ctx, r.Id, listing(r.Params))
	if err != nil {
		return nil, err
	}
	return api.IdentifierList200JSONResponse{Body: api.IdentifierV2Page(page), Headers: api.IdentifierList200ResponseHeaders{Link: next}}, nil
}

// ReadIdentifier is v3's; v2 reads them in lists.
func (s *Server) ReadIdentifier(ctx context.Context, r api.ReadIdentifierRequestObject) (api.ReadIdentifierResponseObject, error) {
	shown, etag, err := s.identifiersV3().read(ctx, r.PatientId, r.ChildId)
	if err != nil {
		return nil, err
	}
	return api.ReadIdentifier200JSONResponse{IdentifierJSONResponse: api.IdentifierJSONResponse{Body: shown, Headers: api.IdentifierResponseHeaders{ETag: etag}}}, nil
}

// UpdateIdentifier is v3's.
func (s *Server) UpdateIdentifier(ctx context.Context, r api.UpdateIdentifierRequestObject) (api.UpdateIdentifierResponseObject, error) {
	shown, etag, err := s.identifiersV3().update(ctx, r.PatientId, r.ChildId, r.Body, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	return api.UpdateIdentifier200JSONResponse{IdentifierJSONResponse: api.IdentifierJSONResponse{Body: shown, Headers: api.IdentifierResponseHeaders{ETag: etag}}}, nil
}

// DeleteIdentifier is v3's.
func (s *Server) DeleteIdentifier(ctx context.Context, r api.DeleteIdentifierRequestObject) (api.DeleteIdentifierResponseObject, error) {
	gone, err := s.identifiersV3().deactivate(ctx, r.PatientId, r.ChildId, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	return api.DeleteIdentifier200JSONResponse{DeactivatedJSONResponse: gone}, nil
}

// IdentifierDelete is v2's.
func (s *Server) IdentifierDelete(ctx context.Context, r api.IdentifierDeleteRequestObject) (api.IdentifierDeleteResponseObject, error) {
	gone, err := s.identifiersV2().deactivate(ctx, r.Id, r.ChildId, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	return api.IdentifierDelete200JSONResponse{DeactivatedJSONResponse: gone}, nil
}
