package rest_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/api"
	"github.com/patient-mesh/patient-mesh/services/patient/rest"
)

// The patient of most tests, who lives, and one of whom nobody knows.
const (
	someone = "524288123"
	nobody  = "524288124"
)

// morning is when the tests take place.
func morning() time.Time { return time.Date(2026, 3, 14, 9, 26, 53, 589_793_238, time.UTC) }

// service is the operations as they are served, over stores in memory.
type service struct {
	*web.App

	t           *testing.T
	ring        *principal.Keyring
	who         principal.Principal
	clock       *time.Time
	keys        keys
	living      living
	trail       *trail
	ward        *ward
	river       *river
	identifiers *shelf[patient.Identifier, *patient.Identifier]
}

func serve(t *testing.T) *service {
	t.Helper()
	ring, err := principal.ParseKeyring("k:" + base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	app, err := web.New(web.Options{Name: "test", Logger: slog.New(slog.DiscardHandler), Keyring: ring})
	if err != nil {
		t.Fatal(err)
	}
	known, told, recorded := living{524288123: true, 524288999: true}, &trail{}, keys{}
	s := &service{
		App: app, t: t, ring: ring, clock: some(morning()), keys: recorded, living: known, trail: told, ward: &ward{trail: told, keys: recorded, last: 524288123},
		river:       &river{},
		who:         principal.Principal{Kind: principal.APIKey, TenantID: "tenant", CredentialID: "key", Permissions: principal.All},
		identifiers: &shelf[patient.Identifier, *patient.Identifier]{living: known, trail: told, keys: recorded},
	}
	verbs := &patient.Service{Store: s.ward, Now: func() time.Time { return *s.clock }, NewID: uuid.NewV7}
	server := &rest.Server{
		Patients: verbs, Feed: &patient.Feed{Store: s.river},
		Addresses: &patient.Addresses{
			Service: verbs, Name: "address", Store: &shelf[patient.Address, *patient.Address]{living: known, trail: told, keys: recorded},
		},
		Contacts: &patient.Contacts{
			Service: verbs, Name: "contact", Store: &shelf[patient.Contact, *patient.Contact]{living: known, trail: told, keys: recorded},
		},
		Aliases: &patient.Aliases{
			Service: verbs, Name: "alias", Store: &shelf[patient.Alias, *patient.Alias]{living: known, trail: told, keys: recorded},
		},
		Identifiers: &patient.Identifiers{
			Service: verbs, Name: "identifier", Store: s.identifiers,
			Complete: func(_ context.Context, in patient.IdentifierInput) (patient.IdentifierInput, error) {
				if in.AuthorityOrganizationID == nil && in.AuthorityOrganizationName == nil && in.AuthorityExternalSystemID == nil {
					in.AuthorityOrganizationID, in.AuthorityOrganizationName = some("tenant"), some("Harbour Clinic")
				}
				return in, nil
			},
		},
	}
	api.RegisterHandlersWithOptions(app, api.NewStrictHandler(server, nil),
		api.FiberServerOptions{HandlerMiddlewares: []api.HandlerMiddlewareFunc{web.JSONOnly}})
	return s
}

func some[T any](v T) *T { return &v }

// may is the service for a caller with these permissions alone.
func (s *service) may(permissions principal.Permission) *service {
	other := *s
	other.who.Permissions = permissions
	return &other
}

type headers map[string]string

// answer is a response with its body read.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   string
}

func (s *service) do(method, target, body string, with headers) answer {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range with {
		r.Header.Set(name, value)
	}
	r.Header.Set(principal.AssertionHeader, s.ring.Sign(principal.Encode(s.who), method, target, time.Now()))
	resp, err := s.Test(r, -1)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{t: s.t, status: resp.StatusCode, header: resp.Header, body: string(raw)}
}

func (s *service) get(target string) answer {
	s.t.Helper()
	return s.do(http.MethodGet, target, "", nil)
}

func (s *service) post(target, body string) answer {
	s.t.Helper()
	return s.do(http.MethodPost, target, body, nil)
}

func (s *service) patch(target, body string) answer {
	s.t.Helper()
	return s.do(http.MethodPatch, target, body, nil)
}

func (s *service) delete(target string) answer {
	s.t.Helper()
	return s.do(http.MethodDelete, target, "", nil)
}

// is fails unless the status is the one wanted.
func (a answer) is(status int) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("answered %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

// object reads the body.
func (a answer) object() map[string]any {
	a.t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(a.body), &o); err != nil {
		a.t.Fatalf("answered %d: %s", a.status, a.body)
	}
	return o
}

// id is the id of what was made.
func (a answer) id() string {
	a.t.Helper()
	id, _ := a.object()["id"].(string)
	if parsed, err := uuid.Parse(id); err != nil || parsed.Version() != 7 || parsed.String() != id {
		a.t.Fatalf("the id is no UUIDv7: %s", a.body)
	}
	return id
}

// shows is the body with its id taken out, byte for byte: members, their order and their values.
func (a answer) shows(want string) {
	a.t.Helper()
	if got := strings.ReplaceAll(a.body, a.id(), "ID"); got != want {
		a.t.Errorf("shown\n%s\nwant\n%s", got, want)
	}
}

// refused fails unless the answer is a problem with the status and code.
func (a answer) refused(status int, code string) {
	a.t.Helper()
	if got := a.is(status).object()["code"]; got != code {
		a.t.Errorf("refused with %v, want %s: %s", got, code, a.body)
	}
}

// faults is "field code" of what a 400 lists.
func (a answer) faults() []string {
	a.t.Helper()
	var p struct {
		Code   string
		Errors []struct{ Field, Code, Message string }
	}
	if err := json.Unmarshal([]byte(a.is(http.StatusBadRequest).body), &p); err != nil || p.Code != "invalid_request" {
		a.t.Fatalf("%v: %s", err, a.body)
	}
	list := []string{}
	for _, f := range p.Errors {
		list = append(list, f.Field+" "+f.Code)
	}
	return list
}

// next is the target of the Link.
func (a answer) next() string {
	target, found := strings.CutSuffix(strings.TrimPrefix(a.header.Get("Link"), "<"), `>; rel="next"`)
	if !found {
		return ""
	}
	return target
}

// bodies are those of each kind that give everything and break no rule, in the names of each interface.
func bodies() map[string]map[string]string {
	same := func(body string) map[string]string { return map[string]string{"v2": body, "v3": body} }
	return map[string]map[string]string{
		"address": same(`{"line1":"12 Harbour Street","line2":"Apt 4","city":"Portland","state":"ME","postalCode":"04101","country":"us","use":"HOME"}`),
		"contact": same(`{"system":"Phone","value":"(207) 555-0142","use":"Mobile"}`),
		"alias": same(`{"type":"Maiden","alias":"Nana","firstName":"Ana","lastName":"Reis","fullName":"Ana Reis",` +
			`"effectiveFrom":"1980-02-29","effectiveTo":"2031-06-30T23:00:00+02:00"}`),
		"identifier": {
			"v3": `{"type":"MRN","value":"00412967","authorityOrganizationId":"o","authorityOrganizationName":"O","authorityExternalSystemId":"s",` +
				`"authorityExternalSystemName":"S","sourceName":"Desk","activeFrom":"2019-05-01","activeUntil":"2031-01-01T00:00:00Z"}`,
			"v2": `{"type":"MRN","value":"00412967","authority_organization_id":"o","authority_organization_name":"O","authority_external_system_id":"s",` +
				`"authority_external_system_name":"S","source_name":"Desk","active_from":"2019-05-01","active_until":"2031-01-01T00:00:00Z"}`,
		},
	}
}

// each runs a test for every kind in both interfaces. At is the path of someone's children of the kind.
func each(t *testing.T, test func(s *service, kind, version, at, body string)) {
	t.Helper()
	for name, versions := range bodies() {
		for version, body := range versions {
			t.Run(version+" "+name, func(t *testing.T) {
				t.Parallel()
				test(serve(t), name, version, "/"+version+"/patient/"+someone+"/"+name, body)
			})
		}
	}
}
