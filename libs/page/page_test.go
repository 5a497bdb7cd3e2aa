package page_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/page"
)

func some(s string) *string { return &s }

func TestDefaults(t *testing.T) {
	r, faults := page.Parse(nil, nil, nil)
	if len(faults) != 0 || r != (page.Request{Size: 50}) {
		t.Errorf("%+v, %v", r, faults)
	}
}

func TestOutOfRange(t *testing.T) {
	for _, text := range []string{"-1", "", "x", "1.0", "0x1", "99999999999999999999", "1e2", " 1"} {
		if _, faults := page.Parse(some(text), nil, nil); len(faults) != 1 || faults[0].Field != "page" {
			t.Errorf("page %q: %v", text, faults)
		}
	}
	for _, text := range []string{"0", "501", "-1", ""} {
		if _, faults := page.Parse(nil, some(text), nil); len(faults) != 1 || faults[0].Field != "size" {
			t.Errorf("size %q: %v", text, faults)
		}
	}
	if _, faults := page.Parse(some("-1"), some("0"), some("!")); len(faults) != 3 {
		t.Errorf("not all faults are told: %v", faults)
	}
}

func TestCursorLeadsOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(`[0-9a-f-]{1,36}`).Draw(t, "id")
		size := rapid.IntRange(1, page.MaxSize).Draw(t, "size")
		first := page.Request{Page: rapid.IntRange(0, 1000).Draw(t, "page"), Size: size}
		link := first.Next("/v3/patient?", id)
		target := strings.TrimSuffix(strings.TrimPrefix(link, "</v3/patient?"), `>; rel="next"`)
		_, after, _ := strings.Cut(target, "after=")
		got, faults := page.Parse(nil, nil, &after)
		if len(faults) != 0 || got.After != id || got.Page != first.Page+1 || got.Offset() != 0 {
			t.Fatalf("%s gave %+v, %v", link, got, faults)
		}
	})
}

func TestAfterNeedsNoPage(t *testing.T) {
	if _, faults := page.Parse(some("0"), nil, some("eyJhIjoiMSIsInAiOjF9")); len(faults) != 1 || faults[0].Code != "conflicting" {
		t.Errorf("%v", faults)
	}
	for _, text := range []string{"", "e30", "%%%", "eyJhIjoiMSIsInAiOi0xfQ"} {
		if _, faults := page.Parse(nil, nil, some(text)); len(faults) != 1 || faults[0].Code != "invalid_cursor" {
			t.Errorf("after %q: %v", text, faults)
		}
	}
}
