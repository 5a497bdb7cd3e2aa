package linkage_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

func TestTheDefaultModelIsSound(t *testing.T) {
	t.Parallel()
	if faults := linkage.Default().Validate(); len(faults) > 0 {
		t.Fatal(cmp.Diff(nil, faults))
	}
}

// A model is data: what it is written as reads as the same.
func TestModelsAreJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := linkage.Default()
		m.Description = rapid.String().Draw(t, "description")
		m.Prior.Matches = rapid.Float64Range(0.1, 10).Draw(t, "matches")
		f := rapid.IntRange(0, len(m.Fields)-1).Draw(t, "field")
		levels := m.Fields[f].Levels
		from := rapid.Float64Range(0, 0.0001).Draw(t, "less")
		levels[0].M, levels[len(levels)-1].M = levels[0].M-from, levels[len(levels)-1].M+from
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		read, faults := linkage.ParseModel(raw)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		again, err := json.Marshal(read)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.EqualFold(string(raw), string(again)) || string(raw) != string(again) {
			t.Fatal(cmp.Diff(string(raw), string(again)))
		}
	})
}

// Every rule of a model has a fault, told at its place, and all of them at once.
func TestFaultsOfModels(t *testing.T) {
	t.Parallel()
	cases := map[string]func(m *linkage.Model){
		"prior.matches":                   func(m *linkage.Model) { m.Prior.Matches = 0 },
		"careless.share":                  func(m *linkage.Model) { m.Careless.Share = 0.99 },
		"careless.times":                  func(m *linkage.Model) { m.Careless.Times = 0.5 },
		"frequency.names":                 func(m *linkage.Model) { m.Frequency.Names = 0 },
		"frequency.days":                  func(m *linkage.Model) { m.Frequency.Days = math.NaN() },
		"frequency.floor":                 func(m *linkage.Model) { m.Frequency.Floor = 0 },
		"calibration.scale":               func(m *linkage.Model) { m.Calibration.Scale = 0 },
		"calibration.shift":               func(m *linkage.Model) { m.Calibration.Shift = math.Inf(1) },
		"thresholds.probable":             func(m *linkage.Model) { m.Thresholds.Probable = 0.899 },
		"thresholds.certain":              func(m *linkage.Model) { m.Thresholds.Certain = 0.998 },
		"thresholds.margin":               func(m *linkage.Model) { m.Thresholds.Margin = 0.9 },
		"fields[0].name":                  func(m *linkage.Model) { m.Fields[0].Name = "givenName" },
		"fields[1].levels":                func(m *linkage.Model) { m.Fields[1].Levels = m.Fields[1].Levels[1:] },
		"fields[2].levels[3].name":        func(m *linkage.Model) { m.Fields[2].Levels[3].Name = "other" },
		"fields[3].levels[0].m":           func(m *linkage.Model) { m.Fields[3].Levels[0].M = 0 },
		"fields[3].levels[1].u":           func(m *linkage.Model) { m.Fields[3].Levels[1].U = math.NaN() },
		"fields[4].levels[2].spread":      func(m *linkage.Model) { m.Fields[4].Levels[2].Spread = -3 },
		"fields[5].levels[1].veto":        func(m *linkage.Model) { m.Fields[5].Levels[1].Veto = "sometimes" },
		"fields[6].levels[1]":             func(m *linkage.Model) { m.Fields[6].Levels[0].M, m.Fields[6].Levels[1].M = 0.5, 0.5 },
		"fields[8].levels":                func(m *linkage.Model) { m.Fields[8].Levels[0].M += 0.1 },
		"relatives[0].expected":           func(m *linkage.Model) { m.Relatives[0].Expected = -1 },
		"relatives[1].name":               func(m *linkage.Model) { m.Relatives[1].Name = "" },
		"relatives[2].shares":             func(m *linkage.Model) { m.Relatives[2].Shares["shoeSize"] = 0.5 },
		"relatives[3].shares[middleName]": func(m *linkage.Model) { m.Relatives[3].Shares["middleName"] = 1.5 },
		"fields[11].levels[3].m":          func(m *linkage.Model) { m.Fields[11].Levels[3].M = 2 },
		"fields[14].levels[4].name":       func(m *linkage.Model) { m.Fields[14].Levels[4].Name = "" },
		"fields[15].levels[0].u":          func(m *linkage.Model) { m.Fields[15].Levels[0].U = -1 },
		"frequency.dates":                 func(m *linkage.Model) { m.Frequency.Dates = -5 },
	}
	all := linkage.Default()
	for field, wrong := range cases {
		m := linkage.Default()
		wrong(m)
		if faults := m.Validate(); len(faults) != 1 || faults[0].Field != field || faults[0].Code == "" || faults[0].Message == "" {
			t.Errorf("%s: %v", field, faults)
		}
		wrong(all)
	}
	told := all.Validate()
	for field := range cases {
		if !slices.ContainsFunc(told, func(f fault.Field) bool { return f.Field == field }) {
			t.Errorf("with all the others %s is not told", field)
		}
	}
	for name, m := range map[string]*linkage.Model{"fields": {}, "relatives": {Relatives: make([]linkage.Relative, 9)}} {
		if faults := m.Validate(); !slices.ContainsFunc(faults, func(f fault.Field) bool { return f.Field == name }) {
			t.Errorf("%s: %v", name, faults)
		}
	}
}

// A model may be stricter than its grades' names, and never laxer; brought within its bounds it is sound.
func TestBoundsOfThresholds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		given, bounded linkage.Thresholds
		fault          string
	}{
		{linkage.Thresholds{Certain: 0.999, Probable: 0.9, Margin: 1}, linkage.Thresholds{Certain: 0.999, Probable: 0.9, Margin: 1}, ""},
		{linkage.Thresholds{Certain: linkage.MostCertain, Probable: linkage.MostCertain, Margin: 100}, linkage.Thresholds{Certain: linkage.MostCertain, Probable: linkage.MostCertain, Margin: 100}, ""},
		{linkage.Thresholds{Certain: 1, Probable: 0.9, Margin: 7}, linkage.Thresholds{Certain: linkage.MostCertain, Probable: 0.9, Margin: 7}, "thresholds.certain"},
		{linkage.Thresholds{Certain: 0.5, Probable: 0.95, Margin: 7}, linkage.Thresholds{Certain: 0.999, Probable: 0.95, Margin: 7}, "thresholds.certain"},
		{linkage.Thresholds{Certain: math.NaN(), Probable: 0.95, Margin: 7}, linkage.Thresholds{Certain: 0.999, Probable: 0.95, Margin: 7}, "thresholds.certain"},
		{linkage.Thresholds{Certain: 0.999, Probable: 0.9995, Margin: 7}, linkage.Thresholds{Certain: 0.999, Probable: 0.999, Margin: 7}, "thresholds.probable"},
		{linkage.Thresholds{Certain: 0.999, Probable: 0.5, Margin: 7}, linkage.Thresholds{Certain: 0.999, Probable: 0.9, Margin: 7}, "thresholds.probable"},
		{linkage.Thresholds{Certain: 0.999, Probable: 0.9, Margin: 0}, linkage.Thresholds{Certain: 0.999, Probable: 0.9, Margin: 1}, "thresholds.margin"},
		{linkage.Thresholds{Certain: 0.999, Probable: 0.9, Margin: 200}, linkage.Thresholds{Certain: 0.999, Probable: 0.9, Margin: 100}, "thresholds.margin"},
	} {
		m := linkage.Default()
		m.Thresholds = test.given
		faults := m.Validate()
		if len(faults) > 1 || (len(faults) == 1) != (test.fault != "") || len(faults) == 1 && faults[0].Field != test.fault {
			t.Errorf("%+v: %v", test.given, faults)
		}
		m.Thresholds = test.given.Bounded()
		if faults := m.Validate(); m.Thresholds != test.bounded || len(faults) > 0 {
			t.Errorf("%+v are brought to %+v: %v", test.given, m.Thresholds, faults)
		}
	}
}

// Whatever is sent for a model is read or refused.
func TestParseModelTakesAnything(t *testing.T) {
	t.Parallel()
	sound, err := json.Marshal(linkage.Default())
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{"", "null", "[]", "{}", `{"fields":"all"}`, `{"prior":{"matches":"many"}}`, `{"fields":[{"levels":[null]}]}`} {
		if m, faults := linkage.ParseModel([]byte(raw)); m != nil || len(faults) == 0 {
			t.Errorf("%s is a model", raw)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		raw := slices.Clone(sound)
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			raw[rapid.IntRange(0, len(raw)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "to")
		}
		if m, faults := linkage.ParseModel(raw); (m == nil) == (len(faults) == 0) {
			t.Fatalf("%v with faults %v", m, faults)
		} else if m != nil {
			a, b := made(fields{"first": "Ann"}), made(fields{"first": "Anne", "last": "Smith"})
			m.Ask(&a, nil, 0).Score(&b)
		}
	})
}
