package patient_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/civil"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

// anyMoment is one of a day or so, to the millisecond, so that moments often meet; sometimes none.
func anyMoment(now time.Time) *rapid.Generator[civil.Moment] {
	return rapid.Custom(func(t *rapid.T) civil.Moment {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return civil.Moment{}
		case 1:
			day := now.UTC().Truncate(24 * time.Hour)
			return civil.Moment{At: day.AddDate(0, 0, rapid.IntRange(-1, 1).Draw(t, "day")), Day: true}
		default:
			near := rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Hour, 24 * time.Hour}).Draw(t, "near")
			return civil.Moment{At: now.Add(near * time.Duration(rapid.IntRange(-1, 1).Draw(t, "side")))}
		}
	})
}

// The start belongs to an interval, its end does not, and what is deactivated is active in none.
func TestActiveIsFromTheStartUntilTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		held := patient.Interval{From: anyMoment(now).Draw(t, "from"), Until: anyMoment(now).Draw(t, "until")}
		at := now.Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, "at")) * time.Millisecond)
		started := held.From == civil.Moment{} || !at.Before(held.From.At)
		ended := held.Until != civil.Moment{} && !at.Before(held.Until.At)
		if got := held.Contains(at); got != (started && !ended) {
			t.Fatalf("%v contains %v: %v", held, at, got)
		}
		if held.From.Given() {
			open := patient.Interval{From: held.From}
			if !open.Contains(held.From.At) || open.Contains(held.From.At.Add(-time.Millisecond)) {
				t.Fatalf("the start of %v is not its first moment", open)
			}
		}
		if held.Until.Given() {
			open := patient.Interval{Until: held.Until}
			if open.Contains(held.Until.At) || !open.Contains(held.Until.At.Add(-time.Millisecond)) {
				t.Fatalf("the end of %v is not the first moment after it", open)
			}
		}
		alias, identifier := patient.Alias{Interval: held}, patient.Identifier{Interval: held}
		if alias.Active(at) != held.Contains(at) || identifier.Active(at) != held.Contains(at) {
			t.Fatal("an interval is not when its child is active")
		}
		alias.DeactivatedAt, identifier.DeactivatedAt = &now, &now
		if alias.Active(at) || identifier.Active(at) {
			t.Fatal("what was deactivated is active")
		}
	})
}

// interval is what an alias makes of its bounds, from what it had.
func interval(t *testing.T, had patient.Interval, from, until *string) (patient.Interval, []string) {
	t.Helper()
	a, faults := patient.AliasInput{EffectiveFrom: from, EffectiveTo: until}.Apply(patient.Alias{Alias: "x", Interval: had}, now)
	return a.Interval, codes(faults)
}

func TestBoundsOfAnInterval(t *testing.T) {
	had := patient.Interval{From: moment("2020-01-01"), Until: moment("2030-01-01")}
	none := []string{}
	tests := map[string]struct {
		from, until *string
		want        string
		faults      []string
	}{
		"nothing given":           {nil, nil, "2020-01-01 2030-01-01", none},
		"another start":           {some("2021-05-06T07:08:09+02:00"), nil, "2021-05-06T05:08:09.000Z 2030-01-01", none},
		"both":                    {some("2031-01-01"), some("2032-01-01"), "2031-01-01 2032-01-01", none},
		"start cleared":           {some("N/A"), nil, " 2030-01-01", none},
		"end cleared by nothing":  {nil, some(""), "2020-01-01 ", none},
		"both cleared":            {some("n/a"), some("n/a"), " ", none},
		"equal":                   {nil, some("2020-01-01"), "2020-01-01 2020-01-01", none},
		"equal, day and instant":  {nil, some("2020-01-01T00:00:00Z"), "2020-01-01 2020-01-01T00:00:00.000Z", none},
		"end before start":        {nil, some("2019-12-31T23:59:59.999Z"), "", []string{"effectiveTo before_start"}},
		"start after end":         {some("2030-01-01T00:00:00.001Z"), nil, "", []string{"effectiveTo before_start"}},
		"no dates":                {some("soon"), some("later"), "", []string{"effectiveFrom invalid_date", "effectiveTo invalid_date"}},
		"no date, end in the way": {some("soon"), some("1990-01-01"), "", []string{"effectiveFrom invalid_date"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, faults := interval(t, had, test.from, test.until)
			if diff := cmp.Diff(test.faults, faults); diff != "" {
				t.Error(diff)
			}
			if shown := got.From.String() + " " + got.Until.String(); len(faults) == 0 && shown != test.want {
				t.Errorf("%q, want %q", shown, test.want)
			}
		})
	}
}

// moment reads what is known to be one.
func moment(text string) civil.Moment {
	m, err := civil.ParseMoment(text)
	if err != nil {
		panic(err)
	}
	return m
}
