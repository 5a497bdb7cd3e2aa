package rest

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/attachment/api"
)

// CreateAttachment is v3's.
func (s *Server) CreateAttachment(ctx context.Context, r api.CreateAttachmentRequestObject) (api.CreateAttachmentResponseObject, error) {
	raw, headers, err := V3().create(ctx, s.Documents, r.PatientId, r.Body, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	return api.CreateAttachment200JSONResponse{Body: raw, Headers: api.CreateAttachment200ResponseHeaders(headers)}, nil
}

// ListAttachments is v3's.
func (s *Server) ListAttachments(ctx context.Context, r api.ListAttachmentsRequestObject) (api.ListAttachmentsResponseObject, error) {
	raw, link, err := V3().search(ctx, s, r.PatientId, listing(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListAttachments200JSONResponse{Body: raw, Headers: api.ListAttachments200ResponseHeaders{Link: link}}, nil
}

// ReadAttachment is v3's.
func (s *Server) ReadAttachment(ctx context.Context, r api.ReadAttachmentRequestObject) (api.ReadAttachmentResponseObject, error) {
	raw, etag, err := V3().tagged(s.Documents.Read(ctx, parseID(r.PatientId), parseDocumentID(r.ChildId)))
	if err != nil {
		return nil, err
	}
	shown := api.DocumentJSONResponse{Body: raw, Headers: api.DocumentResponseHeaders{ETag: etag}}
	return api.ReadAttachment200JSONResponse{DocumentJSONResponse: shown}, nil
}

// UpdateAttachment applies the members that are present and not null.
func (s *Server) UpdateAttachment(ctx context.Context, r api.UpdateAttachmentRequestObject) (api.UpdateAttachmentResponseObject, error) {
	if _, err := principal.Require(ctx, principal.DocumentWrite); err != nil {
		return nil, err // before the body's faults
	}
	in := input(r.Body)
	if err := in.Oversized(); err != nil {
		return nil, err
	}
	if r.Body.Err() != nil {
		return nil, r.Body.Err(in.Validate()...)
	}
	raw, etag, err := V3().tagged(s.Documents.Update(ctx, parseID(r.PatientId), parseDocumentID(r.ChildId), in, precondition(r.Params.IfMatch)))
	if err != nil {
		return nil, err
	}
	shown := api.DocumentJSONResponse{Body: raw, Headers: api.DocumentResponseHeaders{ETag: etag}}
	return api.UpdateAttachment200JSONResponse{DocumentJSONResponse: shown}, nil
}

// DeleteAttachment is v3's.
func (s *Server) DeleteAttachment(ctx context.Context, r api.DeleteAttachmentRequestObject) (api.DeleteAttachmentResponseObject, error) {
	message, err := deactivated(ctx, s.Documents, r.PatientId, r.ChildId, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	return api.DeleteAttachment200JSONResponse{DeactivatedJSONResponse: message}, nil
}
