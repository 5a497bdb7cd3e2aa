package rest

import (
	"context"

	"github.com/patient-mesh/patient-mesh/services/attachment/api"
)

// Attach is v2's.
func (s *Server) Attach(ctx context.Context, r api.AttachRequestObject) (api.AttachResponseObject, error) {
	raw, headers, err := V2().create(ctx, s.Documents, r.Id, r.Body, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	return api.Attach201JSONResponse{Body: raw, Headers: api.Attach201ResponseHeaders(headers)}, nil
}

// DocumentSearch is v2's.
func (s *Server) DocumentSearch(ctx context.Context, r api.DocumentSearchRequestObject) (api.DocumentSearchResponseObject, error) {
	raw, link, err := V2().search(ctx, s, r.Id, listing(r.Params))
	if err != nil {
		return nil, err
	}
	return api.DocumentSearch200JSONResponse{Body: raw, Headers: api.DocumentSearch200ResponseHeaders{Link: link}}, nil
}

// DocumentRead is v2's.
func (s *Server) DocumentRead(ctx context.Context, r api.DocumentReadRequestObject) (api.DocumentReadResponseObject, error) {
	raw, etag, err := V2().tagged(s.Documents.Read(ctx, parseID(r.Id), parseDocumentID(r.DocumentId)))
	if err != nil {
		return nil, err
	}
	shown := api.DocumentV2JSONResponse{Body: raw, Headers: api.DocumentV2ResponseHeaders{ETag: etag}}
	return api.DocumentRead200JSONResponse{DocumentV2JSONResponse: shown}, nil
}

// DocumentDelete is v2's.
func (s *Server) DocumentDelete(ctx context.Context, r api.DocumentDeleteRequestObject) (api.DocumentDeleteResponseObject, error) {
	message, err := deactivated(ctx, s.Documents, r.Id, r.DocumentId, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	return api.DocumentDelete200JSONResponse{DeactivatedJSONResponse: message}, nil
}
