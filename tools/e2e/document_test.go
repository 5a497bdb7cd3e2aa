package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// document is one as both interfaces show it.
type document struct {
	ID, PatientID, Type, ContentType, Filename, Title, Size, SHA256, ContentURL, CreatedAt, UpdatedAt string
	HasContent, Active, PayloadOmitted                                                                bool
	Payload                                                                                           json.RawMessage
	at                                                                                                string // its path in v3
}

// of2 is the path in v2 of a document, or of a patient's documents, that have this one in v3.
func of2(path string) string { return in2(strings.Replace(path, "/attach", "/document", 1)) }

// attach gives a patient, named by its path in v3, a document.
func (c *client) attach(patient string, body any) document {
	c.t.Helper()
	var d document
	c.post(patient+"/attach", body).is(ok).into(&d)
	d.at = patient + "/attach/" + d.ID
	return d
}

// blank is a document about which nothing is said, of a new patient.
func (c *client) blank() document {
	c.t.Helper()
	patient, _ := stored(c, ana())
	return c.attach(patient, map[string]any{})
}

// letter is a body that gives everything.
func letter(kind string) map[string]any {
	return map[string]any{
		"type": kind, "contentType": "text/plain; charset=utf-8", "filename": "letter.txt", "title": "Discharge letter", "size": "48213",
		"payload": map[string]any{"seen": "yes", "beds": []any{1.0, 2.0}, "next": nil},
	}
}

// Made in the one interface, read and changed in the other, deactivated in the first, gone in both.
func TestADocumentLivesInBothInterfaces(t *testing.T) {
	for _, kind := range []string{"document", "observation", "wearable", "structured"} {
		t.Run(kind, func(t *testing.T) {
			c := owner(t)
			at, p := stored(c, ana())
			list := at + "/attach"
			made := c.post(of2(list), letter(strings.ToUpper(kind))).is(created)
			d := made.object()
			one := list + "/" + fmt.Sprint(d["id"])
			if made.header.Get("Location") != of2(one) || made.header.Get("Idempotent-Replayed") != "" {
				t.Errorf("made at %s", made.header.Get("Location"))
			}
			want := letter(kind)
			maps.Copy(want, map[string]any{
				"id": d["id"], "sha256": "", "hasContent": false, "active": true, "createdAt": d["createdAt"], "patientId": fmt.Sprint(p.ID),
				"contentUrl": of2(one) + "/content",
			})
			if diff := cmp.Diff(want, d); diff != "" {
				t.Error(diff)
			}
			if at, err := time.Parse("2006-01-02T15:04:05.000Z", fmt.Sprint(d["createdAt"])); err != nil || time.Since(at) > time.Minute {
				t.Error(d["createdAt"], err)
			}
			if second := c.get(of2(one)).is(ok); string(second.raw) != string(made.raw) || second.etag() != made.etag() {
				t.Errorf("v2 made %s and reads %s", made.raw, second.raw)
			}
			delete(want, "patientId")
			want["updatedAt"], want["contentUrl"] = d["createdAt"], one+"/content"
			third := c.get(one).is(ok)
			if diff := cmp.Diff(want, third.object()); diff != "" || third.etag() != made.etag() {
				t.Errorf("v3 reads otherwise: %s", diff)
			}
			if diff := cmp.Diff(childList{Content: []map[string]any{want}, Size: 50, TotalElements: 1}, c.list(list)); diff != "" {
				t.Errorf("v3 lists otherwise: %s", diff)
			}
			if diff := cmp.Diff(childList{Content: []map[string]any{d}, Size: 50, TotalElements: 1}, c.list(of2(list))); diff != "" {
				t.Errorf("v2 lists otherwise: %s", diff)
			}

			changed := c.with("If-Match", made.etag()).patch(one, map[string]any{"title": "Another", "payload": "text"}).is(ok)
			seen := c.get(of2(one)).is(ok)
			if changed.etag() == made.etag() || seen.etag() != changed.etag() || seen.object()["title"] != "Another" || seen.object()["payload"] != "text" {
				t.Errorf("changed to %s, seen as %s", changed.raw, seen.raw)
			}
			c.with("If-Match", made.etag()).delete(of2(one)).refused(http.StatusPreconditionFailed, "version_mismatch")
			c.with("If-Match", made.etag()).patch(one, map[string]any{}).refused(http.StatusPreconditionFailed, "version_mismatch")
			if c.with("If-Match", changed.etag()).delete(of2(one)).is(ok).object()["message"] == "" {
				t.Error("no message")
			}
			for _, a := range []answer{
				c.get(one), c.get(of2(one)), c.patch(one, map[string]any{}), c.delete(one), c.delete(of2(one)), c.get(one + "/content"), c.put(one+"/content", "x"),
			} {
				a.refused(missing, "document_not_found")
			}
			again := c.attach(at, map[string]any{"type": kind})
			c.with("If-Match", `"1"`).delete(again.at).is(ok)
			for query, count := range map[string]int{"": 0, "?active=true": 0, "?active=FALSE": 2, "?active=all": 2} {
				for _, l := range []childList{c.list(list + query), c.list(of2(list) + query)} {
					if len(l.Content) != count || l.TotalElements != int64(count) || count == 2 && (l.Content[0]["id"] != d["id"] || l.Content[1]["active"] != false) {
						t.Errorf("%q lists %v", query, l)
					}
				}
			}
		})
	}
}

func TestWhatADocumentIsByDefault(t *testing.T) {
	c := owner(t)
	at, _ := stored(c, ana())
	na := map[string]any{"contentType": "N/A", "filename": "n/a", "title": "n/a", "size": "n/a", "payload": "n/a"}
	null := map[string]any{"type": nil, "contentType": nil, "filename": nil, "title": nil, "size": nil, "payload": nil}
	for name, body := range map[string]map[string]any{"nothing": {}, "null": null, "n/a": na, "blank": {"contentType": "", "filename": " ", "title": "", "size": ""}} {
		got := c.post(at+"/attach", body).is(ok).object()
		for _, member := range []string{"id", "contentUrl", "createdAt", "updatedAt"} {
			delete(got, member)
		}
		want := map[string]any{
			"type": "document", "contentType": "application/pdf", "filename": "", "title": "", "size": "", "sha256": "", "hasContent": false, "active": true,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// payloads are JSON as nobody would write it twice: what comes back must be what went in, byte for byte.
func payloads() map[string]string {
	return map[string]string{
		"a string": `"120/80 mmHg"`, "an empty string": `""`, "escapes": `"\u0041\/\"\\\b\u00e9é\ud83d\ude00😀"`, "NUL in a string": `"a\u0000b"`,
		"numbers": `[120.50,-0,0,1E400,1e-400,12345678901234567890123,0.1000000000000000055511151231257827]`, "a number": `7`, "true": `true`, "false": `false`,
		"order and spaces": "{\"z\" : 1,\r\n\t\"a\":2 , \"\":3}", "the same name twice": `{"a":1,"a":2}`, "null within": `{"a":null,"b":[null]}`,
		"empty": `{}`, "an empty list": `[]`, "names that mean something": `{"__proto__":{"x":1},"payload":"n/a","id":"x","type":7}`, "not n/a": `" n/a "`,
		"100 deep":        strings.Repeat(`[`, 50) + strings.Repeat(`{"a":`, 50) + `1` + strings.Repeat(`}`, 50) + strings.Repeat(`]`, 50),
		"line separators": "\"a\u2028b\u2029<script>&'\"",
	}
}

func TestPayloadsAreKeptAsTheyCame(t *testing.T) {
	c := owner(t)
	at, _ := stored(c, ana())
	lists := map[string]string{}
	for name, payload := range payloads() {
		t.Run(name, func(t *testing.T) {
			c := owner(t)
			d := c.attach(at, `{"title":"first", "payload" : `+payload+` , "filename":"f"}`)
			lists[d.ID] = payload
			var second, third, patched document
			c.get(d.at).is(ok).into(&third)
			c.get(of2(d.at)).is(ok).into(&second)
			c.patch(d.at, `{"title":"second"}`).is(ok)
			c.patch(d.at, `{"payload":`+payload+`}`).is(ok).into(&patched)
			for which, got := range map[string]document{"made": d, "read in v2": second, "read in v3": third, "patched": patched} {
				if string(got.Payload) != payload {
					t.Errorf("%s: %s became %s", which, payload, got.Payload)
				}
			}
			if made := c.post(of2(at+"/attach"), `{"payload":`+payload+`}`).is(created); !strings.Contains(string(made.raw), `"payload":`+payload+`}`) {
				t.Errorf("v2 makes %s of %s", made.raw, payload)
			}
		})
	}
	for _, path := range []string{at + "/attach?filename=second", of2(at+"/attach") + "?filename=second"} {
		var l struct{ Content []document }
		c.get(path).is(ok).into(&l)
		for _, d := range l.Content {
			if string(d.Payload) != lists[d.ID] {
				t.Errorf("%s lists %s as %s", path, lists[d.ID], d.Payload)
			}
		}
		if len(l.Content) != len(lists) {
			t.Errorf("%s lists %d documents of %d", path, len(l.Content), len(lists))
		}
	}
}

func TestPayloadsThatAreTooMuch(t *testing.T) {
	const most = 1 << 20
	c := owner(t)
	at, _ := stored(c, ana())
	d := c.attach(at, `{"payload":"kept"}`)
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	type refusal struct {
		status int
		code   string
	}
	tooLarge, tooDeep, noJSON := refusal{http.StatusRequestEntityTooLarge, "payload_too_large"}, refusal{bad, "invalid_request"}, refusal{bad, "malformed_json"}
	for name, test := range map[string]struct {
		payload string
		want    refusal
	}{
		"a string of the limit":        {`"` + strings.Repeat("x", most) + `"`, refusal{}},
		"one over":                     {`"` + strings.Repeat("x", most+1) + `"`, tooLarge},
		"escapes of the limit":         {`"` + strings.Repeat(`\u0041`, most) + `"`, refusal{}},
		"escapes, one over":            {`"` + strings.Repeat(`\u0041`, most+1) + `"`, tooLarge},
		"characters of two bytes":      {`"` + strings.Repeat("é", most/2) + `"`, refusal{}},
		"characters of two bytes over": {`"` + strings.Repeat("é", most/2) + `x"`, tooLarge},
		"JSON of the limit":            {`[` + strings.Repeat(" ", most-2) + `]`, refusal{}},
		"JSON, one over":               {`[` + strings.Repeat(" ", most-1) + `]`, tooLarge},
		"over in every way":            {`["` + strings.Repeat("x", most) + `",` + deep(101) + `]`, tooLarge},
		"101 deep":                     {deep(101), tooDeep},
		"5000 deep":                    {deep(5000), tooDeep},
		"a million deep":               {deep(1_000_000), noJSON},
		"a million objects deep":       {strings.Repeat(`{"a":`, 1_000_000) + "1" + strings.Repeat("}", 1_000_000), noJSON},
		"many small values":            {`[` + strings.Repeat("0,", most/2-2) + `0]`, refusal{}},
		"many names":                   {`{` + strings.Repeat(`"":0,`, most/5-1) + `"":0}`, refusal{}},
		"a lone surrogate":             {`"\ud800"`, noJSON},
		"no UTF-8":                     {"\"\xff\"", noJSON},
		"unfinished":                   {`[1,2`, noJSON},
	} {
		t.Run(name, func(t *testing.T) {
			c := owner(t)
			body := `{"payload":` + test.payload + `}`
			third, _ := c.ask(http.MethodPost, at+"/attach", body)
			second, _ := c.ask(http.MethodPost, of2(at+"/attach"), body)
			changed, _ := c.ask(http.MethodPatch, d.at, body)
			answers := []answer{third, second, changed}
			for i, a := range answers {
				if test.want.status == 0 {
					a.is([]int{ok, created, ok}[i])
				} else {
					a.refused(test.want.status, test.want.code)
				}
				if len(a.raw) > 4096 && a.status >= bad {
					t.Errorf("a refusal of %d bytes", len(a.raw))
				}
			}
			if test.want == tooDeep {
				if got := answers[0].faults(); !slices.Equal(got, []string{"payload too_deep"}) {
					t.Error(got)
				}
			}
		})
	}
}

func TestDocumentsTellAllFaultsAtOnce(t *testing.T) {
	c := owner(t).with("Idempotency-Key", strings.Repeat("k", 256))
	at, _ := stored(owner(t), ana())
	wrong := map[string]any{
		"type": "letter", "contentType": "pdf", "filename": 7, "title": strings.Repeat("x", 501), "size": "-1",
		"payload": json.RawMessage(strings.Repeat("[", 101) + strings.Repeat("]", 101)),
	}
	want := []string{"contentType invalid_value", "filename invalid_type", "payload too_deep", "size invalid_size", "title too_long", "type invalid_value"}
	for _, a := range []answer{c.post(at+"/attach", wrong), c.post(of2(at+"/attach"), wrong), owner(t).patch(at+"/attach/x", wrong)} {
		got := a.faults()
		slices.Sort(got)
		if got = slices.DeleteFunc(got, func(f string) bool { return f == "Idempotency-Key invalid_key" }); !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
		if strings.Contains(string(a.raw), "pdf,") || strings.Contains(string(a.raw), "letter") {
			t.Errorf("the answer repeats what was sent: %s", a.raw)
		}
	}
	if got := c.post(at+"/attach", map[string]any{}).faults(); !slices.Equal(got, []string{"Idempotency-Key invalid_key"}) {
		t.Error(got)
	}
}

func TestMembersOfADocument(t *testing.T) {
	c := owner(t)
	at, _ := stored(c, ana())
	d := c.attach(at, map[string]any{})
	for _, test := range []struct {
		name string
		give any
		want string // what is shown; with a leading ! the fault
	}{
		{"type", "Wearable", "wearable"},
		{"type", "any", "!invalid_value"},
		{"type", "n/a", "!blank"},
		{"type", " ", "!blank"},
		{"type", 7, "!invalid_type"},
		{"contentType", "image/PNG", "image/PNG"},
		{"contentType", "text/plain; charset=utf-8; x=\"a;b\"", "text/plain; charset=utf-8; x=\"a;b\""},
		{"contentType", "pdf", "!invalid_value"},
		{"contentType", "text/", "!invalid_value"},
		{"contentType", "/plain", "!invalid_value"},
		{"contentType", "text/plain, text/html", "!invalid_value"},
		{"contentType", "a b/c", "!invalid_value"},
		{"contentType", "text/plain; x=\"\u00e9\"", "!invalid_value"},
		{"contentType", "text/plain\r\nX-Injected: 1", "!control_character"},
		{"contentType", "text/" + strings.Repeat("x", 500), "!too_long"},
		{"filename", "../../etc/passwd", "../../etc/passwd"},
		{"filename", "  Zoe\u0308 \u674e.pdf ", "Zo\u00eb \u674e.pdf"},
		{"filename", "a\r\nSet-Cookie: x=1", "!control_character"},
		{"filename", "a\x00.pdf", "!control_character"},
		{"filename", "a\x7fb", "!control_character"},
		{"filename", strings.Repeat("\u00e9", 500), strings.Repeat("\u00e9", 500)},
		{"filename", strings.Repeat("\u00e9", 501), "!too_long"},
		{"title", "a\nb", "!control_character"},
		{"title", []any{}, "!invalid_type"},
		{"size", "0", "0"},
		{"size", "9007199254740992", "9007199254740992"},
		{"size", "9007199254740993", "!invalid_size"},
		{"size", "99999999999999999999999", "!invalid_size"},
		{"size", "-0", "!invalid_size"},
		{"size", "+5", "!invalid_size"},
		{"size", "0x10", "!invalid_size"},
		{"size", "1_000", "!invalid_size"},
		{"size", "1.0", "!invalid_size"},
		{"size", "5 MB", "!invalid_size"},
		{"size", 5, "!invalid_type"},
	} {
		body := map[string]any{test.name: test.give}
		for _, a := range []answer{c.post(at+"/attach", body), c.post(of2(at+"/attach"), body), c.patch(d.at, body)} {
			if code, refused := strings.CutPrefix(test.want, "!"); refused {
				if got := a.faults(); !slices.Equal(got, []string{test.name + " " + code}) {
					t.Errorf("%s %.40q: %v, want %s", test.name, test.give, got, code)
				}
			} else if got := a.object()[test.name]; got != test.want {
				t.Errorf("%s %.40q became %.40q", test.name, test.give, got)
			}
		}
	}
}

func TestAChangedDocument(t *testing.T) {
	c := owner(t)
	at, _ := stored(c, ana())
	made := c.post(at+"/attach", letter("observation")).is(ok)
	before := made.object()
	one := at + "/attach/" + fmt.Sprint(before["id"])
	for _, body := range []string{`{}`, `{"type":null,"contentType":null,"filename":null,"title":null,"size":null,"payload":null}`, string(made.raw)} {
		if a := c.patch(one, body).is(ok); string(a.raw) != string(made.raw) || a.etag() != made.etag() {
			t.Errorf("%s made %s of %s", body, a.raw, made.raw)
		}
	}
	after := c.patch(one, map[string]any{"contentType": "n/a", "filename": "N/A", "title": "n/a", "size": "n/a", "payload": "n/a"}).is(ok).object()
	want := maps.Clone(before)
	maps.Copy(want, map[string]any{"contentType": "application/pdf", "filename": "", "title": "", "size": "", "updatedAt": after["updatedAt"]})
	delete(want, "payload")
	if diff := cmp.Diff(want, after); diff != "" || fmt.Sprint(after["updatedAt"]) < fmt.Sprint(before["updatedAt"]) {
		t.Errorf("cleared: %s", diff)
	}
	full := c.patch(one, letter("structured")).is(ok).object()
	if full["type"] != "structured" || full["size"] != "48213" || full["createdAt"] != before["createdAt"] || full["active"] != true {
		t.Errorf("%v", full)
	}
	for _, member := range []string{"id", "patientId", "sha256", "hasContent", "active", "createdAt", "contentUrl"} { // what only the service says is not heard
		c.patch(one, map[string]any{member: "true"}).is(ok)
	}
	if got := c.get(one).is(ok).object(); !cmp.Equal(full, got) {
		t.Error(cmp.Diff(full, got))
	}
}

func TestChangesOfADocumentAtTheSameTimeAllHappen(t *testing.T) {
	c := owner(t)
	d := c.blank()
	const writers = 16
	var all sync.WaitGroup
	change := func(send func() answer) {
		all.Go(func() {
			if a := send(); a.status != ok {
				t.Errorf("answered %d: %s", a.status, a.raw)
			}
		})
	}
	for i := range writers {
		change(func() answer { return c.patch(d.at, map[string]any{"title": fmt.Sprint("T", i)}) })
	}
	change(func() answer { return c.put(d.at+"/content", "bytes") })
	all.Wait()
	if got := c.get(d.at).is(ok); got.etag() != fmt.Sprintf("%q", fmt.Sprint(writers+2)) || got.object()["hasContent"] != true {
		t.Errorf("version %s after %d changes and an upload: %s", got.etag(), writers, got.raw)
	}
}

func TestDocumentsUnderAKey(t *testing.T) {
	c := owner(t)
	at, _ := stored(c, ana())
	list := at + "/attach"
	for _, target := range []string{list, of2(list)} {
		k := key(t)
		keyed := c.with("Idempotency-Key", k)
		first := keyed.post(target, letter("wearable"))
		id := fmt.Sprint(first.object()["id"])
		c.patch(list+"/"+id, map[string]any{"title": "changed since", "size": "5"}).is(ok)
		c.put(list+"/"+id+"/content", "bytes").is(ok)
		again := keyed.post(target, letter("wearable")).is(first.status)
		if string(again.raw) != string(first.raw) || again.header.Get("Location") != first.header.Get("Location") || again.etag() != first.etag() {
			t.Errorf("the repeat got %s, the first %s", again.raw, first.raw)
		}
		if first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" {
			t.Error("Idempotent-Replayed must stand on the repeat alone")
		}
		elsewhere, _ := stored(c, ana())
		for _, a := range []answer{
			keyed.post(target, letter("document")), keyed.post(elsewhere+"/attach", letter("wearable")),
			keyed.post(map[string]string{list: of2(list), of2(list): list}[target], letter("wearable")),
		} {
			a.refused(http.StatusUnprocessableEntity, "idempotency_key_reused")
		}
		keyed.post(target, `{"size":"x"}`).is(bad)
		theirs, _ := stored(other(t), ana())
		other(t).with("Idempotency-Key", k).post(theirs+"/attach", letter("wearable")).is(ok)
		c.delete(list + "/" + id).is(ok)
		keyed.post(target, letter("wearable")).is(first.status)
	}
	if n := c.list(list + "?active=all").TotalElements; n != 2 {
		t.Errorf("%d were made by two", n)
	}
	keyed := c.with("Idempotency-Key", key(t))
	for _, a := range together(12, func() answer { return keyed.post(list, letter("document")) }) {
		if a.status != ok && a.status != http.StatusConflict {
			t.Errorf("answered %d: %s", a.status, a.raw)
		}
	}
	if n := c.list(list).TotalElements; n != 1 {
		t.Errorf("%d were made under one key", n)
	}
	refused := c.with("Idempotency-Key", key(t))
	refused.post(list, map[string]any{"size": "x"}).is(bad)
	refused.post(list, map[string]any{"size": "7"}).is(ok)
}
