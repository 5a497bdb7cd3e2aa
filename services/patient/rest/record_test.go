package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/api"
	"github.com/patient-mesh/patient-mesh/services/patient/rest"
)

// archive holds one record, and is who keeps its documents.
type archive struct {
	patient.Store
	record   patient.Record
	manifest patient.Manifest
	told     patient.Documents
	away     error
	asked    string // of the documents
	part     page.Request
}

func (*archive) Keep(context.Context, audit.Entry) error { return nil }

func (a *archive) Record(context.Context, string, int64, time.Time) (*patient.Record, error) {
	return &a.record, nil
}

func (a *archive) Manifest(context.Context, string, int64, time.Time) (*patient.Manifest, error) {
	return &a.manifest, nil
}

func (a *archive) Patient(context.Context, string, int64) (*patient.Patient, error) {
	return &a.record.Patient, nil
}

func (a *archive) Documents(_ context.Context, _ int64, view patient.View, part page.Request) (patient.Documents, error) {
	a.asked, a.part = string(view), part
	return a.told, a.away
}

// ana's archive: one child of each kind, and documents as nobody who decodes and encodes them would leave them.
func ana() *archive {
	child := func(n byte) patient.Child {
		return patient.Child{ID: uuid.UUID{15: n}.String(), PatientID: 7, Version: 1, CreatedAt: morning(), UpdatedAt: morning()}
	}
	return &archive{
		record: patient.Record{
			Patient: patient.Patient{
				ID: 7, FirstName: "Ana", LastName: "Lima", Suffix: "Jr.", DOB: time.Date(1980, 2, 29, 0, 0, 0, 0, time.UTC), SexAtBirth: "unknown",
				Gender: "Unknown", Race: "Unknown", Ethnicity: "Unknown", SSNLast4: "6789", Version: 3, CreatedAt: morning(), UpdatedAt: morning(),
			},
			Addresses:   patient.Cut[patient.Address]{{Child: child(1), Line1: "12 Harbour Street", City: "Portland", State: "ME", PostalCode: "04101", Country: "US", Use: "home"}},
			Aliases:     patient.Cut[patient.Alias]{{Child: child(2), Type: "maiden", LastName: "Reis"}},
			Identifiers: patient.Cut[patient.Identifier]{{Child: child(3), Type: "MRN", Value: "0041", Authority: patient.Authority{OrganizationID: "o"}, SourceName: "Unknown"}},
			Contacts:    patient.Cut[patient.Contact]{{Child: child(4), System: "phone", Value: "207 555 0123", E164: "+12075550123", Use: "mobile"}},
		},
		manifest: patient.Manifest{
			PatientID: 7, Addresses: patient.Listing{Count: 1, Items: patient.Cut[patient.Item]{{ID: uuid.UUID{15: 1}.String(), Type: "home", CreatedAt: morning()}}},
		},
		told: patient.Documents{Shown: json.RawMessage(`[{"id":"d","payload":{"b": 1.50,"a":12345678901234567890123,"c":"<\u00e9>"}}]`)},
	}
}

func (a *archive) server() *rest.Server {
	service := &patient.Service{Store: a, Now: morning, NewID: uuid.NewV7}
	return &rest.Server{Records: &patient.Records{Service: service, Store: a, Documents: a}}
}

func reader(t *testing.T) context.Context {
	t.Helper()
	return principal.With(t.Context(), principal.Principal{
		TenantID: uuid.NewString(), Kind: principal.APIKey, CredentialID: "key", Permissions: principal.PatientRead | principal.DocumentRead,
	})
}

// read is what is answered with 200.
func (a *archive) read(t *testing.T, p api.EchoParams) api.Echo200JSONResponse {
	t.Helper()
	got, err := a.server().Echo(reader(t), api.EchoRequestObject{Id: "7", Params: p})
	if err != nil {
		t.Fatal(err)
	}
	answer, ok := got.(api.Echo200JSONResponse)
	if !ok {
		t.Fatalf("%T", got)
	}
	return answer
}

const anaShown = `"patientId":"7","firstName":"Ana","middleName":"","lastName":"Lima","prefix":"","suffix":"Jr.","dob":"1980-02-29",` +
	`"sex_at_birth":"unknown","gender":"Unknown","race":"Unknown","ethnicity":"Unknown","genderIdentity":"","preferredLanguage":"",` +
	`"last4Ssn":"***-**-6789","deceased":false,"createdAt":"2026-03-14T09:26:53.589Z","updatedAt":"2026-03-14T09:26:53.589Z","version":3,`

const childrenShown = `"addresses":[{"id":"00000000-0000-0000-0000-000000000001","patientId":"7","line1":"12 Harbour Street","line2":"","city":"Portland",` +
	`"state":"ME","postalCode":"04101","country":"US","use":"home","active":true,"createdAt":"2026-03-14T09:26:53.589Z"}],` +
	`"aliases":[{"id":"00000000-0000-0000-0000-000000000002","patientId":"7","type":"maiden","alias":"","firstName":"","lastName":"Reis",` +
	`"fullName":"","effectiveFrom":"","effectiveTo":"","active":true,"createdAt":"2026-03-14T09:26:53.589Z"}],` +
	`"identifiers":[{"id":"00000000-0000-0000-0000-000000000003","patientId":"7","type":"MRN","value":"0041","authority_organization_id":"o",` +
	`"authority_organization_name":"","authority_external_system_id":"","authority_external_system_name":"","source_name":"Unknown",` +
	`"active_from":"","active_until":"","active":true,"createdAt":"2026-03-14T09:26:53.589Z"}],` +
	`"contacts":[{"id":"00000000-0000-0000-0000-000000000004","patientId":"7","system":"phone","value":"207 555 0123",` +
	`"e164":"+12075550123","use":"mobile","active":true,"createdAt":"2026-03-14T09:26:53.589Z"}],`

func TestTheViewsOfARecord(t *testing.T) {
	const payload = `[{"id":"d","payload":{"b": 1.50,"a":12345678901234567890123,"c":"<\u00e9>"}}]`
	tests := map[string]struct {
		params api.EchoParams
		change func(a *archive)
		want   string
	}{
		"full": {want: `{` + anaShown + childrenShown + `"documents":` + payload + `}`},
		"nothing but the patient": {
			change: func(a *archive) {
				a.record, a.told.Shown = patient.Record{Patient: a.record.Patient}, json.RawMessage("[]")
			},
			want: `{` + anaShown + `"addresses":[],"aliases":[],"identifiers":[],"contacts":[],"documents":[]}`,
		},
		"partial": {
			params: api.EchoParams{View: some("FULL"), Partial: some("True")},
			change: func(a *archive) { a.away = fault.Away(nil, "x") },
			want:   `{` + anaShown + childrenShown + `"documents":null,"incomplete":["documents"]}`,
		},
		"page": {
			params: api.EchoParams{View: some("page")},
			change: func(a *archive) {
				a.told.Shown = json.RawMessage(`{"content":[],"page":0,"size":50,"totalElements":0}`)
			},
			want: `{` + anaShown + `"documents":{"content":[],"page":0,"size":50,"totalElements":0}}`,
		},
		"manifest": {
			params: api.EchoParams{View: some("manifest")},
			change: func(a *archive) {
				a.told = patient.Documents{Shown: json.RawMessage(`{"count":501,"items":[]}`), Truncated: true}
			},
			want: `{"patientId":"7","addresses":{"count":1,"items":[{"id":"00000000-0000-0000-0000-000000000001","type":"home",` +
				`"createdAt":"2026-03-14T09:26:53.589Z"}]},"aliases":{"count":0,"items":[]},"identifiers":{"count":0,"items":[]},` +
				`"contacts":{"count":0,"items":[]},"documents":{"count":501,"items":[]},"truncated":["documents"]}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := ana()
			if test.change != nil {
				test.change(a)
			}
			if diff := cmp.Diff(test.want, string(a.read(t, test.params).Body)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsCutIsNamed(t *testing.T) {
	a := ana()
	a.told.Truncated = true
	a.record.Addresses = slices.Repeat(a.record.Addresses, patient.RecordLimit+1)
	a.record.Aliases = slices.Repeat(a.record.Aliases, patient.RecordLimit)
	a.record.Contacts = slices.Repeat(a.record.Contacts, patient.RecordLimit+1)
	a.manifest.Identifiers.Items = slices.Repeat(patient.Cut[patient.Item]{{}}, patient.RecordLimit+1)
	for view, want := range map[string][]string{"full": {"addresses", "contacts", "documents"}, "manifest": {"identifiers", "documents"}} {
		var shown struct {
			Addresses, Aliases json.RawMessage
			Truncated          []string
		}
		if err := json.Unmarshal(a.read(t, api.EchoParams{View: &view}).Body, &shown); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(shown.Truncated, want) {
			t.Errorf("%s: truncated %v", view, shown.Truncated)
		}
		for _, list := range [][]byte{shown.Addresses, shown.Aliases} {
			if n := bytes.Count(list, []byte(`"line1"`)) + bytes.Count(list, []byte(`"fullName"`)); view == "full" && n != patient.RecordLimit {
				t.Errorf("%d shown", n)
			}
		}
	}
}

func TestAPageLeadsToTheNext(t *testing.T) {
	a, last := ana(), uuid.UUID{15: 9}.String()
	a.told.Next = last
	got := a.read(t, api.EchoParams{View: some("page"), Size: some("3"), Partial: some("true")})
	next := got.Headers.Link
	if next == nil || !strings.HasPrefix(*next, "</v2/patient/7?view=page&partial=true&size=3&after=") || !strings.HasSuffix(*next, `>; rel="next"`) {
		t.Fatal(next)
	}
	_, after, _ := strings.Cut(strings.TrimSuffix(*next, `>; rel="next"`), "after=")
	a.told.Next = ""
	got = a.read(t, api.EchoParams{View: some("page"), Size: some("3"), After: &after})
	if got.Headers.Link != nil || a.part != (page.Request{Page: 1, Size: 3, After: last}) {
		t.Errorf("%v, asked for %+v", got.Headers.Link, a.part)
	}
}

func TestTheTagMovesWithWhatIsShown(t *testing.T) {
	tags := map[string]string{}
	for name, change := range map[string]func(a *archive){
		"ana":        func(*archive) {},
		"patient":    func(a *archive) { a.record.Patient.MiddleName = "M" },
		"a child":    func(a *archive) { a.record.Contacts[0].Use = "work" },
		"a document": func(a *archive) { a.told.Shown = json.RawMessage("[]") },
		"truncated":  func(a *archive) { a.told.Truncated = true },
	} {
		a := ana()
		change(a)
		tag := *a.read(t, api.EchoParams{}).Headers.ETag
		if other, twice := tags[tag]; twice || !strings.HasPrefix(tag, `W/"`) {
			t.Errorf("%s has the tag %s of %s", name, tag, other)
		}
		tags[tag] = name
		got, err := a.server().Echo(reader(t), api.EchoRequestObject{Id: "7", Params: api.EchoParams{IfNoneMatch: &tag}})
		if unchanged, ok := got.(api.Echo304Response); err != nil || !ok || *unchanged.Headers.ETag != tag {
			t.Errorf("%s: %T, %v", name, got, err)
		}
		a.record.Patient.Version++
		a.read(t, api.EchoParams{IfNoneMatch: &tag})
	}
}

func TestWhatARecordIsAskedWrongly(t *testing.T) {
	a := ana()
	_, err := a.server().Echo(reader(t), api.EchoRequestObject{Id: "x", Params: api.EchoParams{
		View: some("all"), Partial: some("yes"), Size: some("0"), Page: some("-1"), After: some("x"),
	}})
	var got []string
	for _, f := range fault.Of(err).Fields {
		got = append(got, f.Field+" "+f.Code)
	}
	if diff := cmp.Diff([]string{"size out_of_range", "page out_of_range", "after conflicting", "view invalid_value", "partial invalid_value"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := a.server().Echo(t.Context(), api.EchoRequestObject{Id: "7", Params: api.EchoParams{View: some("all")}}); !fault.Is(err, fault.Unauthenticated) {
		t.Error(err)
	}
	if a.asked != "" {
		t.Error("documents were asked for")
	}
}
