package rest

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/attachment"
	"github.com/patient-mesh/patient-mesh/services/attachment/api"
)

// Face is one of the two interfaces. Their operations differ in paths, in the status of what was created, and in what they
// show of a document.
type Face struct {
	version    int
	root, kind string // of its paths: root, the patient's id, kind
	created    int
}

// V2 is the interface under /v2/patient/{id}/document.
func V2() Face {
	return Face{version: 2, root: "/v2/patient/", kind: "/document", created: http.StatusCreated}
}

// V3 is the interface under /v3/patient/{patientId}/attach.
func V3() Face {
	return Face{version: 3, root: "/v3/patient/", kind: "/attach", created: http.StatusOK}
}

// list is the path of a patient's documents.
func (f Face) list(patientID int64) string { return f.root + strconv.FormatInt(patientID, 10) + f.kind }

// path is the path of a document.
func (f Face) path(patientID int64, id string) string { return f.list(patientID) + "/" + id }

// made is the headers of what a POST created.
type made struct {
	ETag               *string
	IdempotentReplayed *string
	Location           *string
}

// create stores a document, or answers a repeat with the first answer.
func (f Face) create(ctx context.Context, verbs *attachment.Service, patient string, o *body.Object, header *string) (body.Raw, made, error) {
	by, err := principal.Require(ctx, principal.DocumentWrite)
	if err != nil {
		return nil, made{}, err // before the body's faults
	}
	id, in := parseID(patient), input(o)
	if err := in.Oversized(); err != nil {
		return nil, made{}, err
	}
	operation := []byte("attach v" + strconv.Itoa(f.version))
	key, keyFaults := idempotency.Parse(by, header, operation, strconv.AppendInt(nil, id, 10), o.Raw())
	if o.Err(keyFaults...) != nil {
		return nil, made{}, o.Err(append(in.Validate(), keyFaults...)...)
	}
	answer := func(d attachment.Document) ([]byte, error) { return f.Show(d) }
	d, repeat, err := verbs.Create(ctx, id, in, key, f.created, answer)
	if err != nil {
		return nil, made{}, err
	}
	etag, headers := web.ETag(1), made{}
	location := f.path(id, d.ID)
	headers.ETag, headers.Location = &etag, &location
	if repeat != nil {
		replayed := "true"
		location, headers.IdempotentReplayed = f.path(id, repeat.ResourceID), &replayed
		return repeat.Body, headers, nil
	}
	raw, err := f.Show(d)
	return raw, headers, err
}

// listing is the parameters of a search, in the order of the contract.
type listing struct {
	Type, CreatedAfter, Filename, Active, Page, Size, After *string
}

// search answers a page of documents, and where it goes on.
func (f Face) search(ctx context.Context, s *Server, patient string, asked listing) (raw body.Raw, link *string, err error) {
	by, err := principal.Require(ctx, principal.DocumentRead)
	if err != nil {
		return nil, nil, err // before the parameters' faults
	}
	id := parseID(patient)
	seal := searched{s.Sealer, []string{"document search", by.TenantID, strconv.FormatInt(id, 10)}}
	cursor, sealed := page.Carried(asked.After)
	part, faults := parsePage(asked.Page, asked.Size, cursor)
	question := attachment.Question{Type: asked.Type, CreatedAfter: asked.CreatedAfter, Active: asked.Active}
	if asked.Filename != nil {
		text, code, message := body.CleanText(*asked.Filename, body.TextLength)
		if code != "" {
			faults = append(faults, fault.Field{Field: "filename", Code: code, Message: message})
		}
		question.Filename = &text
	}
	if sealed != "" && !seal.open(sealed, &question.Filename) {
		faults = append(faults, fault.Field{Field: "after", Code: "invalid_cursor", Message: "is no cursor of this search"})
	}
	filter, further := question.Filter()
	if faults = append(faults, further...); len(faults) > 0 {
		return nil, nil, fault.InvalidFields(faults)
	}
	list, total, err := s.Documents.Search(ctx, id, filter, part)
	if err != nil {
		return nil, nil, err
	}
	if question.Filename != nil {
		part.Carried = seal.sealer.Seal(*question.Filename, seal.bound...)
	}
	list, link = page.Cut(list, part, f.list(id)+"?"+asked.filters(), idOf)
	raw, err = f.page(list, `"page":%d,"size":%d,"totalElements":%d}`, part.Page, part.Size, total)
	return raw, link, err
}

// searched hides the text of a search, which may be a patient's name, in the cursors of its list: no URL that we write
// shows it.
type searched struct {
	sealer Sealer
	bound  []string
}

// open reads the text back. Another one beside it is another search.
func (s searched) open(sealed string, filename **string) bool {
	text, ok := s.sealer.Open(sealed, s.bound...)
	if !ok || *filename != nil && **filename != text {
		return false
	}
	*filename = &text
	return true
}

// filters are the filters of a search as a URL's query has them, but its text.
func (l listing) filters() string {
	query := ""
	for _, one := range []struct {
		name  string
		value *string
	}{{"type", l.Type}, {"createdAfter", l.CreatedAfter}, {"active", l.Active}} {
		if one.value != nil {
			query += one.name + "=" + url.QueryEscape(*one.value) + "&"
		}
	}
	return query
}

func idOf(d attachment.Document) string { return d.ID }

// tagged shows a document with its tag.
func (f Face) tagged(d attachment.Document, err error) (body.Raw, *string, error) {
	if err != nil {
		return nil, nil, err
	}
	raw, err := f.Show(d)
	etag := web.ETag(d.Version)
	return raw, &etag, err
}

func deactivated(ctx context.Context, verbs *attachment.Service, patient, id string, ifMatch *string) (api.DeactivatedJSONResponse, error) {
	err := verbs.Deactivate(ctx, parseID(patient), parseDocumentID(id), precondition(ifMatch))
	return api.DeactivatedJSONResponse{Message: "The document is deactivated."}, err
}
