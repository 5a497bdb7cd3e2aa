package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

type list struct {
	Content       []shown
	Page, Size    int
	TotalElements int64
}

func nextOf(t *testing.T, a answer) string {
	t.Helper()
	link := a.header.Get("Link")
	target, found := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
	if !found {
		t.Fatalf("no Link to the next page: %q", link)
	}
	return target
}

func TestListPages(t *testing.T) {
	c := newTenant(t)
	if raw := c.get(patients).is(ok).raw; !json.Valid(raw) || !strings.Contains(string(raw), `"content":[]`) {
		t.Errorf("an empty list is 200 with an empty content: %s", raw)
	}
	var ids []int64
	for range 7 {
		_, p := stored(c, ana())
		ids = append(ids, p.ID)
	}
	deleted, kept := ids[3], slices.Delete(slices.Clone(ids), 3, 4)
	c.delete(path(deleted)).is(ok)
	listed := func(l list) []int64 {
		var got []int64
		for _, p := range l.Content {
			got = append(got, p.ID)
		}
		return got
	}
	var l list
	c.get(patients).is(ok).into(&l)
	if !slices.Equal(listed(l), kept) || l.Page != 0 || l.Size != 50 || l.TotalElements != 6 {
		t.Errorf("the default page: %+v", l)
	}
	c.get(patients + "?page=1&size=4").is(ok).into(&l)
	if !slices.Equal(listed(l), kept[4:]) || l.Page != 1 || l.Size != 4 || l.TotalElements != 6 {
		t.Errorf("the second page: %+v", l)
	}
	c.get(patients + "?page=9&size=4").is(ok).into(&l)
	if len(l.Content) != 0 || l.Page != 9 || l.TotalElements != 6 {
		t.Errorf("a page past the end: %+v", l)
	}
	var walked []int64
	for next := patients + "?size=4"; next != ""; {
		a := c.get(next).is(ok)
		a.into(&l)
		walked = append(walked, listed(l)...)
		if next = ""; a.header.Get("Link") != "" {
			next = nextOf(t, a)
		}
	}
	if !slices.Equal(walked, kept) {
		t.Errorf("following Link gave %v, want %v", walked, kept)
	}
	if a := c.get(patients + "?size=6").is(ok); a.header.Get("Link") != "" {
		t.Error("the last page leads on")
	}
}

func TestListRefusesWhatIsOutOfRange(t *testing.T) {
	c := owner(t)
	for query, want := range map[string]string{
		"page=-1": "page out_of_range", "page=x": "page out_of_range", "page=1.5": "page out_of_range", "page=": "page out_of_range",
		"page=99999999999999999999": "page out_of_range", "size=0": "size out_of_range", "size=501": "size out_of_range", "size=-5": "size out_of_range",
		"after=nonsense": "after invalid_cursor", "after=": "after invalid_cursor",
	} {
		if got := c.get(patients + "?" + query).faults(); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %v", query, got)
		}
	}
	if got := c.get(patients + "?size=0&page=-1").faults(); len(got) != 2 {
		t.Errorf("not all faults at once: %v", got)
	}
	stored(c, ana())
	stored(c, ana())
	next := nextOf(t, c.get(patients+"?size=1").is(ok))
	if got := c.get(next + "&page=0").faults(); !slices.Equal(got, []string{"after conflicting"}) {
		t.Errorf("after with page: %v", got)
	}
}
