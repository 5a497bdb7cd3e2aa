package train_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/tools/load/train"
	"github.com/patient-mesh/patient-mesh/tools/synth"
)

// gateway is an organization whose records are those of a file.
type gateway struct {
	mu      sync.Mutex
	records []train.Record
	gone    map[int64]bool
	echoed  []int64
	listed  int
	posted  []string
	bodies  []string
	broken  string // part of a path that answers nothing
	active  int64
}

var (
	errMissing = errors.New("404")
	errBroken  = errors.New("500")
)

func (g *gateway) Get(_ context.Context, path string, into any) (http.Header, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, err := url.Parse(path)
	if err != nil {
		return nil, err
	}
	if g.broken != "" && strings.Contains(path, g.broken) {
		return nil, errBroken
	}
	header := http.Header{}
	var answer any
	switch {
	case at.Path == "/v3/patient":
		g.listed++
		after, _ := strconv.Atoi(at.Query().Get("after"))
		size, _ := strconv.Atoi(at.Query().Get("size"))
		end := min(after+size, len(g.records))
		var content []map[string]any
		for _, r := range g.records[after:end] {
			content = append(content, map[string]any{
				"id": r.ID, "firstName": r.FirstName, "middleName": r.MiddleName, "lastName": r.LastName, "dob": r.DOB, "sexAtBirth": "Unknown", "last4Ssn": "***-**-1234",
			})
		}
		if end < len(g.records) {
			header.Set("Link", fmt.Sprintf(`</v3/patient?size=%d&after=%d>; rel="next"`, size, end))
		}
		answer = map[string]any{"content": content, "totalElements": len(g.records)}
	case strings.HasPrefix(at.Path, "/v2/patient/"):
		id, _ := strconv.ParseInt(strings.TrimPrefix(at.Path, "/v2/patient/"), 10, 64)
		if g.gone[id] {
			return nil, errMissing
		}
		g.echoed = append(g.echoed, id)
		r := g.records[id-1]
		answer = map[string]any{
			"patientId": strconv.FormatInt(id, 10), "firstName": r.FirstName, "lastName": r.LastName, "suffix": "Jr", "dob": r.DOB, "sex_at_birth": "female", "last4Ssn": "***-**-1234",
			"addresses":   []any{map[string]any{"line1": "12 Harbour Street", "city": "Portland", "state": "ME", "postalCode": "04101", "country": "US"}},
			"contacts":    []any{map[string]any{"system": "phone", "value": "(207) 555-0134", "e164": "+12075550134"}},
			"aliases":     []any{map[string]any{"alias": "", "firstName": "", "lastName": "Reis", "fullName": "", "effectiveFrom": "2019-05-01"}},
			"identifiers": []any{map[string]any{"type": "MRN", "value": "1", "authority_organization_id": "o", "authority_organization_name": "N", "authority_external_system_id": "", "authority_external_system_name": ""}},
			"documents":   nil,
		}
	case at.Path == "/v3/matching/models":
		answer = map[string]any{"content": []any{map[string]any{"version": 0, "active": g.active == 0}, map[string]any{"version": 1, "active": g.active == 1}}}
	case strings.HasPrefix(at.Path, "/v3/matching/models/"):
		m := linkage.Default()
		if strings.HasSuffix(at.Path, "/1") {
			m.Prior.Matches = 0.125
		}
		answer = map[string]any{"version": 1, "model": m}
	default:
		return nil, errMissing
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return header, json.Unmarshal(raw, into)
}

func (g *gateway) Post(_ context.Context, path, key string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	g.posted, g.bodies = append(g.posted, path+" "+key), append(g.bodies, string(raw))
	return json.Unmarshal([]byte(`{"version": 7, "active": true}`), into)
}

func tenant(g *gateway) train.Tenant {
	return train.Tenant{Gateway: g, Missing: func(err error) bool { return errors.Is(err, errMissing) }, Seed: 1}
}

func TestATenantsRecordsAreListedAndSomeReadWhole(t *testing.T) {
	t.Parallel()
	g := &gateway{records: made(t, synth.Options{Seed: 31, People: 1000, Duplicated: 0.2}, false), gone: map[int64]bool{}}
	from := tenant(g)
	from.Echoes = 300
	s, err := from.List(t.Context())
	if err != nil || len(s.Records) != len(g.records) || s.Size != len(g.records) || s.Chosen || g.listed != 3 {
		t.Fatalf("%d records of %d in %d pages, chosen %v, %v", len(s.Records), s.Size, g.listed, s.Chosen, err)
	}
	listed := s.Records[0]
	if listed.FirstName != g.records[0].FirstName || listed.SSNLast4 != "1234" || listed.SexAtBirth != "unknown" || listed.Addresses != nil {
		t.Errorf("%+v", listed)
	}
	if err := from.Whole(t.Context(), &s); err != nil || len(g.echoed) != 300 {
		t.Fatalf("%d records were read whole, %v", len(g.echoed), err)
	}
	id := g.echoed[0]
	want := train.Record{Demographics: linkage.Demographics{
		ID: id, FirstName: g.records[id-1].FirstName, LastName: g.records[id-1].LastName, Suffix: "Jr", DOB: g.records[id-1].DOB, SexAtBirth: "female", SSNLast4: "1234",
		Addresses:   []linkage.Address{{Line1: "12 Harbour Street", City: "Portland", State: "ME", PostalCode: "04101", Country: "US"}},
		Contacts:    []linkage.Contact{{System: "phone", Value: "(207) 555-0134", E164: "+12075550134"}},
		Aliases:     []linkage.Alias{{LastName: "Reis"}},
		Identifiers: []linkage.Identifier{{Type: "MRN", Authority: "o\x1fN\x1f\x1f", Value: "1"}},
	}}
	if diff := cmp.Diff(want, s.Records[id-1]); diff != "" {
		t.Error(diff)
	}
	// With enough to read, the records of a pair are all among them.
	g.echoed = nil
	from.Echoes = 0
	if err := from.Whole(t.Context(), &s); err != nil || len(g.echoed) < 350 || len(g.echoed) > 1000 {
		t.Errorf("%d of %d records were read whole, %v", len(g.echoed), len(s.Records), err)
	}
}

func TestOfManyRecordsSomeDaysOfBirthAreChosen(t *testing.T) {
	t.Parallel()
	g := &gateway{records: made(t, synth.Options{Seed: 32, People: 3000, Duplicated: 0.5}, false)}
	from := tenant(g)
	from.Records = 1000
	s, err := from.List(t.Context())
	if err != nil || !s.Chosen || s.Size != len(g.records) || len(s.Records) < 800 || len(s.Records) > 1000 {
		t.Fatalf("%d of %d, chosen %v, %v", len(s.Records), s.Size, s.Chosen, err)
	}
	days := map[string]bool{}
	for _, r := range s.Records {
		days[r.DOB] = true
	}
	born := 0
	for _, r := range g.records {
		if days[r.DOB] {
			born++
		}
	}
	if born != len(s.Records) && len(s.Records) < 1000 {
		t.Errorf("%d were born on the days chosen, %d were taken", born, len(s.Records))
	}
	// Nothing is learnt of what they were chosen by.
	l, err := train.Learn(s.People(0), nil, linkage.Default(), train.Options{Seed: 1, Strangers: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	for f, field := range l.Model.Fields {
		if field.Name != "dob" {
			continue
		}
		for i, level := range field.Levels {
			if was := l.Default.Fields[f].Levels[i]; abs(level.M/was.M-1) > 1e-6 || abs(level.U/was.U-1) > 1e-6 {
				t.Errorf("dob %s: m %v, was %v; u %v, was %v", level.Name, level.M, was.M, level.U, was.U)
			}
		}
	}
	from.Read = 500 // no more pages than that
	g.listed = 0
	if s, err = from.List(t.Context()); err != nil || g.listed != 1 || len(s.Records) != 500 || s.Chosen {
		t.Errorf("%d pages, %d records, %v", g.listed, len(s.Records), err)
	}
}

func abs(x float64) float64 { return max(x, -x) }

func TestLabelledRecordsAreRead(t *testing.T) {
	t.Parallel()
	g := &gateway{records: made(t, synth.Options{Seed: 33, People: 100}, false), gone: map[int64]bool{5: true}}
	s, err := tenant(g).Labelled(t.Context(), []train.Label{{A: 9, B: 3, Same: true}, {A: 3, B: 5}, {A: 7, B: 3}})
	var ids []int64
	for _, r := range s.Records {
		ids = append(ids, r.ID)
	}
	if err != nil || !slices.Equal(ids, []int64{3, 7, 9}) || s.Size != len(g.records) {
		t.Errorf("%v of %d, %v", ids, s.Size, err)
	}
	g.broken = "/v2/patient/7"
	if _, err := tenant(g).Labelled(t.Context(), []train.Label{{A: 9, B: 7}}); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

func TestTheActiveModelIsRead(t *testing.T) {
	t.Parallel()
	for active, prior := range map[int64]float64{0: linkage.Default().Prior.Matches, 1: 0.125} {
		version, m, err := tenant(&gateway{active: active}).Active(t.Context())
		if err != nil || version != active || m.Prior.Matches != prior {
			t.Errorf("%d, %v, %v", version, m, err)
		}
	}
	if _, _, err := tenant(&gateway{broken: "models"}).Active(t.Context()); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

// What is added tells figures and nothing of anybody, and is added once however often the same is trained.
func TestAModelIsAddedOnce(t *testing.T) {
	t.Parallel()
	g := &gateway{}
	for range 2 {
		l := learn(t, made(t, synth.Options{Seed: 34, People: 300, Duplicated: 0.5}, true), linkage.Default(), train.Options{Seed: 1, Strangers: 5000})
		if version, err := tenant(g).Upload(t.Context(), "name", l); version != 7 || err != nil {
			t.Fatal(version, err)
		}
	}
	if g.posted[0] != g.posted[1] || g.bodies[0] != g.bodies[1] || !strings.HasPrefix(g.posted[0], "/v3/matching/models train-") {
		t.Errorf("%v", g.posted)
	}
	var body struct {
		Name, Description string
		Parent            *int64
		Training          map[string]any
		Model             json.RawMessage
	}
	if err := json.Unmarshal([]byte(g.bodies[0]), &body); err != nil {
		t.Fatal(err)
	}
	if body.Name != "name" || body.Description == "" || body.Parent == nil || *body.Parent != 0 {
		t.Errorf("%s", g.bodies[0][:300])
	}
	if _, faults := linkage.ParseModel(body.Model); len(faults) > 0 {
		t.Error(faults)
	}
	for name, value := range body.Training {
		if _, number := value.(float64); !number && name != "method" {
			t.Errorf("%s is no figure: %v", name, value)
		}
	}
	for _, name := range []string{"method", "records", "pairs", "precision", "recall", "f1", "ece", "wrongCertain", "eceBefore", "seed"} {
		if _, there := body.Training[name]; !there {
			t.Errorf("no %s in %v", name, body.Training)
		}
	}
	if err := tenant(g).Activate(t.Context(), 7); err != nil || g.posted[2] != "/v3/matching/models/7/activate activate-7" {
		t.Error(err, g.posted)
	}
}
