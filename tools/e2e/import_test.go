package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	importPath = "/v3/patient/import"
	linesType  = "application/x-ndjson"
)

// outcome is one line of an import's answer.
type outcome struct {
	Line    int64
	Ref     *string
	ID      int64
	Problem *problem
	Created *int
	Failed  *int
}

// total is the last line of an answer that is whole.
func (o outcome) total() string {
	if o.Created == nil || o.Failed == nil {
		return "none"
	}
	return fmt.Sprintf("%d created, %d failed", *o.Created, *o.Failed)
}

func outcomes(t *testing.T, raw []byte) (list []outcome) {
	t.Helper()
	for line := range bytes.Lines(raw) {
		var o outcome
		if err := json.Unmarshal(line, &o); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		list = append(list, o)
	}
	if len(list) == 0 {
		t.Fatal("an empty answer")
	}
	return list
}

// importing is the client whose bodies are lines.
func (c *client) importing() *client { return c.with("Content-Type", linesType) }

// imports sends lines, and gives what became of them: the totals last.
func (c *client) imports(body string) []outcome {
	c.t.Helper()
	a := c.importing().post(importPath, body).is(ok)
	if a.header.Get("Content-Type") != linesType || a.header.Get("Cache-Control") != "no-store" || a.header.Get("X-Content-Type-Options") != "nosniff" {
		c.t.Errorf("%v", a.header)
	}
	return outcomes(c.t, a.raw)
}

// line is a patient as a line of an import.
func line(changes map[string]any) string {
	raw, err := json.Marshal(but(changes))
	if err != nil {
		panic(err)
	}
	return string(raw) + "\n"
}

// people is lines of so many, whose last names are numbered after a name.
func people(name string, first, last int) string {
	var b strings.Builder
	for n := first; n <= last; n++ {
		b.WriteString(line(map[string]any{"lastName": fmt.Sprintf("%s %d", name, n), "ref": fmt.Sprint(n)}))
	}
	return b.String()
}

// everyone is the last names of all patients, each as often as it occurs.
func everyone(c *client) map[string]int {
	c.t.Helper()
	names, count := map[string]int{}, 0
	for at := patients + "?size=500"; at != ""; {
		var list struct {
			Content       []shown
			TotalElements int
		}
		a := c.get(at).is(ok)
		a.into(&list)
		for _, p := range list.Content {
			names[p.LastName]++
			count++
		}
		if at = ""; a.header.Get("Link") != "" {
			at = nextOf(c.t, a)
		} else if count != list.TotalElements {
			c.t.Errorf("%d patients are listed of %d", count, list.TotalElements)
		}
	}
	return names
}

func TestImport(t *testing.T) {
	c := newTenant(t)
	whole := map[string]any{
		"ref": " MRN/7 é ", "addresses": []any{children()["address"]}, "contacts": []any{children()["contact"], map[string]any{"system": "email", "value": "ana@lima.example"}},
		"aliases": []any{children()["alias"]}, "identifiers": []any{children()["identifier"]}, "unknown": 1,
	}
	body := line(whole) + "\n" + line(map[string]any{"last4Ssn": secretly("123456789"), "ref": "bad", "contacts": []any{map[string]any{"value": "x"}}}) +
		`{"firstName":` + "\r\n" + line(map[string]any{"lastName": "Without a ref"}) + strings.TrimSuffix(line(map[string]any{"ref": "last"}), "\n")
	got := c.imports(body)
	if len(got) != 6 || got[5].total() != "3 created, 2 failed" {
		t.Fatalf("%+v", got)
	}
	if o := got[0]; o.Line != 1 || *o.Ref != " MRN/7 é " || o.ID == 0 || o.Problem != nil {
		t.Errorf("%+v", o)
	}
	if o := got[1]; o.Line != 3 || *o.Ref != "bad" || o.Problem.Status != bad || len(o.Problem.Errors) != 2 || o.Problem.Errors[0].Field != "last4Ssn" || o.Problem.Errors[1].Field != "contacts[0].value" {
		t.Errorf("%+v, %+v", o, o.Problem)
	}
	if o := got[2]; o.Line != 4 || o.Ref != nil || o.Problem.Code != "malformed_json" || o.Problem.Type == "" || o.Problem.Title == "" || o.Problem.Detail == "" {
		t.Errorf("%+v, %+v", o, o.Problem)
	}
	if got[3].Line != 5 || got[3].Ref != nil || got[4].Line != 6 || *got[4].Ref != "last" || got[4].ID == got[3].ID {
		t.Errorf("%+v", got[3:])
	}

	// The imported is as the created, in both interfaces.
	single, _ := stored(c, ana())
	for kind, child := range children() {
		c.post(single+"/"+kind, child).is(ok)
		if kind == "contact" {
			c.post(single+"/"+kind, map[string]any{"system": "email", "value": "ana@lima.example"}).is(ok)
		}
	}
	if diff := cmp.Diff(bare(c, in2(single)), bare(c, in2(path(got[0].ID)))); diff != "" {
		t.Error(diff)
	}
	if etag := c.get(path(got[0].ID)).is(ok).etag(); etag != `"1"` {
		t.Error(etag)
	}
	var history struct {
		Content []struct {
			Change string
			Fields []string
		}
	}
	c.get(path(got[0].ID) + "/history").is(ok).into(&history)
	if len(history.Content) != 1 || history.Content[0].Change != "created" || len(history.Content[0].Fields) < 5 {
		t.Errorf("%+v", history)
	}
	for _, o := range []outcome{got[0], got[3]} {
		var found []string
		eventually(t, 10*time.Second, func() bool {
			found = told(recordsAt(c, fmt.Sprintf("%s?patientId=%d&action=patient.create", trail, o.ID)))
			return len(found) > 0
		})
		if !cmp.Equal(found, []string{"patient.create success"}) {
			t.Error(found)
		}
	}
	c.patch(path(got[0].ID), map[string]any{"middleName": "M"}).is(ok)
	c.delete(path(got[3].ID)).is(ok)
	if names := everyone(c); len(names) != 1 || names["Lima"] != 3 {
		t.Error(names)
	}
	other(t).get(path(got[0].ID)).is(missing)
	if got := c.imports(""); got[0].total() != "0 created, 0 failed" {
		t.Error(got)
	}
}

// bare is a record without what no two have alike.
func bare(c *client, at string) any {
	c.t.Helper()
	record := c.get(at).is(ok).object()
	var strip func(v any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, own := range []string{"id", "patientId", "createdAt", "updatedAt"} {
				delete(v, own)
			}
			for _, inner := range v {
				strip(inner)
			}
		case []any:
			for _, inner := range v {
				strip(inner)
			}
		}
	}
	strip(record)
	return record
}

// streamed is an exchange both of whose directions are open.
type streamed struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader // of the answer's body
}

// begins an import on a connection of its own with the first of its body, and waits for the answer's head.
func (c *client) begins(framing, first string) *streamed {
	c.t.Helper()
	w := c.importing().dial().ask(http.MethodPost, importPath, framing, first)
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.base+importPath, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	resp, err := http.ReadResponse(w.in, req)
	if err != nil || resp.StatusCode != ok || resp.Header.Get("Content-Type") != linesType {
		c.t.Fatalf("%+v, %v", resp, err)
	}
	return &streamed{t: c.t, conn: w.conn, in: bufio.NewReader(resp.Body)}
}

// hears the next line.
func (s *streamed) hears() outcome {
	s.t.Helper()
	text, err := s.in.ReadBytes('\n')
	if err != nil {
		s.t.Fatalf("%q, %v", text, err)
	}
	return outcomes(s.t, text)[0]
}

// Both directions are open at once: the head is there before the first line is sent, and each line is answered before the next
// one is.
func TestAnImportIsAnsweredWhileItComes(t *testing.T) {
	c := newTenant(t)
	const number = 5
	s := c.begins(chunked, "")
	for n := range number {
		if _, err := io.WriteString(s.conn, chunk([]byte(people("Reis", n, n)))); err != nil {
			t.Fatal(err)
		}
		if o := s.hears(); o.Line != int64(n+1) || *o.Ref != fmt.Sprint(n) || o.ID == 0 {
			t.Errorf("%+v", o)
		}
	}
	_, _ = io.WriteString(s.conn, "0\r\n\r\n")
	if o := s.hears(); o.total() != fmt.Sprintf("%d created, 0 failed", number) {
		t.Errorf("%+v", o)
	}
	if rest, err := io.ReadAll(s.in); err != nil || len(rest) > 0 {
		t.Errorf("then %q, %v", rest, err)
	}
}

// So it is where the length is told beforehand, once some KiB have come.
func TestAnImportOfKnownLengthIsAnsweredWhileItComes(t *testing.T) {
	c := newTenant(t)
	const number = 2000
	body := people("Reis", 1, number)
	half := len(body) / 2
	s := c.begins(measured+fmt.Sprint(len(body)), body[:half])
	s.hears()
	if _, err := io.WriteString(s.conn, body[half:]); err != nil {
		t.Fatal(err)
	}
	for n := range number - 1 {
		if o := s.hears(); o.Line != int64(n+2) || o.ID == 0 {
			t.Fatalf("%+v", o)
		}
	}
	if o := s.hears(); o.total() != fmt.Sprintf("%d created, 0 failed", number) {
		t.Errorf("%+v", o)
	}
}

func TestImportsAreRefused(t *testing.T) {
	c := newTenant(t)
	good := line(nil)
	reader := as(t, clerkKey(t, c))
	once := c.with("Idempotency-Key", key(t))
	once.post(patients, ana()).is(ok)
	for name, test := range map[string]struct {
		c      *client
		media  string
		status int
		code   string
	}{
		"nobody":                {anyone(t), linesType, http.StatusUnauthorized, "unauthenticated"},
		"who may only read":     {reader, "text/csv", http.StatusForbidden, "permission_denied"},
		"JSON":                  {c, "application/json", http.StatusUnsupportedMediaType, "unsupported_media_type"},
		"another charset":       {c, linesType + "; charset=latin1", http.StatusUnsupportedMediaType, "unsupported_media_type"},
		"compressed":            {c.with("Content-Encoding", "gzip"), linesType, http.StatusUnsupportedMediaType, "unsupported_encoding"},
		"a key that is none":    {c.with("Idempotency-Key", "é"), linesType, bad, "invalid_request"},
		"a key of a create":     {once, linesType, http.StatusUnprocessableEntity, "idempotency_key_reused"},
		"over the limit by far": {c.with("Content-Length", "x"), linesType, bad, "malformed_request"},
	} {
		if name == "over the limit by far" {
			w := c.importing().dial().ask(http.MethodPost, importPath, measured+"17179869185", good)
			w.hears(http.MethodPost, importPath).refused(http.StatusRequestEntityTooLarge, "content_too_large")
			continue
		}
		test.c.t = t
		test.c.with("Content-Type", test.media).post(importPath, good).refused(test.status, test.code)
	}
	a := c.get(importPath)
	if a.status != http.StatusMethodNotAllowed && a.status != missing {
		t.Errorf("read: %d", a.status)
	}
	used := key(t)
	c.with("Idempotency-Key", used).imports(good)
	c.with("Idempotency-Key", used).post(patients, ana()).refused(http.StatusUnprocessableEntity, "idempotency_key_reused")
	if names := everyone(c); names["Lima"] != 2 {
		t.Error(names)
	}
}

// Under a key lines that were stored answer their ids again; what is new or other is dealt with as such.
func TestAnImportIsRepeated(t *testing.T) {
	c := newTenant(t)
	name := key(t)
	once := c.with("Idempotency-Key", name)
	body := people("Reis", 1, 1500)
	first := once.imports(body)
	if first[1500].total() != "1500 created, 0 failed" {
		t.Fatal(first[1500].total())
	}
	if diff := cmp.Diff(first, once.imports(body)); diff != "" {
		t.Error(diff)
	}
	changed := strings.Replace(body, "Reis 7\"", "Rocha 7\"", 1) + people("Reis", 1501, 1502)
	again := once.imports(changed)
	if o := again[6]; o.Line != 7 || o.ID != 0 || o.Problem.Status != http.StatusUnprocessableEntity || o.Problem.Code != "idempotency_key_reused" {
		t.Errorf("%+v", o)
	}
	if again[1502].total() != "1501 created, 1 failed" || again[7].ID != first[7].ID || again[1500].ID == 0 {
		t.Errorf("%s", again[1502].total())
	}
	for who, names := range map[*client]int{c: 1502, newTenant(t).with("Idempotency-Key", name): 2} {
		if who != c {
			who.imports(people("Reis", 1, 2))
		}
		if all := everyone(who); len(all) != names || all["Reis 7"]+all["Reis 2"] < 1 || all["Rocha 7"] != 0 {
			t.Errorf("%d names", len(all))
		}
	}

	s := once.begins(chunked, chunk([]byte(people("Reis", 1, 1))))
	s.hears()
	once.importing().post(importPath, body).refused(http.StatusConflict, "idempotency_key_in_use")
	_, _ = io.WriteString(s.conn, "0\r\n\r\n")
	if o := s.hears(); o.total() != "1 created, 0 failed" {
		t.Errorf("%+v", o)
	}
	once.imports(body) // at once
}

// An import that breaks off leaves what was answered, some whole lines more at most, and never the line that was under way. It
// is repeated as if it had been whole.
func TestImportsThatBreakOff(t *testing.T) {
	endings := map[string]func(*net.TCPConn){
		"ends":   func(conn *net.TCPConn) { _ = conn.CloseWrite() },
		"closes": func(conn *net.TCPConn) { _ = conn.Close() },
		"resets": func(conn *net.TCPConn) { _ = conn.SetLinger(0); _ = conn.Close() },
	}
	const number = 2500
	body := people("Reis", 1, number)
	for name, end := range endings {
		for _, sent := range []int{len(body) / 3, len(body) - 10} {
			for _, framing := range []string{chunked, measured + fmt.Sprint(len(body))} {
				c := newTenant(t)
				once := c.with("Idempotency-Key", key(t))
				part := body[:sent]
				if framing == chunked {
					part = chunk([]byte(part[:sent/2])) + chunk([]byte(part[sent/2:]))
				}
				s := once.begins(framing, part)
				first := s.hears()
				end(s.conn.(*net.TCPConn))
				rest, _ := io.ReadAll(s.in) // which may have been cut off
				if bytes.Contains(rest, []byte(`"created"`)) {
					t.Errorf("%s: taken for whole", name)
				}
				var again []outcome
				eventually(t, 20*time.Second, func() bool { // once the first has been given up
					a := once.importing().post(importPath, body)
					if a.status == ok {
						again = outcomes(t, a.raw)
						return true
					}
					a.refused(http.StatusConflict, "idempotency_key_in_use")
					return false
				})
				if again[number].total() != fmt.Sprintf("%d created, 0 failed", number) || again[0].ID != first.ID {
					t.Errorf("%s: %s", name, again[number].total())
				}
				if names := everyone(c); len(names) != number || names["Reis 1"] != 1 || names[fmt.Sprintf("Reis %d", number)] != 1 {
					t.Errorf("%s: %d names", name, len(names))
				}
			}
		}
	}
}

// The plan's limit is met exactly, however many import and create at once.
func TestImportsEndAtAThousandPatientsOnTheFreePlan(t *testing.T) {
	c := tenantOn(t, "free")
	got := c.imports(people("Reis", 1, 900))
	if got[900].total() != "900 created, 0 failed" {
		t.Fatal(got[900].total())
	}
	var mu sync.Mutex
	made := 900
	var all sync.WaitGroup
	for worker := range 3 {
		all.Go(func() {
			got := c.imports(people(fmt.Sprint("Lima ", worker), 1, 60))
			mu.Lock()
			made += *got[60].Created
			mu.Unlock()
			full := false
			for _, o := range got[:60] {
				if full = full || o.Problem != nil; o.Problem != nil && (o.Problem.Status != http.StatusPaymentRequired || o.Problem.Code != "plan_limit_reached") || full && o.ID != 0 {
					t.Errorf("%+v", o)
				}
			}
		})
	}
	all.Go(func() {
		for range 10 {
			if a := c.post(patients, ana()); a.status == ok {
				mu.Lock()
				made++
				mu.Unlock()
			} else {
				a.refused(http.StatusPaymentRequired, "plan_limit_reached")
			}
		}
	})
	all.Wait()
	names, total := everyone(c), 0
	for _, n := range names {
		total += n
	}
	if total != 1000 || made != 1000 {
		t.Errorf("%d patients, %d were told", total, made)
	}
	if refused := told(recordsAt(c, trail+"?action=patient.create&size=500")); !strings.Contains(strings.Join(refused, ","), "patient.create failure") {
		eventually(t, 10*time.Second, func() bool {
			return strings.Contains(strings.Join(told(recordsAt(c, trail+"?action=patient.create&size=500")), ","), "patient.create failure")
		})
	}
}
