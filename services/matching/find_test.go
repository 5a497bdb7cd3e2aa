package matching

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/metric/noop"
	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/matching/index"
)

func TestGrades(t *testing.T) {
	t.Parallel()
	model := linkage.Default()
	hit := func(id int64, bits float64, veto string) index.Hit {
		return index.Hit{
			Demographics: linkage.Demographics{ID: id}, Bits: bits, Veto: veto, Evidence: []linkage.Evidence{{Field: "dob", Level: "exact", Weight: bits}},
		}
	}
	none := math.Inf(-1)
	for name, test := range map[string]struct {
		found index.Found
		want  []string
	}{
		"sure":                       {index.Found{Hits: []index.Hit{hit(1, 20, "")}, Second: none}, []string{"certain"}},
		"sure, and nobody near":      {index.Found{Hits: []index.Hit{hit(1, 20, ""), hit(2, 0, "")}, Second: 0}, []string{"certain", "possible"}},
		"vetoed":                     {index.Found{Hits: []index.Hit{hit(1, 20, "suffix")}, Second: none}, []string{"probable"}},
		"not all were looked at":     {index.Found{Hits: []index.Hit{hit(1, 20, "")}, Second: none, Truncated: true}, []string{"probable"}},
		"two alike":                  {index.Found{Hits: []index.Hit{hit(1, 20, ""), hit(2, 20, "")}, Second: 20}, []string{"probable", "probable"}},
		"the second is not shown":    {index.Found{Hits: []index.Hit{hit(1, 20, "")}, Second: 19.9}, []string{"probable"}},
		"a second who would be sure": {index.Found{Hits: []index.Hit{hit(1, 60, ""), hit(2, 20, "")}, Second: 20}, []string{"certain", "probable"}},
		"not sure":                   {index.Found{Hits: []index.Hit{hit(1, 5, ""), hit(2, 2, "")}, Second: 2}, []string{"probable", "possible"}},
	} {
		a := probable(model, test.found)
		var got []string
		for i, m := range a.Matches {
			got = append(got, m.Grade)
			if m.Patient.ID != int64(i+1) || len(m.Evidence) == 0 {
				t.Errorf("%s: %+v", name, m)
			}
		}
		if !slices.Equal(got, test.want) || a.Truncated != test.found.Truncated || a.Exact {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	lax := linkage.Default() // as no model is that passes: whoever is not the first is never certain
	lax.Thresholds.Margin = -10
	a := probable(lax, index.Found{Hits: []index.Hit{hit(1, 20, ""), hit(2, 20, ""), hit(3, 2, "")}, Second: 20})
	if a.Matches[0].Grade != "certain" || a.Matches[1].Grade != "probable" || a.Matches[2].Grade != "possible" {
		t.Errorf("two are certain: %+v", a.Matches)
	}
	for total, want := range map[int]string{1: "certain", 2: "probable"} {
		a := exact(query{given: Given{LastName: "Lima"}}, index.Found{Hits: []index.Hit{hit(1, 0, "")}, Total: total, Next: 9})
		if m := a.Matches[0]; m.Grade != want || m.Score != 1 || a.Total != total || !a.Exact || a.Next != 9 || len(m.Evidence) != 1 {
			t.Errorf("one of %d: %+v", total, a)
		}
	}
}

// desk is who a service asks: an index, or its fault, and a ledger.
type desk struct {
	index   *index.Index
	fault   error
	wait    bool // until nobody waits any more
	refusal error
	kept    []audit.Entry
}

func (d *desk) Fresh(ctx context.Context, _ string) (*index.Index, error) {
	if d.wait {
		<-ctx.Done()
		return nil, fault.Because(ctx.Err(), fault.Unavailable, "index_behind", "")
	}
	return d.index, d.fault
}

func (d *desk) Active(context.Context, string) (*linkage.Model, error) { return linkage.Default(), nil }

func (d *desk) Keep(_ context.Context, e audit.Entry) error {
	d.kept = append(d.kept, e)
	return d.refusal
}

func (d *desk) service(t rapid.TB) *Service {
	t.Helper()
	meters, err := NewMeters(noop.Meter{})
	if err != nil {
		t.Fatal(err)
	}
	return &Service{Indexes: d, Models: d, Ledger: d, Meters: meters, Now: func() time.Time { return today }, NewID: uuid.NewV7}
}

func matcher(t *testing.T) context.Context {
	t.Helper()
	return allowed(t.Context())
}

func allowed(ctx context.Context) context.Context {
	return principal.With(ctx, principal.Principal{
		TenantID: uuid.NewString(), Kind: principal.APIKey, CredentialID: "key", Permissions: principal.MatchRead,
	})
}

func TestAFindLeavesOneEntryAndNothingOfItsQuestion(t *testing.T) {
	t.Parallel()
	d := &desk{index: index.New(index.Options{})}
	d.index.Apply([]linkage.Demographics{{ID: 7, FirstName: "Ana", LastName: "Lima", DOB: "1980-02-29", SexAtBirth: "unknown"}})
	s := d.service(t)
	for _, exact := range []bool{false, true} {
		a, err := s.Find(matcher(t), Question{Given: Given{FirstName: "Ana", LastName: "Lima", DOB: "1980-02-29"}, Exact: &exact})
		if err != nil || len(a.Matches) != 1 || a.Matches[0].Patient.ID != 7 || a.Total != 1 || a.Exact != exact {
			t.Errorf("%+v, %v", a, err)
		}
	}
	for i, e := range d.kept {
		if e.Action != "patient.find" || e.Outcome != audit.Success || e.PatientID != nil || e.CredentialID != "key" || i > 1 {
			t.Errorf("%+v", e)
		}
	}
	if len(d.kept) != 2 {
		t.Errorf("%d entries of two finds", len(d.kept))
	}
}

func TestAFindThatCannotBeAnswered(t *testing.T) {
	t.Parallel()
	lima := Question{Given: Given{LastName: "Lima"}}
	for name, test := range map[string]struct {
		desk  desk
		asked Question
		ctx   context.Context //nolint:containedctx // of a test
		kind  fault.Kind
		code  string
		kept  int
	}{
		"nobody asks":        {desk{}, lima, t.Context(), fault.Unauthenticated, "unauthenticated", 0},
		"who may not":        {desk{}, Question{}, principal.With(t.Context(), principal.Principal{Permissions: principal.PatientRead}), fault.Denied, "permission_denied", 0},
		"nothing":            {desk{}, Question{}, matcher(t), fault.Invalid, "invalid_request", 0},
		"too much":           {desk{}, Question{Given: Given{City: strings.Repeat("x", longestQuestion+1)}}, matcher(t), fault.TooLarge, "question_too_large", 0},
		"no index yet":       {desk{fault: fault.New(fault.Unavailable, "index_loading", "")}, lima, matcher(t), fault.Unavailable, "index_loading", 1},
		"a defect":           {desk{fault: errors.New("x")}, lima, matcher(t), fault.Internal, "internal", 1},
		"the ledger is away": {desk{index: index.New(index.Options{}), refusal: fault.Away(nil, "")}, lima, matcher(t), fault.Unavailable, "unavailable", 1},
	} {
		a, err := test.desk.service(t).Find(test.ctx, test.asked)
		if f := fault.Of(err); f.Kind != test.kind || f.Code != test.code || len(a.Matches) > 0 || len(test.desk.kept) != test.kept {
			t.Errorf("%s: %+v, %v, %d entries", name, a, err, len(test.desk.kept))
		}
	}
}

func TestAFindWaitsASecondForItsIndex(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{wait: true}
		began := time.Now()
		_, err := d.service(t).Find(matcher(t), Question{Given: Given{LastName: "Lima"}})
		if f := fault.Of(err); f.Code != "index_behind" || time.Since(began) != time.Second || len(d.kept) != 1 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// Nobody is shown below the score that is asked for, and who is shown with a score is shown to whoever asks for it.
func TestWhatIsFilteredIsWhatIsShown(t *testing.T) {
	t.Parallel()
	d := &desk{index: index.New(index.Options{})}
	for id := range int64(2000) {
		d.index.Apply([]linkage.Demographics{{
			ID: id + 1, FirstName: []string{"Ana", "Anna", "Anne", "Bea", "Hannah"}[id%5], LastName: []string{"Lima", "Limo", "Lehmann", "Silva"}[id/5%4],
			DOB: time.Date(1980, 2, 1+int(id/20), 0, 0, 0, 0, time.UTC).Format(time.DateOnly), SexAtBirth: []string{"female", "unknown"}[id%2],
		}})
	}
	s := d.service(t)
	find := func(who Given, least float64) Answer {
		limit := 100.
		a, err := s.Find(matcher(t), Question{Given: who, MinScore: &least, Limit: &limit})
		if err != nil {
			t.Fatal(err)
		}
		if a.Total < len(a.Matches) || a.Total > len(a.Matches) && len(a.Matches) < 100 {
			t.Errorf("%d of %d are shown", len(a.Matches), a.Total)
		}
		for _, m := range a.Matches {
			if m.Score < least {
				t.Errorf("%v is shown of at least %v", m.Score, least)
			}
		}
		return a
	}
	scores := 0
	for _, first := range []string{"Ana", "Anne", "Hanna", "Beatrix"} {
		for _, last := range []string{"Lima", "Lemann", ""} {
			for _, born := range []string{"1980-02-29", "1980-02-28", "1980-12-02"} {
				who, before := Given{FirstName: first, LastName: last, DOB: born}, 0
				for _, m := range find(who, .34).Matches {
					if at, above := find(who, m.Score), find(who, m.Score+1e-7); at.Total <= above.Total || at.Total < before {
						t.Errorf("%d have at least %v, %d more", at.Total, m.Score, above.Total)
					} else {
						before = at.Total
					}
					scores++
				}
				if a := find(who, 1); a.Total > 0 {
					t.Errorf("%d are sure", a.Total)
				}
			}
		}
	}
	if scores < 20 {
		t.Errorf("%d scores", scores)
	}
}

// Whatever is stored and whatever is asked, a find answers, and whoever is stored is found by all that is stored.
func TestAnythingCanBeAsked(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.StringN(0, 20, 80), rapid.SampledFrom([]string{
		"", "Ana", "O'Brien", "van der Berg-Lima", "李", "محمد", "😀", "...", "Z\u0301\u0323oe", "x", "Jr", "12 Main St Apt 4", "04101-1234", "(207) 555-0134", "a@b.example",
	}))
	rapid.Check(t, func(t *rapid.T) {
		d := &desk{index: index.New(index.Options{})}
		var given Given
		for i := range Demographics {
			clean, code, _ := body.CleanText(text.Draw(t, i.String()), i.Limit())
			if code == "" && !strings.EqualFold(clean, "n/a") {
				given[i] = clean
			}
		}
		given[DOB], given[SexAtBirth], given[Last4SSN] = "1980-02-29", "female", "6789"
		stored := given.person()
		stored.ID, stored.Gender, stored.Race, stored.Ethnicity = 7, "Unknown", "Unknown", "Unknown"
		d.index.Apply([]linkage.Demographics{stored})
		s := d.service(t)
		for _, exact := range []bool{false, true} {
			a, err := s.Find(allowed(t.Context()), Question{Given: given, Exact: &exact})
			if err != nil || len(a.Matches) != 1 || a.Matches[0].Patient.FirstName != given[FirstName] {
				t.Fatalf("exact %t: %+v, %v", exact, a, err)
			}
		}
		other := given
		other[rapid.IntRange(0, int(Demographics)-1).Draw(t, "field")] = ""
		if _, err := s.Find(allowed(t.Context()), Question{Given: other}); err != nil {
			t.Fatal(err)
		}
	})
}
