package civil_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/civil"
)

func TestParse(t *testing.T) {
	for text, ok := range map[string]bool{
		"1980-02-29": true, "1800-01-01": true, "9999-12-31": true,
		"1981-02-29": false, "1900-02-29": false, "1799-12-31": false, "0000-01-01": false, "1980-13-01": false, "1980-00-01": false,
		"1980-2-9": false, "19800229": false, "29-02-1980": false, "1980-02-29T00:00:00Z": false, "": false,
		"١٩٨٠-٠٢-٢٩": false, "+1980-02-29": false, "1980-02-30": false,
	} {
		if _, err := civil.Parse(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestFormatIsTheInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		day := time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(0, 2_900_000).Draw(t, "day"))
		got, err := civil.Parse(civil.Format(day))
		if err != nil || !got.Equal(day) {
			t.Fatalf("%v became %v, %v", day, got, err)
		}
	})
}

func TestInFuture(t *testing.T) {
	now := time.Date(2026, 3, 14, 23, 59, 59, 0, time.UTC)
	today := time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)
	if civil.InFuture(today, now) || !civil.InFuture(today.AddDate(0, 0, 1), now) {
		t.Error("today is not in the future, tomorrow is")
	}
}
