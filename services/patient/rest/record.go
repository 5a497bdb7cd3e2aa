package rest

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/api"
)

// fullRecord is what the document calls FullRecord, up to its documents.
type fullRecord struct {
	api.PatientV2
	Addresses   []api.AddressV2    `json:"addresses"`
	Aliases     []api.AliasV2      `json:"aliases"`
	Identifiers []api.IdentifierV2 `json:"identifiers"`
	Contacts    []api.ContactV2    `json:"contacts"`
}

// recordManifest is what the document calls RecordManifest, up to its documents.
type recordManifest struct {
	PatientID   string            `json:"patientId"`
	Addresses   api.RecordListing `json:"addresses"`
	Aliases     api.RecordListing `json:"aliases"`
	Identifiers api.RecordListing `json:"identifiers"`
	Contacts    api.RecordListing `json:"contacts"`
}

// ending is what stands behind the documents in each view.
type ending struct {
	Truncated  truncation `json:"truncated,omitempty"`
	Incomplete []string   `json:"incomplete,omitempty"`
}

// truncation names the kinds that are not shown whole.
type truncation []string

func (t *truncation) note(kind string, cut bool) {
	if cut {
		*t = append(*t, kind)
	}
}

// withDocuments is a view with its documents, which stand in it as they came: nil are null.
func withDocuments(view any, d *patient.Documents, cut truncation) (body.Raw, error) {
	end, documents := ending{Truncated: cut}, json.RawMessage("null")
	if d != nil {
		documents = d.Shown
		end.Truncated.note("documents", d.Truncated)
	} else {
		end.Incomplete = []string{"documents"}
	}
	head, err := json.Marshal(view)
	if err != nil {
		return nil, err
	}
	tail, err := json.Marshal(end)
	if err != nil {
		return nil, err
	}
	out := make(body.Raw, 0, len(head)+len(documents)+len(tail)+len(`,"documents":,`))
	out = append(append(append(out, head[:len(head)-1]...), `,"documents":`...), documents...)
	if len(tail) > len("{}") {
		out = append(out, ',')
	}
	return append(out, tail[1:]...), nil
}

// Echo answers a whole record in one of its views.
func (s *Server) Echo(ctx context.Context, r api.EchoRequestObject) (api.EchoResponseObject, error) {
	if _, err := principal.Require(ctx, principal.PatientRead); err != nil {
		return nil, err // before the parameters' faults
	}
	asked, err := parseEcho(r.Params)
	if err != nil {
		return nil, err
	}
	id := parseID(r.Id)
	var shown body.Raw
	var next *string
	switch asked.view {
	case patient.FullView:
		shown, err = s.fullRecord(ctx, id, asked.partial)
	case patient.PageView:
		shown, next, err = s.recordPage(ctx, id, asked)
	case patient.ManifestView:
		shown, err = s.recordManifest(ctx, id, asked.partial)
	}
	if err != nil {
		return nil, err
	}
	etag := web.WeakETag(shown)
	if web.NoneMatch(r.Params.IfNoneMatch, etag) {
		return api.Echo304Response{Headers: api.Echo304ResponseHeaders{ETag: &etag}}, nil
	}
	return api.Echo200JSONResponse{Body: shown, Headers: api.Echo200ResponseHeaders{ETag: &etag, Link: next}}, nil
}

// echo is what is asked of a record.
type echo struct {
	view    patient.View
	partial bool
	part    page.Request
}

func parseEcho(p api.EchoParams) (echo, error) {
	part, faults := parseChildPage(p.Page, p.Size, p.After)
	asked := echo{view: patient.FullView, part: part}
	if p.View != nil {
		asked.view = patient.View(strings.ToLower(*p.View))
	}
	switch asked.view {
	case patient.FullView, patient.PageView, patient.ManifestView:
	default:
		faults = append(faults, fault.Field{Field: "view", Code: "invalid_value", Message: "must be one of full, page, manifest"})
	}
	if p.Partial != nil {
		asked.partial = strings.EqualFold(*p.Partial, "true")
		if !asked.partial && !strings.EqualFold(*p.Partial, "false") {
			faults = append(faults, fault.Field{Field: "partial", Code: "invalid_value", Message: "must be true or false"})
		}
	}
	if len(faults) > 0 {
		return asked, fault.InvalidFields(faults)
	}
	return asked, nil
}

func (s *Server) fullRecord(ctx context.Context, id int64, partial bool) (body.Raw, error) {
	r, d, err := s.Records.Read(ctx, id, partial)
	if err != nil {
		return nil, err
	}
	now := s.Records.Service.Now()
	var cut truncation
	shown := fullRecord{
		PatientV2:   responseV2(r.Patient),
		Addresses:   shownV2(&cut, "addresses", r.Addresses, now, addressV2),
		Aliases:     shownV2(&cut, "aliases", r.Aliases, now, aliasV2),
		Identifiers: shownV2(&cut, "identifiers", r.Identifiers, now, identifierV2),
		Contacts:    shownV2(&cut, "contacts", r.Contacts, now, contactV2),
	}
	return withDocuments(shown, d, cut)
}

// shownV2 is the children of one kind as v2 shows them.
func shownV2[N, S any](cut *truncation, kind string, list patient.Cut[N], now time.Time, show func(N, time.Time) S) []S {
	cut.note(kind, list.Truncated())
	content := make([]S, len(list.Shown()))
	for i, child := range list.Shown() {
		content[i] = show(child, now)
	}
	return content
}

func (s *Server) recordPage(ctx context.Context, id int64, asked echo) (shown body.Raw, next *string, err error) {
	p, d, err := s.Records.Page(ctx, id, asked.part, asked.partial)
	if err != nil {
		return nil, nil, err
	}
	if d != nil && d.Next != "" {
		target := v2().root + strconv.FormatInt(id, 10) + "?view=page&"
		if asked.partial {
			target += "partial=true&"
		}
		link := asked.part.Next(target, d.Next)
		next = &link
	}
	shown, err = withDocuments(responseV2(p), d, nil)
	return shown, next, err
}

func (s *Server) recordManifest(ctx context.Context, id int64, partial bool) (body.Raw, error) {
	m, d, err := s.Records.Manifest(ctx, id, partial)
	if err != nil {
		return nil, err
	}
	var cut truncation
	shown := recordManifest{
		PatientID: strconv.FormatInt(m.PatientID, 10),
		Addresses: listingShown(&cut, "addresses", m.Addresses), Aliases: listingShown(&cut, "aliases", m.Aliases),
		Identifiers: listingShown(&cut, "identifiers", m.Identifiers), Contacts: listingShown(&cut, "contacts", m.Contacts),
	}
	return withDocuments(shown, d, cut)
}

func listingShown(cut *truncation, kind string, l patient.Listing) api.RecordListing {
	cut.note(kind, l.Items.Truncated())
	items := make([]api.RecordItem, len(l.Items.Shown()))
	for i, item := range l.Items.Shown() {
		items[i] = api.RecordItem{Id: item.ID, Type: item.Type, CreatedAt: instant(item.CreatedAt)}
	}
	return api.RecordListing{Count: l.Count, Items: items}
}
