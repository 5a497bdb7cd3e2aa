package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// walk follows a list of documents to its end and gives their ids. Before each further page, meanwhile is called.
func (c *client) walk(path string, meanwhile func()) (ids []string, total int64) {
	c.t.Helper()
	for path != "" {
		var l struct {
			Content       []document
			TotalElements int64
		}
		a := c.get(path).is(ok)
		a.into(&l)
		for _, d := range l.Content {
			ids = append(ids, d.ID)
		}
		total = l.TotalElements
		if path = ""; a.header.Get("Link") != "" {
			path = nextOf(c.t, a)
			meanwhile()
		}
	}
	return ids, total
}

func nothing() {}

// faces are the paths in both interfaces of a patient's documents.
func faces(patient string) []string { return []string{patient + "/attach", of2(patient + "/attach")} }

func TestDocumentSearch(t *testing.T) {
	c := owner(t)
	at, _ := stored(c, ana())
	var made []document
	for _, body := range []map[string]any{
		{"title": "Discharge Letter", "filename": "scan_001.pdf"},
		{"title": "100% sure", "filename": "SCAN-001.PDF", "type": "observation"},
		{"title": "Straße", "filename": "ΟΔΟΣ.txt", "type": "wearable"},
		{"title": "Zoe\u0308", "filename": `a\b'c"d`, "type": "structured"},
		{},
		{"title": "letter", "filename": "of 1000", "type": "observation"},
	} {
		made = append(made, c.attach(at, body))
	}
	c.delete(made[5].at).is(ok)
	at3 := func(i int) string { return made[i].CreatedAt }
	after := func(d document, by time.Duration) string {
		instant, err := time.Parse(time.RFC3339, d.CreatedAt)
		if err != nil {
			t.Fatal(err)
		}
		return instant.Add(by).In(time.FixedZone("", 5*3600+1800)).Format(time.RFC3339Nano)
	}
	since := func(instant string) (which []int) {
		for i, d := range made[:5] {
			if d.CreatedAt >= instant {
				which = append(which, i)
			}
		}
		return which
	}
	all := []int{0, 1, 2, 3, 4}
	day := at3(0)[:10]
	for query, want := range map[string][]int{
		"": all, "type=Any": all, "type=ANY": all, "type=document": {0, 4}, "type=OBSERVATION": {1}, "type=Wearable": {2}, "type=structured": {3},
		"active=all": {0, 1, 2, 3, 4, 5}, "active=false": {5}, "active=all&type=observation": {1, 5}, "active=False&type=document": {},
		"createdAfter=" + at3(2): since(at3(2)), "createdAfter=" + url.QueryEscape(after(made[2], 0)): since(at3(2)),
		"createdAfter=" + url.QueryEscape(after(made[4], time.Millisecond)): {}, "createdAfter=" + day: all, "createdAfter=2999-01-01": {},
		"createdAfter=1800-01-01": all,
		"filename=letter":         {0}, "filename=LETTER": {0}, "filename=letter&active=all": {0, 5}, "filename=scan": {0, 1}, "filename=SCAN_": {0},
		"filename=001.pdf": {0, 1},
		"filename=%25":     {1}, "filename=_": {0}, "filename=STRASSE": {2}, "filename=stra%C3%9Fe": {2}, "filename=%CE%BF%CE%B4%CE%BF%CF%82": {2},
		"filename=zo%C3%AB": {3}, "filename=" + url.QueryEscape("ZOE\u0308"): {3}, "filename=" + url.QueryEscape(`A\B'C"D`): {3}, "filename=": all,
		"filename=%20scan%20": {0, 1},
		"filename=letterscan": {}, "filename=letter%20scan": {}, "filename=.*": {}, "filename=%25%25": {}, "filename=sc_n": {},
		"type=any&createdAfter=" + day + "&filename=0&active=true": {0, 1}, "type=observation&filename=1000": {}, "unknown=1": all,
	} {
		ids := []string{}
		for _, i := range want {
			ids = append(ids, made[i].ID)
		}
		for _, list := range faces(at) {
			got, total := c.walk(list+"?size=2&"+query, nothing)
			if !slices.Equal(got, ids) || total != int64(len(ids)) {
				t.Errorf("%s?%s finds %d (of %d), want %v", list, query, len(got), total, want)
			}
		}
	}
}

func TestDocumentSearchRefuses(t *testing.T) {
	c := owner(t)
	at, _ := stored(c, ana())
	for query, want := range map[string]string{
		"type=letter": "type invalid_value", "type=": "type blank", "createdAfter=yesterday": "createdAfter invalid_date", "createdAfter=": "createdAfter invalid_date",
		"createdAfter=2026-02-30": "createdAfter invalid_date", "createdAfter=2026-01-01T00:00:00": "createdAfter invalid_date", "active=maybe": "active invalid_value",
		"filename=a%0Ab": "filename control_character", "filename=%00": "filename control_character", "filename=" + strings.Repeat("x", 501): "filename too_long",
		"filename=%FF": "filename invalid_text", "size=0": "size out_of_range", "size=501": "size out_of_range",
		"page=-1": "page out_of_range", "after=x": "after invalid_cursor",
		"after=eyJhIjoieCIsInAiOjF9": "after invalid_cursor",
	} {
		for _, list := range faces(at) {
			if got := c.get(list + "?" + query).faults(); !slices.Equal(got, []string{want}) {
				t.Errorf("%.60s: %v, want %s", query, got, want)
			}
		}
	}
	got := c.get(at + "/attach?type=x&createdAfter=x&filename=%00&active=x&page=x&size=x").faults()
	slices.Sort(got)
	want := []string{
		"active invalid_value", "createdAfter invalid_date", "filename control_character", "page out_of_range", "size out_of_range", "type invalid_value",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Who follows a list sees everybody once who was there at the start, whatever is added or deactivated meanwhile.
func TestDocumentPagesAreStable(t *testing.T) {
	c := owner(t)
	at, _ := stored(c, ana())
	var ids []string
	add := func() { ids = append(ids, c.attach(at, map[string]any{"title": fmt.Sprint("Page ", len(ids))}).ID) }
	for range 7 {
		add()
	}
	for _, list := range faces(at) {
		count := 0
		got, total := c.walk(list+"?size=3&filename=PAGE&type=any", func() {
			if count++; count <= 4 {
				add()
			}
		})
		if diff := cmp.Diff(ids, got); diff != "" || total != int64(len(ids)) {
			t.Errorf("%s, of %d: %s", list, total, diff)
		}
	}
	for _, list := range faces(at) {
		first := c.get(list + "?size=4").is(ok)
		next := nextOf(t, first)
		c.delete(at + "/attach/" + ids[3]).is(ok) // the one that the cursor names
		got, total := c.walk(next, nothing)
		if diff := cmp.Diff(ids[4:], got); diff != "" || total != int64(len(ids)-1) {
			t.Errorf("%s goes on, of %d: %s", list, total, diff)
		}
		if l := c.list(list + "?page=1&size=4"); len(l.Content) != 4 || l.Content[0]["id"] != ids[5] || l.Page != 1 || l.Size != 4 {
			t.Errorf("the second page: %v", l)
		}
		if l := c.list(list + "?page=99"); len(l.Content) != 0 || l.TotalElements != int64(len(ids)-1) {
			t.Errorf("a page past the end: %v", l)
		}
		ids = slices.Delete(ids, 3, 4)
	}
	if got := c.get(nextOf(t, c.get(at+"/attach?size=1").is(ok)) + "&page=0").faults(); !slices.Equal(got, []string{"after conflicting"}) {
		t.Errorf("after with page: %v", got)
	}
	elsewhere, _ := stored(c, ana())
	if got, _ := c.walk(strings.Replace(nextOf(t, c.get(at+"/attach?size=1")), at, elsewhere, 1), nothing); len(got) != 0 {
		t.Errorf("a cursor of another patient shows %v", got)
	}
}

// A page shows 16 MiB of payloads and no more, however many there are; what was left out is said to be.
func TestAPageOfLargePayloads(t *testing.T) {
	c := owner(t)
	at, _ := stored(c, ana())
	large := `{"payload":"` + strings.Repeat("x", 1<<20-2) + `"}` // with its quotes 1 MiB
	for range 17 {
		a, _ := c.ask(http.MethodPost, at+"/attach", large)
		a.is(ok)
	}
	small := c.attach(at, `{"payload":7}`)
	bare := c.attach(at, `{}`)
	for _, list := range faces(at) {
		a, _ := c.ask(http.MethodGet, list, nil)
		var l struct{ Content []document }
		a.is(ok).into(&l)
		if len(l.Content) != 19 || len(a.raw) > 17<<20 {
			t.Fatalf("%d documents in %d bytes", len(l.Content), len(a.raw))
		}
		for i, d := range l.Content {
			if omitted := i >= 16 && d.ID != bare.ID; d.PayloadOmitted != omitted || (d.Payload == nil) != (omitted || d.ID == bare.ID) {
				t.Errorf("document %d: omitted %v, %d bytes", i, d.PayloadOmitted, len(d.Payload))
			}
		}
		if strings.Contains(string(a.raw), `"payloadOmitted":false`) {
			t.Error("payloadOmitted is shown where nothing is omitted")
		}
	}
	var read document
	if c.get(small.at).is(ok).into(&read); string(read.Payload) != "7" || read.PayloadOmitted {
		t.Errorf("read singly: %s", read.Payload)
	}
}
