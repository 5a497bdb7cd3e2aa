package e2e

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// marks are values that cannot stand anywhere by chance.
var marks = []string{
	"Qxzfirst", "Qxzlast", "Qxzmiddle", "Qxzidentity", "Qxzlanguage", "Qxznote", "1913-07-23", "8361", "Qxzbad", "Qxzquery", "Qxzkey", "Qxzchild",
	"Qxzfind", "Qxzdocument", "Qxzcontent", "Qxztitle", "Qxzfile", "Qxzpayload", "Qxzbytes", "Qxztype",
}

// TestNothingEmittedHoldsAPatientsData sends marked values the good way and every bad way, and searches all that the
// mesh wrote or sent: logs, traces, metrics, and what it answers.
func TestNothingEmittedHoldsAPatientsData(t *testing.T) {
	inside(t)
	c := owner(t)
	body := map[string]any{
		"firstName": "Qxzfirst", "lastName": "Qxzlast", "middleName": "Qxzmiddle", "dob": "1913-07-23", "genderIdentity": "Qxzidentity",
		"preferredLanguage": "Qxzlanguage", "last4Ssn": "8361",
	}
	at, _ := stored(c.with("Idempotency-Key", key(t)+"Qxzkey"), body)
	c.patch(at, map[string]any{"middleName": "Qxzmiddle2"}).is(ok)
	c.put(at+"/deceased", map[string]any{"note": "Qxznote", "deceasedDate": "1913-07-23"}).is(ok)
	var ones []string
	for kind, child := range markedChildren() {
		ones = append(ones, at+"/"+kind+"/"+fmt.Sprint(c.post(at+"/"+kind, child).is(ok).object()["id"]))
		c.post(in2(at)+"/"+kind, map[string]any{"value": "Qxzbad", "line1": "Qxzbad", "use": "Qxzbad", "type": "Qxzbad", "active_from": "Qxzbad"}).is(bad)
		c.get(in2(at) + "/" + kind + "?active=Qxzquery&after=Qxzquery").is(bad)
		c.get(at + "/" + kind + "/Qxzquery").is(missing)
		c.get(in2(at) + "/" + kind).is(ok)
	}
	document := in2(at) + "/document/" + fmt.Sprint(c.post(in2(at)+"/document", map[string]any{
		"title": "Qxzdocument", "filename": "Qxzdocument.txt", "contentType": "text/Qxzdocument", "payload": map[string]any{"Qxzdocument": "Qxzdocument"},
	}).is(http.StatusCreated).object()["id"])
	c.put(document+"/content", "Qxzcontent").is(ok)
	for _, shown := range []string{document, document + "/content", in2(at), in2(at) + "?view=page", in2(at) + "?view=manifest", in2(at) + "/document?filename=Qxzquery"} {
		c.get(shown).is(ok)
	}
	refused := []answer{
		c.get(in2(at) + "?view=Qxzquery&partial=Qxzquery&size=Qxzquery"),
		c.get(in2(at) + "/document?type=Qxzquery&createdAfter=Qxzquery"),
		c.post(in2(at)+"/document", map[string]any{"title": 7, "type": "Qxzbad", "contentType": "Qxzbad", "size": "Qxzbad"}),
		c.with("Content-Digest", "sha-256=:Qxzbad:").put(document+"/content", "Qxzbad"),
		c.put(document+"/content", "Qxzbad"),
		c.patch(ones[0], map[string]any{"type": 7, "use": "Qxzbad", "effectiveTo": "Qxzbad", "activeFrom": "Qxzbad", "line1": "n/a"}),
		c.post("/v2/patient", map[string]any{"firstName": "Qxzbad\u0000", "sex_at_birth": "Qxzbad", "prefix": 7}),
		c.post(patients, map[string]any{"firstName": "Qxzbad\u0000", "dob": "Qxzbad", "gender": "Qxzbad", "last4Ssn": "Qxzbad"}),
		c.post(patients, `{"firstName":"Qxzbad","firstName":"Qxzbad"}`),
		c.post(patients, `{"Qxzbad`),
		c.patch(at, map[string]any{"lastName": "n/a", "middleName": "Qxzbad", "gender": "Qxzbad"}),
		c.with("If-Match", `"Qxzbad"`).patch(at, map[string]any{"middleName": "Qxzbad"}),
		c.get(patients + "?after=Qxzquery&firstName=Qxzquery&page=Qxzquery"),
		c.get("/v3/patient/Qxzquery"),
		c.get("/v3/Qxzquery/find?lastName=Qxzquery"),
		c.do("QXZBAD", patients, nil),
		anyone(t).with("Authorization", "Bearer Qxzbad").get(patients),
		anyone(t).with("Content-Type", "application/x-www-form-urlencoded").post("/oauth2/token", "grant_type=Qxzbad&scope=Qxzbad"),
	}
	refused = append(refused, markedDocuments(c, at)...)
	refused = append(refused, markedFinds(c)...)
	for _, a := range refused {
		if a.status < 400 || a.status >= 500 {
			t.Errorf("answered %d", a.status)
		}
		if bytes.Contains(a.raw, []byte("Qxz")) {
			t.Errorf("the answer repeats what was sent: %s", a.raw)
		}
	}
	if told := c.get(trail + "?size=500&patientId=" + at[len(patients)+1:]).is(ok); bytes.Contains(told.raw, []byte("Qxz")) {
		t.Errorf("the trail repeats what was sent: %s", told.raw)
	}
	last := c.get(at).is(ok).header.Get("Trace-Id")
	id, err := hex.DecodeString(last)
	if err != nil || len(id) != 16 {
		t.Fatalf("Trace-Id %q", last)
	}
	eventually(t, 20*time.Second, func() bool { return emitted.contains("/v1/traces", id) })
	eventually(t, 20*time.Second, func() bool { return emitted.contains("/v1/metrics", []byte("http.server.request.duration")) })

	for _, mark := range marks {
		// A number stands in the middle of others by chance.
		found := regexp.MustCompile(`(?:^|\W)` + mark + map[bool]string{true: `(?:\W|$)`}[mark == "8361"])
		for _, where := range []string{"/v1/traces", "/v1/metrics", "/v1/logs"} {
			if emitted.matches(where, mark, found) {
				t.Errorf("%q went out by %s", mark, where)
			}
		}
		for name, text := range logs(t) {
			if near(text, mark, found) {
				t.Errorf("%q stands in %s", mark, name)
			}
		}
		for _, service := range []string{"identity", "tenant", "patient", "attachment", "matching"} {
			if near([]byte(scrape(t, service)), mark, found) {
				t.Errorf("%q stands in the metrics of %s", mark, service)
			}
		}
	}
}

// markedChildren is a child of each kind whose texts are marked.
func markedChildren() map[string]map[string]any {
	return map[string]map[string]any{
		"address":    {"line1": "Qxzchild", "line2": "Qxzchild", "city": "Qxzchild", "state": "Qxzchild", "postalCode": "Qxzchild"},
		"contact":    {"system": "email", "value": "Qxzchild@example.org"},
		"alias":      {"alias": "Qxzchild", "firstName": "Qxzchild", "lastName": "Qxzchild", "fullName": "Qxzchild", "effectiveFrom": "1913-07-23"},
		"identifier": {"type": "Qxzchild", "value": "Qxzchild", "authorityOrganizationName": "Qxzchild", "sourceName": "Qxzchild", "activeFrom": "1913-07-23"},
	}
}

// markedDocuments gives a patient a document whose texts and bytes are marked, and asks for it in every way. It tells the
// answers that refuse.
func markedDocuments(c *client, patient string) (refused []answer) {
	c.t.Helper()
	list := patient + "/attach"
	d := c.with("Idempotency-Key", key(c.t)+"Qxzkey").attach(patient, map[string]any{
		"title": "Qxztitle", "filename": "Qxzfile.pdf", "contentType": "application/Qxztype", "payload": map[string]any{"Qxzpayload": []any{"Qxzpayload"}},
	})
	c.get(list + "?filename=Qxzfile").is(ok)
	c.get(of2(list) + "?filename=Qxzquery&type=any").is(ok)
	c.patch(d.at, map[string]any{"title": "Qxztitle2", "payload": "Qxzpayload"}).is(ok)
	c.get(in2(patient)).is(ok)
	c.get(d.at + "/content?filename=Qxzquery").is(missing)
	raw := strings.Repeat("Qxzbytes ", 20_000)
	for lines, body := range map[string]string{measured + "9999999": raw, chunked: chunk([]byte(raw))} { // broken off
		w := c.dial().ask(http.MethodPut, d.at+"/content", lines+"\r\nContent-Type: text/Qxztype", body)
		_ = w.conn.CloseWrite()
		refused = append(refused, w.hears(http.MethodPut, d.at+"/content"))
	}
	refused = append(refused,
		c.with("Content-Digest", digestOf("x")).put(d.at+"/content", raw),
		c.with("Content-Digest", "Qxzbad=Qxzbad;;").put(d.at+"/content", raw),
		c.post(list, map[string]any{"type": "Qxzbad", "contentType": "Qxzbad", "size": "Qxzbad", "title": "Qxzbad\u0000", "filename": 7, "payload": nil}),
		c.post(of2(list), map[string]any{"payload": "Qxzpayload" + strings.Repeat("x", 1<<20)}),
		c.post(of2(list), `{"payload":"Qxzbad`),
		c.get(of2(list)+"?type=Qxzquery&createdAfter=Qxzquery&active=Qxzquery&after=Qxzquery&page=Qxzquery&filename=Qxzquery%00"),
		c.get(list+"/Qxzquery/content"), c.patch(list+"/Qxzquery", map[string]any{"title": "Qxzbad"}),
		c.with("If-Match", "Qxzbad").patch(d.at, map[string]any{"title": "Qxzbad"}),
	)
	c.put(d.at+"/content", raw).is(ok)
	c.get(of2(d.at) + "/content").is(ok)
	c.with("Range", "bytes=0-9").get(d.at + "/content").is(http.StatusPartialContent)
	c.with("If-None-Match", "Qxzbad").with("If-Range", "Qxzbad").get(d.at + "/content").is(ok)
	return append(refused, c.put(d.at+"/content", raw+"Qxzbad"), c.with("If-Match", "Qxzbad").get(d.at+"/content"), c.with("Range", "bytes=9999999-").get(d.at+"/content"))
}

// markedFinds asks for marked people in every way. It tells the answers that refuse.
func markedFinds(c *client) (refused []answer) {
	c.t.Helper()
	for _, q := range []question{
		{"lastName": "Qxzlast", "firstName": "Qxzfirst", "dob": "1913-07-23", "last4Ssn": "8361", "exact": "true", "limit": "1"},
		{"lastName": "Qxzlast", "firstName": "Qxzfind", "dob": "1913-07-23", "last4Ssn": "8361", "minScore": "0"},
		{"line1": "Qxzchild", "city": "Qxzfind", "state": "Qxzfind", "postalCode": "Qxzfind", "phone": "Qxzfind", "email": "Qxzfind", "identifier": "Qxzfind", "suffix": "Qxzfind"},
		{"email": "Qxzchild@example.org", "exact": "true"},
	} {
		c.find(q)
	}
	bad := map[string]any{"dob": "Qxzbad", "sexAtBirth": "Qxzbad", "last4Ssn": "Qxzbad", "limit": "Qxzbad", "exact": "Qxzbad", "minScore": "Qxzbad", "after": "Qxzbad"}
	refused = append(refused, c.post(findV3, bad), c.post(findV3, `{"lastName":"Qxzbad`), c.post(findV3, map[string]any{"Qxzbad": "Qxzbad", "lastName": 7}))
	for _, path := range []string{findV2, findV3} {
		refused = append(refused, c.get(path+"?dob=Qxzquery&exact=Qxzquery&limit=Qxzquery&minScore=Qxzquery&after=Qxzquery&lastName=Qxzquery%00"),
			c.put(path+"?lastName=Qxzquery", "Qxzbad"), anyone(c.t).get(path+"?lastName=Qxzquery"), c.get(path+"?lastName=Qxzquery&lastName=Qxzquery"))
	}
	return refused
}

// around is how much of a text on both sides of a literal a pattern may look at.
const around = 16

// near reports whether a pattern matches where a literal stands. Whole texts are megabytes, which are searched for a
// literal in no time and for a pattern in minutes.
func near(text []byte, literal string, pattern *regexp.Regexp) bool {
	for from := 0; ; {
		at := bytes.Index(text[from:], []byte(literal))
		if at < 0 {
			return false
		}
		at += from
		if pattern.Match(text[max(0, at-around):min(len(text), at+len(literal)+around)]) {
			return true
		}
		from = at + 1
	}
}

// logs is all that the programs have logged, by file.
func logs(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(world.Path("log"), "*"))
	if err != nil || len(files) < 6 {
		t.Fatalf("logs: %v, %v", files, err)
	}
	out := map[string][]byte{}
	for _, file := range files {
		if out[filepath.Base(file)], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// scrape is what Prometheus would read of a service.
func scrape(t *testing.T, service string) string {
	t.Helper()
	inside(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+world.Address(service)+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(resp.Body); err != nil || resp.StatusCode != ok {
		t.Fatalf("%s answered %d, %v", service, resp.StatusCode, err)
	}
	return text.String()
}

func TestOneTraceJoinsGatewayServiceAndDatabase(t *testing.T) {
	inside(t)
	const given = "4bf92f3577b34da6a3ce929d0e0e4736"
	c := owner(t).with("traceparent", "00-"+given+"-00f067aa0ba902b7-01")
	if got := c.post(patients, ana()).is(ok).header.Get("Trace-Id"); got != given {
		t.Errorf("Trace-Id %q does not honour the caller's traceparent", got)
	}
	c.with("X-Nothing", "1").post(patients, map[string]any{}).is(bad)
	if got := c.get("/nowhere").header.Get("Trace-Id"); got != given {
		t.Errorf("Trace-Id %q on a refusal", got)
	}
	id, err := hex.DecodeString(given)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, func() bool {
		return emitted.spans(id, "gateway") && emitted.spans(id, "patient") && emitted.contains("/v1/traces", []byte("INSERT INTO patient"))
	})
	eventually(t, 5*time.Second, func() bool {
		return bytes.Contains(logs(t)["gateway.log"], []byte(`"trace_id":"`+given+`"`))
	})
}

func TestMetricsTellRateErrorsAndDurationByPattern(t *testing.T) {
	inside(t)
	c := owner(t)
	at, _ := stored(c, ana())
	c.get(at).is(ok)
	text := scrape(t, "patient")
	for _, want := range []string{
		`http_server_request_duration_seconds_count{`, `http_route="/v3/patient/:patientId"`, `http_response_status_code="200"`, "go_goroutine", "pgxpool_",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics of patient lack %s", want)
		}
	}
	if strings.Contains(text, fmt.Sprint(strings.TrimPrefix(at, patients+"/"))) {
		t.Error("an id is a label")
	}
}
