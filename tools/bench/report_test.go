package bench

import (
	"strings"
	"testing"
	"time"
)

func TestReportSaysRatiosFirst(t *testing.T) {
	r := &report{machine: []string{"a machine"}}
	r.atLeast("reads", 0.4, 0.5)
	r.atLeast("writes", 1.2, 1)
	r.atLeast("others", 3, 0)
	r.table(table{title: "Reads in full", header: []string{"What", "Rate"}, rows: [][]string{{"ours", rate(1234.4)}}})
	r.note("something odd")
	got := r.Markdown(time.Date(2031, 2, 3, 4, 5, 0, 0, time.UTC))
	at := 0
	for _, want := range []string{
		"2031-02-03 04:05 UTC", "| What | Found | Budget | Met |", "| --- | ---: | ---: | ---: |",
		"| reads | 0.40× | ≥ 0.50× | **no** |", "| writes | 1.20× | ≥ 1.00× | yes |", "| others | 3.00× | – | – |",
		"## Reads in full", "| ours | 1234/s |", "* something odd", "* a machine",
	} {
		found := strings.Index(got[at:], want)
		if found < 0 {
			t.Fatalf("%q does not stand where it should:\n%s", want, got)
		}
		at += found
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "–", 900 * time.Nanosecond: "1 µs", 850 * time.Microsecond: "850 µs", 1500 * time.Microsecond: "1.50 ms", 2300 * time.Millisecond: "2.30 s",
	} {
		if got := duration(d); got != want {
			t.Errorf("%s is written %q, want %q", d, got, want)
		}
	}
}

func TestMediansAreTakenOfEachMember(t *testing.T) {
	got := middle([]sample{{Rate: 10, P50: 3, Failed: 1}, {Rate: 30, P50: 1}, {Rate: 20, P50: 2, Failed: 2}})
	if got.Rate != 20 || got.P50 != 2 || got.Failed != 3 {
		t.Errorf("got %+v", got)
	}
	if got := middle([]sample{{Rate: 10}, {Rate: 20}}); got.Rate != 15 {
		t.Errorf("the median of two is %v", got.Rate)
	}
}
