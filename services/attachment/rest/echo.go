package rest

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/attachment"
	"github.com/patient-mesh/patient-mesh/services/attachment/api"
)

// The views of a record.
const (
	viewFull     = "full"
	viewPage     = "page"
	viewManifest = "manifest"
)

// mostInRecord is how many documents a whole record shows or names.
const mostInRecord = page.MaxSize

// InternalListDocuments answers what the record of a patient shows of the documents.
func (s *Server) InternalListDocuments(ctx context.Context, r api.InternalListDocumentsRequestObject) (api.InternalListDocumentsResponseObject, error) {
	raw, err := s.echo(ctx, parseID(r.PatientId), r.Params)
	if err != nil {
		return nil, err
	}
	noStore := "no-store" // no gateway stands before this
	return api.InternalListDocuments200JSONResponse{
		Body: raw, Headers: api.InternalListDocuments200ResponseHeaders{CacheControl: &noStore},
	}, nil
}

func (s *Server) echo(ctx context.Context, patientID int64, asked api.InternalListDocumentsParams) (body.Raw, error) {
	if _, err := principal.Require(ctx, principal.DocumentRead); err != nil {
		return nil, err // before the parameters' faults
	}
	view := viewFull
	if asked.View != nil {
		view = *asked.View
	}
	part, faults := parsePage(asked.Page, asked.Size, asked.After)
	if view != viewFull && view != viewPage && view != viewManifest {
		faults = append(faults, fault.Field{Field: "view", Code: "invalid_value", Message: "must be one of full, page, manifest"})
	}
	if len(faults) > 0 {
		return nil, fault.InvalidFields(faults)
	}
	if view != viewPage {
		part = page.Request{Size: mostInRecord}
	}
	list, total, err := s.Documents.Echo(ctx, patientID, part, view != viewManifest)
	if err != nil {
		return nil, err
	}
	list, next := page.Cut(list, part, "", idOf)
	switch view {
	case viewManifest:
		return manifest(list, total)
	case viewPage:
		if next == nil {
			return V2().page(list, `"page":%d,"size":%d,"totalElements":%d}`, part.Page, part.Size, total)
		}
		return V2().page(list, `"page":%d,"size":%d,"totalElements":%d,"next":%q}`, part.Page, part.Size, total, idOf(list[len(list)-1]))
	default:
		return V2().page(list, `"totalElements":%d,"truncated":%t}`, total, next != nil || anyOmitted(list))
	}
}

func anyOmitted(list []attachment.Document) bool {
	for _, d := range list {
		if d.PayloadOmitted {
			return true
		}
	}
	return false
}

// item is what a manifest tells of a document.
type item struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	CreatedAt string `json:"createdAt"`
	Size      string `json:"size,omitempty"`
	SHA256    string `json:"sha256,omitempty"`
}

// manifest names documents, without anything that a caller wrote into them.
func manifest(list []attachment.Document, total int64) (body.Raw, error) {
	items := make([]item, len(list))
	for i, d := range list {
		items[i] = item{ID: d.ID, Type: d.Type, CreatedAt: instant(d.CreatedAt), Size: d.SizeShown(), SHA256: hex.EncodeToString(d.SHA256)}
	}
	raw, err := json.Marshal(struct {
		Count     int64  `json:"count"`
		Items     []item `json:"items"`
		Truncated bool   `json:"truncated"`
	}{total, items, total > int64(len(list))})
	if err != nil {
		return nil, fmt.Errorf("show a manifest: %w", err)
	}
	return raw, nil
}
