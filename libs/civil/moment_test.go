package civil_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/civil"
)

var now = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

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
		m, err := civil.ParseMoment(text)
		if m.String() != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v", text, m, err)
		}
	}
}

// moments are dates and instants, to the millisecond.
func moments() *rapid.Generator[civil.Moment] {
	return rapid.Custom(func(t *rapid.T) civil.Moment {
		if rapid.Bool().Draw(t, "day") {
			return civil.Moment{At: now.Truncate(24*time.Hour).AddDate(0, 0, rapid.IntRange(-80000, 80000).Draw(t, "days")), Day: true}
		}
		return civil.Moment{At: now.Add(time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(t, "milliseconds")) * time.Millisecond)}
	})
}

func TestAMomentReadsBackAsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := moments().Draw(t, "moment")
		var scanned civil.Moment
		parsed, err := civil.ParseMoment(want.String())
		if err != nil || scanned.Scan(want.String()) != nil || parsed != want || scanned != want {
			t.Fatalf("%v became %v, %v, %v", want, parsed, scanned, err)
		}
	})
	m := civil.Moment{At: now}
	if m.Scan("") != nil || m.Given() {
		t.Errorf("none was scanned as %v", m)
	}
	if m.Scan("x") == nil || m.Scan(7) == nil {
		t.Error("what is no moment was scanned")
	}
}
