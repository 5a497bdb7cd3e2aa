package patient_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/services/patient"
)

func TestParseMoment(t *testing.T) {
	for text, want := range map[string]string{
		"2026-03-14":                    "2026-03-14",
		"1800-01-01":                    "1800-01-01",
		"9999-12-31":                    "9999-12-31",
		"2026-03-14T09:26:53Z":          "2026-03-14T09:26:53.000Z",
		"2026-03-14t09:26:53z":          "2026-03-14T09:26:53.000Z",
		"2026-03-14T09:26:53.589793Z":   "2026-03-14T09:26:53.589Z",
		"2026-03-14T00:26:53.5+02:00":   "2026-03-13T22:26:53.500Z",
		"2026-03-14T00:00:00Z":          "2026-03-14T00:00:00.000Z",
		"1800-01-01T00:00:00-01:00":     "1800-01-01T01:00:00.000Z",
		"1800-01-01T00:00:00+01:00":     "", // the year before, in UTC
		"9999-12-31T23:59:59-01:00":     "",
		"1799-12-31":                    "",
		"0001-01-01T00:00:00Z":          "",
		"2026-02-29":                    "",
		"2026-3-14":                     "",
		"2026-03-14T9:26:53Z":           "",
		"2026-03-14T09:26Z":             "",
		"2026-03-14T09:26:53":           "",
		"2026-03-14T09:26:53,5Z":        "",
		"2026-03-14T09:26:53+25:00":     "",
		"2026-03-14 09:26:53Z":          "",
		"2026-03-14T24:00:00Z":          "",
		"":                              "",
		"yesterday":                     "",
		"2026-03-14T09:26:53Z tomorrow": "",
	} {
		m, err := patient.ParseMoment(text)
		if m.String() != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v", text, m, err)
		}
	}
}

// anyMoment is one of a day or so, to the millisecond, so that moments often meet; sometimes none.
func anyMoment(now time.Time) *rapid.Generator[patient.Moment] {
	return rapid.Custom(func(t *rapid.T) patient.Moment {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return patient.Moment{}
		case 1:
			day := now.UTC().Truncate(24 * time.Hour)
			return patient.Moment{At: day.AddDate(0, 0, rapid.IntRange(-1, 1).Draw(t, "day")), Day: true}
		default:
			near := rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Hour, 24 * time.Hour}).Draw(t, "near")
			return patient.Moment{At: now.Add(near * time.Duration(rapid.IntRange(-1, 1).Draw(t, "side")))}
		}
	})
}

func TestAMomentReadsBackAsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyMoment(now).Filter(patient.Moment.Given).Draw(t, "moment")
		var scanned patient.Moment
		parsed, err := patient.ParseMoment(want.String())
		if err != nil || scanned.Scan(want.String()) != nil || parsed != want || scanned != want {
			t.Fatalf("%v became %v, %v, %v", want, parsed, scanned, err)
		}
	})
	m := patient.Moment{At: now}
	if m.Scan("") != nil || m.Given() {
		t.Errorf("none was scanned as %v", m)
	}
	if m.Scan("x") == nil || m.Scan(7) == nil {
		t.Error("what is no moment was scanned")
	}
}

// The start belongs to an interval, its end does not, and what is deactivated is active in none.
func TestActiveIsFromTheStartUntilTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		held := patient.Interval{From: anyMoment(now).Draw(t, "from"), Until: anyMoment(now).Draw(t, "until")}
		at := now.Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, "at")) * time.Millisecond)
		started := held.From == patient.Moment{} || !at.Before(held.From.At)
		ended := held.Until != patient.Moment{} && !at.Before(held.Until.At)
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
func moment(text string) patient.Moment {
	m, err := patient.ParseMoment(text)
	if err != nil {
		panic(err)
	}
	return m
}
