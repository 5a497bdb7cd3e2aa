package patient_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/services/patient"
)

func TestNewAlias(t *testing.T) {
	born := patient.Child{Version: 1, CreatedAt: now, UpdatedAt: now}
	tests := map[string]struct {
		in     patient.AliasInput
		want   patient.Alias
		faults []string
	}{
		"an alias":        {in: patient.AliasInput{Alias: some("Annie")}, want: patient.Alias{Type: "alias", Alias: "Annie"}},
		"a first name":    {in: patient.AliasInput{FirstName: some("Annie")}, want: patient.Alias{Type: "alias", FirstName: "Annie"}},
		"a last name":     {in: patient.AliasInput{Type: some("MAIDEN"), LastName: some("Lima")}, want: patient.Alias{Type: "maiden", LastName: "Lima"}},
		"a full name":     {in: patient.AliasInput{Type: some("Legal_Change"), FullName: some("Ana Lima")}, want: patient.Alias{Type: "legal_change", FullName: "Ana Lima"}},
		"some not given":  {in: patient.AliasInput{Alias: some("n/a"), FirstName: some("Annie"), LastName: some("")}, want: patient.Alias{Type: "alias", FirstName: "Annie"}},
		"in an interval":  {in: patient.AliasInput{Alias: some("A"), EffectiveFrom: some("2020-01-01"), EffectiveTo: some("2021-01-01")}, want: patient.Alias{Type: "alias", Alias: "A", Interval: patient.Interval{From: moment("2020-01-01"), Until: moment("2021-01-01")}}},
		"in no interval":  {in: patient.AliasInput{Alias: some("A"), EffectiveFrom: some("n/a"), EffectiveTo: some("")}, want: patient.Alias{Type: "alias", Alias: "A"}},
		"nothing":         {faults: []string{"alias required"}},
		"no name":         {in: patient.AliasInput{Type: some("nickname"), Alias: some("n/a"), FirstName: some(""), LastName: some("N/A")}, faults: []string{"alias required"}},
		"unknown type":    {in: patient.AliasInput{Type: some("stage"), Alias: some("A")}, faults: []string{"type invalid_value"}},
		"type blank":      {in: patient.AliasInput{Type: some(""), Alias: some("A")}, faults: []string{"type blank"}},
		"type n/a":        {in: patient.AliasInput{Type: some("n/a"), Alias: some("A")}, faults: []string{"type blank"}},
		"all at once":     {in: patient.AliasInput{Type: some("x"), EffectiveFrom: some("x"), EffectiveTo: some("x")}, faults: []string{"type invalid_value", "alias required", "effectiveFrom invalid_date", "effectiveTo invalid_date"}},
		"end and no name": {in: patient.AliasInput{EffectiveFrom: some("2021-01-01"), EffectiveTo: some("2020-01-01")}, faults: []string{"alias required", "effectiveTo before_start"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, faults := test.in.New(now)
			if diff := cmp.Diff(test.faults, codes(faults)); len(test.faults)+len(faults) > 0 && diff != "" {
				t.Error(diff)
			}
			test.want.Child = born
			if diff := cmp.Diff(test.want, got); len(faults) == 0 && diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnAliasKeepsAName(t *testing.T) {
	before := patient.Alias{Type: "nickname", Alias: "Annie", FirstName: "Ana"}
	tests := map[string]struct {
		in     patient.AliasInput
		want   patient.Alias
		faults []string
	}{
		"nothing":             {want: before},
		"one cleared":         {in: patient.AliasInput{Alias: some("n/a")}, want: patient.Alias{Type: "nickname", FirstName: "Ana"}},
		"one for both":        {in: patient.AliasInput{Alias: some("N/A"), FirstName: some(""), FullName: some("Ana")}, want: patient.Alias{Type: "nickname", FullName: "Ana"}},
		"both cleared":        {in: patient.AliasInput{Alias: some("n/a"), FirstName: some("n/a")}, faults: []string{"alias required"}},
		"type cannot be":      {in: patient.AliasInput{Type: some("N/A")}, faults: []string{"type blank"}},
		"another type":        {in: patient.AliasInput{Type: some("Previous")}, want: patient.Alias{Type: "previous", Alias: "Annie", FirstName: "Ana"}},
		"unknown type":        {in: patient.AliasInput{Type: some("Unknown")}, faults: []string{"type invalid_value"}},
		"an interval's start": {in: patient.AliasInput{EffectiveFrom: some("2020-01-01")}, want: patient.Alias{Type: "nickname", Alias: "Annie", FirstName: "Ana", Interval: patient.Interval{From: moment("2020-01-01")}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, faults := test.in.Apply(before, now)
			if diff := cmp.Diff(test.faults, codes(faults)); len(test.faults)+len(faults) > 0 && diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.want, got); len(faults) == 0 && diff != "" {
				t.Error(diff)
			}
		})
	}
	clear := some("n/a")
	for name, test := range map[string]struct {
		in   patient.AliasInput
		want []string
	}{
		"three cleared": {patient.AliasInput{Alias: clear, FirstName: clear, LastName: clear}, []string{}},
		"all cleared":   {patient.AliasInput{Alias: clear, FirstName: clear, LastName: clear, FullName: clear}, []string{"alias required"}},
		"bounds":        {patient.AliasInput{EffectiveFrom: some("2021-01-01"), EffectiveTo: some("2020-01-01")}, []string{"effectiveTo before_start"}},
		"one bound":     {patient.AliasInput{EffectiveTo: some("1900-01-01")}, []string{}},
	} {
		if diff := cmp.Diff(test.want, codes(test.in.Validate(now))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
