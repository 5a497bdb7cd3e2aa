package matching_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/matching"
)

func some[T any](v T) *T { return &v }

// weights is the default model as JSON, changed.
func weights(t *testing.T, change func(m map[string]any)) []byte {
	t.Helper()
	raw, err := json.Marshal(linkage.Default())
	if err != nil {
		t.Fatal(err)
	}
	if change == nil {
		return raw
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	change(m)
	if raw, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	return raw
}

func level(m map[string]any, field, level int) map[string]any {
	f := m["fields"].([]any)[field].(map[string]any)
	return f["levels"].([]any)[level].(map[string]any)
}

func faults(list []fault.Field) []string {
	out := []string{}
	for _, f := range list {
		out = append(out, f.Field+" "+f.Code)
	}
	return out
}

func TestAModelIsMadeOfWhatIsGiven(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	by := principal.Actor{Type: "user", ID: "somebody"}
	m, broken := matching.NewModel(matching.ModelInput{
		Name: some("Spring"), Description: some("d"), Parent: some(int64(0)), Weights: weights(t, nil),
		Training: []byte(`{"method": "em", "pairs": 31240, "ece": 0.006, "b": 1e3}`),
	}, at, by)
	if len(broken) > 0 {
		t.Fatal(broken)
	}
	if m.Name != "Spring" || m.Description != "d" || *m.Parent != 0 || m.CreatedAt != at || m.CreatedBy != by {
		t.Errorf("%+v", &m)
	}
	if got := string(m.Training); got != `{"b":1000,"ece":0.006,"method":"em","pairs":31240}` {
		t.Error(got)
	}
	kept, err := json.Marshal(m.Weights)
	if err != nil || string(kept) != string(weights(t, nil)) {
		t.Errorf("weights became others: %s, %v", kept, err)
	}
	bare, broken := matching.NewModel(matching.ModelInput{Name: some("n"), Weights: weights(t, nil)}, at, by)
	if len(broken) > 0 || string(bare.Training) != `{}` || bare.Parent != nil {
		t.Errorf("%v %+v", broken, &bare)
	}
}

func TestAllFaultsOfAModelAreTold(t *testing.T) {
	t.Parallel()
	many := `{"a": 1` + strings.Repeat(`,"a`, 0)
	for i := range 100 {
		many += `,"a` + strings.Repeat("b", i%50) + string(rune('a'+i/50)) + `": 1`
	}
	for name, test := range map[string]struct {
		in   matching.ModelInput
		want []string
	}{
		"nothing": {matching.ModelInput{}, []string{"name required", "model required"}},
		"blank, and figures that are none": {
			matching.ModelInput{
				Name: some(""), Weights: weights(t, nil),
				Training: []byte(`{"method": 1, "name": "Ana", "list": [1], "none": null, "object": {"a": 1}, "true": true}`),
			},
			[]string{
				"name required", "training.list invalid_type", "training.method invalid_type", "training.name invalid_type",
				"training.none invalid_type", "training.object invalid_type", "training.true invalid_type",
			},
		},
		"a figure's name": {
			matching.ModelInput{Name: some("n"), Weights: weights(t, nil), Training: []byte(`{"Ana Lima": 1, "` + strings.Repeat("a", 65) + `": 1}`)},
			[]string{"training invalid_name", "training invalid_name"},
		},
		"a method like a book": {
			matching.ModelInput{Name: some("n"), Weights: weights(t, nil), Training: []byte(`{"method": "` + strings.Repeat("a", 65) + `"}`)},
			[]string{"training.method invalid_type"},
		},
		"a figure too large": {
			matching.ModelInput{Name: some("n"), Weights: weights(t, nil), Training: []byte(`{"a": 1e400}`)}, []string{"training.a invalid_type"},
		},
		"too many figures": {
			matching.ModelInput{Name: some("n"), Weights: weights(t, nil), Training: []byte(many + `}`)}, []string{"training too_many"},
		},
		"an empty object": {
			matching.ModelInput{Name: some("n"), Weights: []byte(`{}`)},
			[]string{
				"model.fields wrong_number", "model.frequency.dates out_of_range", "model.frequency.days out_of_range",
				"model.frequency.floor out_of_range", "model.frequency.names out_of_range", "model.prior.matches out_of_range",
				"model.thresholds.probable out_of_range", "model.thresholds.certain out_of_range", "model.thresholds.margin out_of_range", "model.careless.times out_of_range", "model.calibration.scale out_of_range",
			},
		},
		"every wrong type at once": {
			matching.ModelInput{Name: some("n"), Weights: weights(t, func(m map[string]any) {
				m["prior"], m["description"] = "much", 7
				level(m, 0, 1)["m"] = "0.9"
				level(m, 4, 0)["name"] = nil
				level(m, 4, 1)["veto"] = 1
				m["relatives"].([]any)[0].(map[string]any)["shares"] = []any{1}
				m["relatives"].([]any)[1].(map[string]any)["shares"] = map[string]any{"dob": "x"}
				m["frequency"].(map[string]any)["names"] = 1.5
				m["unknown"] = "is ignored"
			})},
			[]string{
				"model.description invalid_type", "model.fields[0].levels[1].m invalid_type", "model.fields[4].levels[0].name invalid_type",
				"model.fields[4].levels[1].veto invalid_type", "model.frequency.names invalid_type", "model.prior invalid_type",
				"model.relatives[0].shares invalid_type", "model.relatives[1].shares invalid_type",
			},
		},
		"lists that are none": {
			matching.ModelInput{Name: some("n"), Weights: []byte(`{"fields": {}, "relatives": null, "prior": []}`)},
			[]string{"model.fields invalid_type", "model.prior invalid_type", "model.relatives invalid_type"},
		},
		"figures that make no model": {
			matching.ModelInput{Name: some("n"), Weights: weights(t, func(m map[string]any) {
				level(m, 0, 0)["m"] = 0.5
				level(m, 5, 0)["m"], level(m, 5, 1)["m"] = 0.2, 0.8
				m["prior"].(map[string]any)["matches"] = -1
			})},
			[]string{"model.fields[0].levels m_sum", "model.fields[5].levels[1] not_monotone", "model.prior.matches out_of_range"},
		},
	} {
		_, broken := matching.NewModel(test.in, time.Now(), principal.Actor{})
		if diff := cmp.Diff(sorted(test.want), sorted(faults(broken))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for _, f := range broken {
			if strings.Contains(f.Message+f.Field, "Ana") && f.Field != "training.name" {
				t.Errorf("%s: a fault repeats what was given: %+v", name, f)
			}
		}
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// What an earlier release stored is read by a later one, which knows more.
func TestAStoredModelOutlivesItsRelease(t *testing.T) {
	t.Parallel()
	standard := linkage.Default()
	earlier := weights(t, func(m map[string]any) {
		delete(m, "calibration")
		m["prior"].(map[string]any)["matches"] = 0.125
		level(m, 0, 0)["m"] = level(m, 0, 0)["m"].(float64) + 1e-4
		fields := m["fields"].([]any)
		fields[2].(map[string]any)["levels"] = fields[2].(map[string]any)["levels"].([]any)[1:] // of a field it knew fewer levels
		fields[4], fields[5] = fields[5], fields[4]                                             // others stood elsewhere
		m["fields"] = append(fields[:7:7], fields[8:]...)                                       // and of one it knew nothing
	})
	if _, faults := matching.ParseWeights(earlier); len(faults) == 0 {
		t.Fatal("nothing is missing")
	}
	got, broken := matching.ReadWeights(earlier)
	if len(broken) > 0 {
		t.Fatal(broken)
	}
	want := linkage.Default()
	want.Prior.Matches = 0.125
	want.Fields[0].Levels[0].M += 1e-4
	if diff := cmp.Diff(want.Fields, got.Fields); diff != "" || got.Prior != want.Prior || got.Calibration != standard.Calibration {
		t.Errorf("%s, %+v, %+v", diff, got.Prior, got.Calibration)
	}
	lax := weights(t, func(m map[string]any) { m["thresholds"] = map[string]any{"certain": 0.5, "probable": 0.5, "margin": 0} })
	if got, broken := matching.ReadWeights(lax); len(broken) > 0 || got.Thresholds != (linkage.Thresholds{Certain: 0.999, Probable: 0.9, Margin: 1}) {
		t.Errorf("thresholds that were allowed once: %+v, %v", got, broken)
	}
	for _, raw := range []string{`[]`, `{"fields": 7}`, `{"prior": {"matches": -1}}`} {
		if _, broken := matching.ReadWeights([]byte(raw)); len(broken) == 0 {
			t.Errorf("%s is taken for a model", raw)
		}
	}
}
