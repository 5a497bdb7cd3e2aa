package rest_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/attachment"
	"github.com/patient-mesh/patient-mesh/services/attachment/api"
	"github.com/patient-mesh/patient-mesh/services/attachment/rest"
	"github.com/patient-mesh/patient-mesh/services/attachment/store"
)

var now = time.Date(2026, 3, 14, 9, 26, 53, 589_793_238, time.UTC)

func some[T any](v T) *T { return &v }

// id is the one that the harness gives when it is asked for the nth time.
func id(n int) string { return fmt.Sprintf("01900000-0000-7000-8000-%012d", n) }

// serve gives the real verbs on a real database, at a clock and with ids that are known.
func serve(t *testing.T) *rest.Server {
	t.Helper()
	db, err := pg.Open(pg.Config{URL: testkit.Postgres(t, store.Migrations()).URL, MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	given := 0
	newID := func() (uuid.UUID, error) {
		given++
		return uuid.Parse(id(given))
	}
	return &rest.Server{Documents: &attachment.Service{
		Store: store.New(db, slog.New(slog.DiscardHandler)), Now: func() time.Time { return now }, NewID: newID,
	}, Sealer: ring(t)}
}

func ring(t *testing.T) *principal.Keyring {
	t.Helper()
	keys, err := principal.ParseKeyring("k:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// as is somebody who asks about a patient who is there.
func as(may principal.Permission) context.Context {
	return attachment.WithPatient(of("01900000-0000-7000-8000-0000000000a1", may), true)
}

func of(tenant string, may principal.Permission) context.Context {
	return principal.With(context.Background(), principal.Principal{
		TenantID: tenant, Kind: principal.APIKey, CredentialID: "key", Permissions: may,
	})
}

func object(text string) *body.Object {
	o := &body.Object{}
	o.Read([]byte(text))
	return o
}

func attach(t *testing.T, s *rest.Server, text string, key *string) api.Attach201JSONResponse {
	t.Helper()
	made, err := s.Attach(as(principal.DocumentWrite), api.AttachRequestObject{Id: "7", Body: object(text), Params: api.AttachParams{IdempotencyKey: key}})
	if err != nil {
		t.Fatal(err)
	}
	return made.(api.Attach201JSONResponse) //nolint:forcetypeassert // the only answer
}

func createV3(t *testing.T, s *rest.Server, text string, key *string) api.CreateAttachment200JSONResponse {
	t.Helper()
	made, err := s.CreateAttachment(as(principal.DocumentWrite), api.CreateAttachmentRequestObject{
		PatientId: "7", Body: object(text), Params: api.CreateAttachmentParams{IdempotencyKey: key},
	})
	if err != nil {
		t.Fatal(err)
	}
	return made.(api.CreateAttachment200JSONResponse) //nolint:forcetypeassert // the only answer
}

func golden(t *testing.T, what string, got body.Raw, want string) {
	t.Helper()
	if !json.Valid(got) {
		t.Errorf("%s is no JSON", what)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

const everything = `{"type": "Observation", "contentType": "text/plain", "filename": " a.txt ", "title": "A", "size": "3",
	"payload": {"b": 1.0, "a": [1e400, "\u00e9", "<&>"], "x": 1, "x": 2}, "unknown": 1}`

func TestV2(t *testing.T) {
	t.Parallel()
	s := serve(t)
	made := attach(t, s, everything, nil)
	document := id(2) // the entry of the trail took the first
	want := `{"id":"` + document + `","patientId":"7","type":"observation","contentType":"text/plain","filename":"a.txt","title":"A","size":"3",` +
		`"sha256":"","hasContent":false,"contentUrl":"/v2/patient/7/document/` + document + `/content","active":true,"createdAt":"2026-03-14T09:26:53.589Z",` +
		`"payload":{"b": 1.0, "a": [1e400, "\u00e9", "<&>"], "x": 1, "x": 2}}`
	golden(t, "created", made.Body, want)
	if *made.Headers.ETag != `"1"` || *made.Headers.Location != "/v2/patient/7/document/"+document || made.Headers.IdempotentReplayed != nil {
		t.Errorf("%+v", made.Headers)
	}
	shown, err := s.DocumentRead(as(principal.DocumentRead), api.DocumentReadRequestObject{Id: "7", DocumentId: document})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "read", shown.(api.DocumentRead200JSONResponse).Body, want)
	if tag := shown.(api.DocumentRead200JSONResponse).Headers.ETag; *tag != `"1"` {
		t.Error(*tag)
	}
	bare := attach(t, s, `{}`, nil)
	last := strings.TrimPrefix(*bare.Headers.Location, "/v2/patient/7/document/")
	wantBare := `{"id":"` + last + `","patientId":"7","type":"document","contentType":"application/pdf","filename":"","title":"","size":"",` +
		`"sha256":"","hasContent":false,"contentUrl":"/v2/patient/7/document/` + last + `/content","active":true,"createdAt":"2026-03-14T09:26:53.589Z"}`
	golden(t, "bare", bare.Body, wantBare)
	list, err := s.DocumentSearch(as(principal.DocumentRead), api.DocumentSearchRequestObject{Id: "7"})
	if err != nil {
		t.Fatal(err)
	}
	found := list.(api.DocumentSearch200JSONResponse)
	golden(t, "list", found.Body, `{"content":[`+want+`,`+wantBare+`],"page":0,"size":50,"totalElements":2}`)
	if found.Headers.Link != nil {
		t.Error(*found.Headers.Link)
	}
	gone, err := s.DocumentDelete(as(principal.DocumentWrite), api.DocumentDeleteRequestObject{
		Id: "7", DocumentId: document, Params: api.DocumentDeleteParams{IfMatch: some(`"1"`)},
	})
	if err != nil || gone.(api.DocumentDelete200JSONResponse).Message == "" {
		t.Error(gone, err)
	}
	if _, err := s.DocumentRead(as(principal.DocumentRead), api.DocumentReadRequestObject{Id: "7", DocumentId: document}); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	list, err = s.DocumentSearch(as(principal.DocumentRead), api.DocumentSearchRequestObject{Id: "7", Params: api.DocumentSearchParams{Active: some("False")}})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "inactive", list.(api.DocumentSearch200JSONResponse).Body,
		`{"content":[`+strings.Replace(want, `"active":true`, `"active":false`, 1)+`],"page":0,"size":50,"totalElements":1}`)
}

func TestV3(t *testing.T) {
	t.Parallel()
	s := serve(t)
	made := createV3(t, s, everything, nil)
	document := id(2)
	shape := func(active, title, payload string) string {
		return `{"id":"` + document + `","type":"observation","contentType":"text/plain","filename":"a.txt","title":"` + title + `","size":"3",` +
			`"sha256":"","hasContent":false,"contentUrl":"/v3/patient/7/attach/` + document + `/content","active":` + active +
			`,"createdAt":"2026-03-14T09:26:53.589Z","updatedAt":"2026-03-14T09:26:53.589Z"` + payload + `}`
	}
	const payload = `,"payload":{"b": 1.0, "a": [1e400, "\u00e9", "<&>"], "x": 1, "x": 2}`
	golden(t, "created", made.Body, shape("true", "A", payload))
	if *made.Headers.ETag != `"1"` || *made.Headers.Location != "/v3/patient/7/attach/"+document || made.Headers.IdempotentReplayed != nil {
		t.Errorf("%+v", made.Headers)
	}
	update := func(text, ifMatch string) (api.UpdateAttachment200JSONResponse, error) {
		got, err := s.UpdateAttachment(as(principal.DocumentWrite), api.UpdateAttachmentRequestObject{
			PatientId: "7", ChildId: document, Body: object(text), Params: api.UpdateAttachmentParams{IfMatch: &ifMatch},
		})
		if err != nil {
			return api.UpdateAttachment200JSONResponse{}, err
		}
		return got.(api.UpdateAttachment200JSONResponse), nil
	}
	got, err := update(`{"title": "B <&>", "payload": null, "filename": null}`, `"1"`)
	if err != nil || *got.Headers.ETag != `"2"` {
		t.Fatal(got, err)
	}
	golden(t, "updated", got.Body, shape("true", `B \u003c\u0026\u003e`, payload))
	if _, err := update(`{"title": "C"}`, `"1"`); !fault.Is(err, fault.PreconditionFailed) {
		t.Error(err)
	}
	for _, text := range []string{`{"title": "C", "payload": "s"}`, `{}`} { // the second changes nothing
		if got, err = update(text, "*"); err != nil || *got.Headers.ETag != `"3"` {
			t.Fatal(got, err)
		}
		golden(t, "updated", got.Body, shape("true", "C", `,"payload":"s"`))
	}
	if got, err = update(`{"payload": "N/A"}`, `"3"`); err != nil {
		t.Fatal(err)
	}
	golden(t, "cleared", got.Body, shape("true", "C", ""))
	shown, err := s.ReadAttachment(as(principal.DocumentRead), api.ReadAttachmentRequestObject{PatientId: "7", ChildId: document})
	if err != nil || *shown.(api.ReadAttachment200JSONResponse).Headers.ETag != `"4"` {
		t.Fatal(shown, err)
	}
	golden(t, "read", shown.(api.ReadAttachment200JSONResponse).Body, shape("true", "C", ""))
	list, err := s.ListAttachments(as(principal.DocumentRead), api.ListAttachmentsRequestObject{PatientId: "7"})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "list", list.(api.ListAttachments200JSONResponse).Body, `{"content":[`+shape("true", "C", "")+`],"page":0,"size":50,"totalElements":1}`)
	for _, ifMatch := range []string{`"3"`, `W/"4"`, ""} {
		if _, err := s.DeleteAttachment(as(principal.DocumentWrite), api.DeleteAttachmentRequestObject{
			PatientId: "7", ChildId: document, Params: api.DeleteAttachmentParams{IfMatch: &ifMatch},
		}); !fault.Is(err, fault.PreconditionFailed) {
			t.Error(err)
		}
	}
	gone, err := s.DeleteAttachment(as(principal.DocumentWrite), api.DeleteAttachmentRequestObject{PatientId: "7", ChildId: document})
	if err != nil || gone.(api.DeleteAttachment200JSONResponse).Message == "" {
		t.Error(gone, err)
	}
	if _, err := update(`{"title": "D"}`, "*"); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	empty, err := s.ListAttachments(as(principal.DocumentRead), api.ListAttachmentsRequestObject{PatientId: "7"})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "empty", empty.(api.ListAttachments200JSONResponse).Body, `{"content":[],"page":0,"size":50,"totalElements":0}`)
}

func TestBothInterfacesShowWhatTheOtherMade(t *testing.T) {
	t.Parallel()
	s := serve(t)
	attach(t, s, `{"title": "by v2"}`, nil)
	createV3(t, s, `{"title": "by v3"}`, nil)
	for _, document := range []string{id(2), id(4)} {
		if _, err := s.ReadAttachment(as(principal.DocumentRead), api.ReadAttachmentRequestObject{PatientId: "7", ChildId: document}); err != nil {
			t.Error(err)
		}
		if _, err := s.DocumentRead(as(principal.DocumentRead), api.DocumentReadRequestObject{Id: "7", DocumentId: document}); err != nil {
			t.Error(err)
		}
	}
}

func TestContentIsShown(t *testing.T) {
	t.Parallel()
	d := attachment.Document{
		ID: "d", PatientID: 7, Type: "document", CreatedAt: now, UpdatedAt: now,
		Content: attachment.Content{BlobKey: some("k"), Size: some(int64(3)), SHA256: []byte{0, 0xab}},
	}
	for _, face := range []rest.Face{rest.V2(), rest.V3()} {
		raw, err := face.Show(d)
		var shown struct {
			Size, SHA256 string
			HasContent   bool
			Payload      json.RawMessage
		}
		if err != nil || json.Unmarshal(raw, &shown) != nil || shown.Size != "3" || shown.SHA256 != "00ab" || !shown.HasContent || shown.Payload != nil {
			t.Errorf("%s, %v", raw, err)
		}
	}
	d.PayloadOmitted = true
	raw, err := rest.V2().Show(d)
	if err != nil || !strings.HasSuffix(string(raw), `,"payloadOmitted":true}`) {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestARepeatGetsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t)
	key := some("k")
	first, again := attach(t, s, everything, key), attach(t, s, everything, key)
	golden(t, "again", again.Body, string(first.Body))
	if again.Headers.IdempotentReplayed == nil || *again.Headers.IdempotentReplayed != "true" || *again.Headers.Location != *first.Headers.Location {
		t.Errorf("%+v, at first %+v", again.Headers, first.Headers)
	}
	key = some("k3")
	firstV3, againV3 := createV3(t, s, everything, key), createV3(t, s, everything, key)
	golden(t, "again", againV3.Body, string(firstV3.Body))
	if againV3.Headers.IdempotentReplayed == nil || *againV3.Headers.Location != *firstV3.Headers.Location {
		t.Errorf("%+v, at first %+v", againV3.Headers, firstV3.Headers)
	}
	// Another body, another patient and another interface are other requests.
	_, body := s.CreateAttachment(as(principal.All), api.CreateAttachmentRequestObject{PatientId: "7", Body: object(`{}`), Params: api.CreateAttachmentParams{IdempotencyKey: key}})
	_, patient := s.CreateAttachment(as(principal.All), api.CreateAttachmentRequestObject{PatientId: "8", Body: object(everything), Params: api.CreateAttachmentParams{IdempotencyKey: key}})
	_, face := s.Attach(as(principal.All), api.AttachRequestObject{Id: "7", Body: object(everything), Params: api.AttachParams{IdempotencyKey: key}})
	for name, err := range map[string]error{"body": body, "patient": patient, "interface": face} {
		if !fault.Is(err, fault.IdempotencyMismatch) {
			t.Errorf("another %s: %v", name, err)
		}
	}
}

func codes(err error) []string {
	list := []string{}
	for _, f := range fault.Of(err).Fields {
		list = append(list, f.Field+" "+f.Code)
	}
	return list
}

func TestABodyTellsAllItsFaults(t *testing.T) {
	t.Parallel()
	s := serve(t)
	nested := strings.Repeat("[", 101) + strings.Repeat("]", 101)
	tests := map[string]struct {
		body string
		key  *string
		want []string
	}{
		"no body":  {"", nil, []string{"body body_required"}},
		"no JSON":  {"{", nil, []string{"body malformed_json"}},
		"a list":   {"[]", nil, []string{"body not_an_object"}},
		"the rest": {`{"type": "x", "contentType": 1, "filename": "` + strings.Repeat("a", 501) + `", "title": "\u0007", "size": 3, "payload": ` + nested + `}`, some(""), []string{"contentType invalid_type", "filename too_long", "title control_character", "size invalid_type", "type invalid_value", "payload too_deep", "Idempotency-Key invalid_key"}},
		"rules":    {`{"type": "x", "size": "-1"}`, nil, []string{"type invalid_value", "size invalid_size"}},
		"twice":    {`{"payload": 1, "payload": 2}`, nil, []string{"payload duplicate_member"}},
		"halves":   {`{"payload": "\ud800"}`, nil, []string{"body malformed_json"}},
	}
	for name, test := range tests {
		for _, live := range []bool{true, false} { // told whether there is the patient or not
			ctx := attachment.WithPatient(as(principal.DocumentWrite), live)
			_, v2 := s.Attach(ctx, api.AttachRequestObject{Id: "7", Body: object(test.body), Params: api.AttachParams{IdempotencyKey: test.key}})
			_, v3 := s.CreateAttachment(ctx, api.CreateAttachmentRequestObject{PatientId: "7", Body: object(test.body), Params: api.CreateAttachmentParams{IdempotencyKey: test.key}})
			want := test.want
			for _, err := range []error{v2, v3} {
				if diff := cmp.Diff(want, codes(err)); diff != "" || !fault.Is(err, fault.Invalid) {
					t.Errorf("%s: %v %s", name, err, diff)
				}
			}
			_, patch := s.UpdateAttachment(ctx, api.UpdateAttachmentRequestObject{PatientId: "7", ChildId: id(1), Body: object(test.body)})
			if test.key != nil {
				want = want[:len(want)-1]
			}
			if diff := cmp.Diff(want, codes(patch)); diff != "" {
				t.Errorf("%s of an update: %v %s", name, patch, diff)
			}
		}
	}
	// A payload that is too long is told before anything else is, but not to who may not write.
	long := `{"type": "x", "title": 1, "payload": "` + strings.Repeat("a", 1<<20+1) + `"}`
	for want, ctx := range map[fault.Kind]context.Context{fault.TooLarge: as(principal.DocumentWrite), fault.Denied: as(principal.DocumentRead)} {
		_, v2 := s.Attach(ctx, api.AttachRequestObject{Id: "7", Body: object(long)})
		_, v3 := s.CreateAttachment(ctx, api.CreateAttachmentRequestObject{PatientId: "7", Body: object(long)})
		_, patch := s.UpdateAttachment(ctx, api.UpdateAttachmentRequestObject{PatientId: "7", ChildId: id(1), Body: object(long)})
		for _, err := range []error{v2, v3, patch} {
			if !fault.Is(err, want) {
				t.Error(err)
			}
		}
	}
	longest := attach(t, s, `{"payload": "`+strings.Repeat("a", 1<<20)+`"}`, nil)
	if len(longest.Body) < 1<<20 {
		t.Error("the longest payload is cut")
	}
}

func TestASearchTellsAllItsFaults(t *testing.T) {
	t.Parallel()
	s := serve(t)
	bad := api.DocumentSearchParams{
		Type: some("x"), CreatedAfter: some("x"), Filename: some("\x00"), Active: some("x"), Page: some("-1"), Size: some("501"), After: some("x"),
	}
	want := []string{
		"size out_of_range", "page out_of_range", "after conflicting", "filename control_character", "type invalid_value", "createdAfter invalid_date",
		"active invalid_value",
	}
	for _, live := range []bool{true, false} {
		ctx := attachment.WithPatient(as(principal.DocumentRead), live)
		_, v2 := s.DocumentSearch(ctx, api.DocumentSearchRequestObject{Id: "7", Params: bad})
		_, v3 := s.ListAttachments(ctx, api.ListAttachmentsRequestObject{PatientId: "7", Params: api.ListAttachmentsParams(bad)})
		for _, err := range []error{v2, v3} {
			if diff := cmp.Diff(want, codes(err)); diff != "" {
				t.Error(diff)
			}
		}
	}
	foreign := page.Request{After: "7", Page: 1}.Cursor()
	_, err := s.DocumentSearch(as(principal.DocumentRead), api.DocumentSearchRequestObject{Id: "7", Params: api.DocumentSearchParams{After: &foreign, Filename: some(strings.Repeat("a", 501))}})
	if diff := cmp.Diff([]string{"after invalid_cursor", "filename too_long"}, codes(err)); diff != "" {
		t.Error(diff)
	}
	if _, err := s.DocumentSearch(as(principal.DocumentWrite), api.DocumentSearchRequestObject{Id: "7", Params: bad}); !fault.Is(err, fault.Denied) {
		t.Error("faults are told to who may not read: ", err)
	}
}

func TestLinksLeadOnWithTheFilters(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for range 5 {
		attach(t, s, `{"type": "wearable", "title": "50% & more"}`, nil)
		attach(t, s, `{"title": "other"}`, nil)
	}
	params := api.DocumentSearchParams{Type: some("Wearable"), CreatedAfter: some("2026-03-14"), Filename: some("% & MORE"), Active: some("all"), Size: some("2")}
	v2, err := s.DocumentSearch(as(principal.DocumentRead), api.DocumentSearchRequestObject{Id: "7", Params: params})
	if err != nil {
		t.Fatal(err)
	}
	v3, err := s.ListAttachments(as(principal.DocumentRead), api.ListAttachmentsRequestObject{PatientId: "7", Params: api.ListAttachmentsParams(params)})
	if err != nil {
		t.Fatal(err)
	}
	cursor := page.Request{Page: 1, Size: 2, After: id(6)}.Cursor()
	const query = "?type=Wearable&createdAfter=2026-03-14&active=all&size=2&after="
	for path, link := range map[string]*string{
		"/v2/patient/7/document": v2.(api.DocumentSearch200JSONResponse).Headers.Link,
		"/v3/patient/7/attach":   v3.(api.ListAttachments200JSONResponse).Headers.Link,
	} {
		sealed, led := strings.CutPrefix(*link, "<"+path+query+cursor+".")
		if sealed, _ = strings.CutSuffix(sealed, `>; rel="next"`); !led || len(sealed) < 40 {
			t.Fatal(*link)
		}
		// The text is in the cursor, where nobody reads it; who sends it beside the cursor says the same.
		for _, filename := range []*string{nil, params.Filename, some(" % & MORE ")} {
			further := params
			further.After, further.Filename = some(cursor+"."+sealed), filename
			isSecondPage(t, s, further)
		}
		for name, refused := range map[string]api.DocumentSearchRequestObject{
			"another text":    {Id: "7", Params: api.DocumentSearchParams{After: some(cursor + "." + sealed), Filename: some("less")}},
			"another patient": {Id: "8", Params: api.DocumentSearchParams{After: some(cursor + "." + sealed)}},
			"forged":          {Id: "7", Params: api.DocumentSearchParams{After: some(cursor + "." + strings.Repeat("A", 60))}},
		} {
			if _, err := s.DocumentSearch(as(principal.DocumentRead), refused); !fault.Is(err, fault.Invalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	params.After = &cursor
	isSecondPage(t, s, params)
}

func isSecondPage(t *testing.T, s *rest.Server, params api.DocumentSearchParams) {
	t.Helper()
	next, err := s.DocumentSearch(as(principal.DocumentRead), api.DocumentSearchRequestObject{Id: "7", Params: params})
	if err != nil {
		t.Fatal(err)
	}
	var shown struct {
		Content                   []struct{ ID string }
		Page, Size, TotalElements int
	}
	if err := json.Unmarshal(next.(api.DocumentSearch200JSONResponse).Body, &shown); err != nil {
		t.Fatal(err)
	}
	if len(shown.Content) != 2 || shown.Content[0].ID <= id(6) || shown.Page != 1 || shown.Size != 2 || shown.TotalElements != 5 {
		t.Errorf("%+v", shown)
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	t.Parallel()
	s := serve(t)
	attach(t, s, everything, nil)
	document := id(2)
	stranger := attachment.WithPatient(of(uuid.NewString(), principal.All), true)
	missing := attachment.WithPatient(as(principal.All), false)
	tests := map[string]struct {
		ctx               context.Context
		patient, document string
		code              string
	}{
		"another document":         {as(principal.All), "7", id(1), "document_not_found"},
		"no id":                    {as(principal.All), "7", "x", "document_not_found"},
		"the nil id":               {as(principal.All), "7", uuid.Nil.String(), "document_not_found"},
		"an id in braces":          {as(principal.All), "7", "{" + document + "}", "document_not_found"},
		"another patient's":        {as(principal.All), "8", document, "document_not_found"},
		"no patient's id":          {as(principal.All), "07", document, "patient_not_found"},
		"another tenant's":         {stranger, "7", document, "document_not_found"},
		"a patient who is missing": {missing, "7", document, "patient_not_found"},
	}
	for name, test := range tests {
		_, v2 := s.DocumentRead(test.ctx, api.DocumentReadRequestObject{Id: test.patient, DocumentId: test.document})
		_, v3 := s.ReadAttachment(test.ctx, api.ReadAttachmentRequestObject{PatientId: test.patient, ChildId: test.document})
		_, patch := s.UpdateAttachment(test.ctx, api.UpdateAttachmentRequestObject{PatientId: test.patient, ChildId: test.document, Body: object(`{"title": "B"}`)})
		_, deleteV2 := s.DocumentDelete(test.ctx, api.DocumentDeleteRequestObject{Id: test.patient, DocumentId: test.document})
		_, deleteV3 := s.DeleteAttachment(test.ctx, api.DeleteAttachmentRequestObject{PatientId: test.patient, ChildId: test.document})
		for operation, err := range map[string]error{"v2": v2, "v3": v3, "patch": patch, "v2 delete": deleteV2, "v3 delete": deleteV3} {
			if f := fault.Of(err); f.Kind != fault.NotFound || f.Code != test.code {
				t.Errorf("%s of %s: %v", operation, name, err)
			}
		}
	}
	_, create := s.Attach(missing, api.AttachRequestObject{Id: "7", Body: object(`{}`)})
	_, list := s.ListAttachments(missing, api.ListAttachmentsRequestObject{PatientId: "7"})
	for _, err := range []error{create, list} {
		if fault.Of(err).Code != "patient_not_found" {
			t.Error(err)
		}
	}
	if _, err := s.DocumentRead(as(principal.All), api.DocumentReadRequestObject{Id: "7", DocumentId: document}); err != nil {
		t.Error("it is changed or gone: ", err)
	}
}

func TestTheRecordsDocuments(t *testing.T) {
	t.Parallel()
	s := serve(t)
	attach(t, s, everything, nil)
	attach(t, s, `{}`, nil)
	shape := func(n int, rest string) string {
		return `{"id":"` + id(n) + `","patientId":"7",` + rest + `}`
	}
	first := shape(2, `"type":"observation","contentType":"text/plain","filename":"a.txt","title":"A","size":"3",`+
		`"sha256":"","hasContent":false,"contentUrl":"/v2/patient/7/document/`+id(2)+`/content","active":true,"createdAt":"2026-03-14T09:26:53.589Z",`+
		`"payload":{"b": 1.0, "a": [1e400, "\u00e9", "<&>"], "x": 1, "x": 2}`)
	second := shape(4, `"type":"document","contentType":"application/pdf","filename":"","title":"","size":"",`+
		`"sha256":"","hasContent":false,"contentUrl":"/v2/patient/7/document/`+id(4)+`/content","active":true,"createdAt":"2026-03-14T09:26:53.589Z"`)
	echo := func(params api.InternalListDocumentsParams) (body.Raw, error) {
		ctx := of("01900000-0000-7000-8000-0000000000a1", principal.DocumentRead) // nobody says whether there is the patient
		got, err := s.InternalListDocuments(ctx, api.InternalListDocumentsRequestObject{PatientId: "7", Params: params})
		if err != nil {
			return nil, err
		}
		answer := got.(api.InternalListDocuments200JSONResponse)
		if *answer.Headers.CacheControl != "no-store" {
			t.Error(*answer.Headers.CacheControl)
		}
		return answer.Body, nil
	}
	after := page.Request{Page: 1, Size: 1, After: id(2)}.Cursor()
	for name, test := range map[string]struct {
		params api.InternalListDocumentsParams
		want   string
	}{
		"full":     {api.InternalListDocumentsParams{View: some("full")}, `{"content":[` + first + `,` + second + `],"totalElements":2,"truncated":false}`},
		"unsaid":   {api.InternalListDocumentsParams{Size: some("1")}, `{"content":[` + first + `,` + second + `],"totalElements":2,"truncated":false}`},
		"page":     {api.InternalListDocumentsParams{View: some("page"), Size: some("1")}, `{"content":[` + first + `],"page":0,"size":1,"totalElements":2,"next":"` + id(2) + `"}`},
		"the next": {api.InternalListDocumentsParams{View: some("page"), Size: some("1"), After: &after}, `{"content":[` + second + `],"page":1,"size":1,"totalElements":2}`},
		"manifest": {api.InternalListDocumentsParams{View: some("manifest")}, `{"count":2,"items":[` +
			`{"id":"` + id(2) + `","type":"observation","createdAt":"2026-03-14T09:26:53.589Z","size":"3"},` +
			`{"id":"` + id(4) + `","type":"document","createdAt":"2026-03-14T09:26:53.589Z"}],"truncated":false}`},
	} {
		got, err := echo(test.params)
		if err != nil {
			t.Fatal(name, err)
		}
		golden(t, name, got, test.want)
	}
	if _, err := echo(api.InternalListDocumentsParams{View: some("x"), Page: some("x")}); !cmp.Equal(codes(err), []string{"page out_of_range", "view invalid_value"}) {
		t.Error(codes(err))
	}
	ctx := of("01900000-0000-7000-8000-0000000000a1", principal.All&^principal.DocumentRead)
	if _, err := s.InternalListDocuments(ctx, api.InternalListDocumentsRequestObject{PatientId: "7"}); !fault.Is(err, fault.Denied) {
		t.Error(err)
	}
}

func TestALongRecordSaysThatItIsCut(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for range 501 {
		attach(t, s, `{}`, nil)
	}
	for _, view := range []string{"full", "manifest"} {
		got, err := s.InternalListDocuments(as(principal.DocumentRead), api.InternalListDocumentsRequestObject{
			PatientId: "7", Params: api.InternalListDocumentsParams{View: &view},
		})
		if err != nil {
			t.Fatal(err)
		}
		var shown struct {
			Content, Items       []struct{ ID string }
			Count, TotalElements int
			Truncated            bool
		}
		if err := json.Unmarshal(got.(api.InternalListDocuments200JSONResponse).Body, &shown); err != nil {
			t.Fatal(err)
		}
		if len(shown.Content)+len(shown.Items) != 500 || shown.Count+shown.TotalElements != 501 || !shown.Truncated {
			t.Errorf("%s: %d and %d of %d and %d, truncated %v", view, len(shown.Content), len(shown.Items), shown.TotalElements, shown.Count, shown.Truncated)
		}
	}
}

func TestARecordWithoutAllPayloadsSaysThatItIsCut(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for range 17 {
		attach(t, s, `{"payload": "`+strings.Repeat("a", 1<<20)+`"}`, nil)
	}
	got, err := s.InternalListDocuments(as(principal.DocumentRead), api.InternalListDocumentsRequestObject{PatientId: "7"})
	if err != nil {
		t.Fatal(err)
	}
	raw := string(got.(api.InternalListDocuments200JSONResponse).Body)
	if !strings.HasSuffix(raw, `"totalElements":17,"truncated":true}`) || strings.Count(raw, `"payloadOmitted":true`) != 2 {
		t.Errorf("%d payloads are omitted; %s", strings.Count(raw, `"payloadOmitted":true`), raw[len(raw)-100:])
	}
}
