package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/oauth2"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// The kinds of what hangs on a patient, as the record names them, with a body of each that breaks no rule.
func attachments() map[string]struct{ path, item, body string } {
	return map[string]struct{ path, item, body string }{
		"addresses":   {"address", "home", `{"line1":"12 Harbour Street","city":"Portland","state":"ME","postalCode":"04101","use":"home"}`},
		"aliases":     {"alias", "maiden", `{"type":"maiden","lastName":"Reis"}`},
		"identifiers": {"identifier", "MRN", `{"type":"MRN","value":"00412967"}`},
		"contacts":    {"contact", "phone", `{"value":"(207) 555-0123","use":"mobile"}`},
		"documents":   {"document", "observation", `{"type":"observation","title":"Blood pressure","payload":{"systolic":120.50,"diastolic":80}}`},
	}
}

// attached creates a patient with one of each kind, and gives its v2 path and the ids by kind.
func attached(c *client) (string, map[string]string) {
	c.t.Helper()
	created := c.post("/v2/patient", map[string]any{"firstName": "Ana", "lastName": "Lima", "dob": "1980-02-29", "sex_at_birth": "female"}).is(http.StatusCreated)
	at, ids := "/v2/patient/"+created.object()["patientId"].(string), map[string]string{}
	for kind, a := range attachments() {
		ids[kind] = c.post(at+"/"+a.path, a.body).is(http.StatusCreated).object()["id"].(string)
	}
	return at, ids
}

// record is a record in any of its views.
type record struct {
	PatientID, FirstName  string
	Addresses, Aliases    json.RawMessage
	Identifiers, Contacts json.RawMessage
	Documents             json.RawMessage
	Truncated, Incomplete []string
}

func (r record) kinds() map[string]json.RawMessage {
	return map[string]json.RawMessage{
		"addresses": r.Addresses, "aliases": r.Aliases, "identifiers": r.Identifiers, "contacts": r.Contacts, "documents": r.Documents,
	}
}

func recordAt(c *client, path string) (r record) {
	c.t.Helper()
	c.get(path).is(ok).into(&r)
	return r
}

// documentPage is a page of documents, in a record or by itself.
type documentPage struct {
	Content             []struct{ ID, Title, Type string }
	Page, Size          int
	TotalElements, Seen int64
}

const content = "what the scanner saw"

// upload gives a document its bytes.
func upload(c *client, at string) {
	c.t.Helper()
	c.with("Content-Type", "application/octet-stream").put(at+"/content", content).is(ok)
}

func TestTheViewsOfARecord(t *testing.T) {
	c := owner(t)
	at, ids := attached(c)
	upload(c, at+"/document/"+ids["documents"])
	full := recordAt(c, at)
	if full.PatientID != strings.TrimPrefix(at, "/v2/patient/") || full.FirstName != "Ana" || full.Truncated != nil || full.Incomplete != nil {
		t.Errorf("%+v", full)
	}
	for kind, list := range full.kinds() {
		// Each list shows what the kind's own list shows.
		var own struct{ Content json.RawMessage }
		c.get(at + "/" + attachments()[kind].path).is(ok).into(&own)
		if diff := cmp.Diff(compact(t, own.Content), compact(t, list)); diff != "" || !strings.Contains(string(list), ids[kind]) {
			t.Errorf("%s: %s", kind, diff)
		}
	}
	if !strings.Contains(string(full.Documents), `120.50`) || !strings.Contains(string(full.Documents), `"hasContent":true`) {
		t.Errorf("the payload is not as it came: %s", full.Documents)
	}
	if diff := cmp.Diff(full, recordAt(c, at+"?view=FULL&partial=true")); diff != "" {
		t.Error(diff)
	}

	manifest := c.get(at + "?view=manifest").is(ok)
	var m map[string]json.RawMessage
	manifest.into(&m)
	for kind := range full.kinds() {
		var l struct {
			Count int
			Items []struct{ ID, Type, CreatedAt, Size, SHA256 string }
		}
		if err := json.Unmarshal(m[kind], &l); err != nil {
			t.Fatal(err)
		}
		if l.Count != 1 || len(l.Items) != 1 || l.Items[0].ID != ids[kind] || l.Items[0].Type != attachments()[kind].item || l.Items[0].CreatedAt == "" {
			t.Errorf("%s: %s", kind, m[kind])
		}
		if (l.Items[0].Size != "") != (kind == "documents") || kind == "documents" && (l.Items[0].Size != strconv.Itoa(len(content)) || len(l.Items[0].SHA256) != 64) {
			t.Errorf("%s: %s", kind, m[kind])
		}
	}
	for _, told := range []string{"Ana", "1980", "Harbour", "Reis", "00412967", "555", "Blood", "120"} {
		if strings.Contains(string(manifest.raw), told) {
			t.Errorf("the manifest tells %q: %s", told, manifest.raw)
		}
	}

	page := c.get(at + "?view=page&size=1").is(ok)
	var p struct {
		record
		Documents documentPage
	}
	page.into(&p)
	if p.FirstName != "Ana" || p.Addresses != nil || len(p.Documents.Content) != 1 || p.Documents.TotalElements != 1 || p.Documents.Size != 1 || page.header.Get("Link") != "" {
		t.Errorf("%s", page.raw)
	}

	want := []string{"size out_of_range", "view invalid_value", "partial invalid_value"}
	if diff := cmp.Diff(want, c.get(at+"?view=all&partial=perhaps&size=501").faults()); diff != "" {
		t.Error(diff)
	}
	for _, nobody := range []string{"/v2/patient/1", "/v2/patient/0", "/v2/patient/x", "/v2/patient/9007199254740993"} {
		for _, view := range []string{"full", "page", "manifest"} {
			c.get(nobody+"?view="+view).refused(missing, "patient_not_found")
		}
	}
	other(t).get(at).refused(missing, "patient_not_found")
}

// compact is JSON without the spaces that mean nothing.
func compact(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	out, err := json.Marshal(raw)
	if err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return string(out)
}

// A patient of the one interface is the other's, with all that hangs on it.
func TestBothInterfacesShowOneRecord(t *testing.T) {
	c := owner(t)
	at, p := stored(c, but(map[string]any{"sexAtBirth": "intersex", "last4Ssn": "6789"}))
	c.post(at+"/attach", `{"title":"Scan","payload":"text"}`).is(ok)
	c.post(at+"/alias", `{"alias":"Nana"}`).is(ok)
	echo := c.get("/v2/patient/" + strconv.FormatInt(p.ID, 10)).is(ok).object()
	if echo["sex_at_birth"] != "intersex" || echo["last4Ssn"] != "***-**-6789" || echo["version"] != 1.0 || echo["gender"] != "Unknown" {
		t.Errorf("%v", echo)
	}
	if alias := echo["aliases"].([]any)[0].(map[string]any); alias["alias"] != "Nana" || alias["patientId"] != echo["patientId"] {
		t.Errorf("%v", alias)
	}
	if document := echo["documents"].([]any)[0].(map[string]any); document["payload"] != "text" || !strings.HasPrefix(document["contentUrl"].(string), "/v2/patient/") {
		t.Errorf("%v", document)
	}
}

// TestARecordOfHeavyPayloads has more payload than a record shows: what does not fit is named, and read singly.
func TestARecordOfHeavyPayloads(t *testing.T) {
	c := owner(t)
	at, _ := stored(c, ana())
	at = strings.Replace(at, "v3", "v2", 1)
	payload := strings.Repeat("\u0001", 1<<20) // six bytes each in JSON
	for n := range 4 {
		made, _ := c.ask(http.MethodPost, at+"/document", map[string]any{"title": fmt.Sprint(n), "payload": payload})
		made.is(http.StatusCreated)
	}
	var r struct {
		Documents []struct {
			ID, Title, Payload string
			PayloadOmitted     bool
		}
		Truncated []string
	}
	whole, _ := c.ask(http.MethodGet, at, nil)
	whole.is(ok).into(&r)
	if len(r.Documents) != 4 || !slices.Equal(r.Truncated, []string{"documents"}) {
		t.Fatalf("%d documents, truncated %v", len(r.Documents), r.Truncated)
	}
	for n, d := range r.Documents {
		if whole := n < 2; (d.Payload == payload) != whole || d.PayloadOmitted == whole {
			t.Errorf("document %s: %d characters, omitted %v", d.Title, len(d.Payload), d.PayloadOmitted)
		}
	}
	if single, _ := c.ask(http.MethodGet, at+"/document/"+r.Documents[3].ID, nil); single.is(ok).object()["payload"] != payload {
		t.Error("another payload when it is read singly")
	}
}

func TestARecordWithoutDocumentRead(t *testing.T) {
	at, _ := attached(owner(t))
	demo := world.Demo().Tenants[0]
	reader := as(t, secretly(token(t, demo.ClientID, demo.ClientSecret, oauth2.AuthStyleInHeader, "patient:read").AccessToken))
	for _, view := range []string{"full", "page", "manifest"} {
		r := recordAt(reader, at+"?view="+view)
		if string(r.Documents) != "null" || !slices.Equal(r.Incomplete, []string{"documents"}) {
			t.Errorf("%s: %s, %v", view, r.Documents, r.Incomplete)
		}
	}
	documents := as(t, secretly(token(t, demo.ClientID, demo.ClientSecret, oauth2.AuthStyleInHeader, "document:read").AccessToken))
	documents.get(at).refused(http.StatusForbidden, "permission_denied")
	documents.get(at + "/document").is(ok)
	reader.get(at+"/document").refused(http.StatusForbidden, "permission_denied")
}

// TestARecordIsReadWhileDocumentsAreAdded follows a record's pages to their end: who was there is there once.
func TestARecordIsReadWhileDocumentsAreAdded(t *testing.T) {
	c := owner(t)
	at, _ := stored(c, ana())
	at = strings.Replace(at, "v3", "v2", 1)
	var want, got []string
	add := func(title string) string {
		return c.post(at+"/document", map[string]any{"title": title}).is(http.StatusCreated).object()["id"].(string)
	}
	for n := range 7 {
		want = append(want, add(fmt.Sprint("before ", n)))
	}
	added := 0
	for next := at + "?view=page&size=3"; ; {
		a := c.get(next).is(ok)
		var p struct{ Documents documentPage }
		a.into(&p)
		for _, d := range p.Documents.Content {
			got = append(got, d.ID)
		}
		if a.header.Get("Link") == "" {
			break
		}
		next = nextOf(t, a)
		if added < 4 {
			want = append(want, add("since"))
			added++
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What is deactivated leaves the record, and what is deleted takes everything along, and brings it back.
func TestARecordIsCoherent(t *testing.T) {
	c := owner(t)
	at, ids := attached(c)
	document := at + "/document/" + ids["documents"]
	upload(c, document)
	v3 := strings.Replace(at, "v2", "v3", 1)
	before := c.get(at).is(ok)
	paths := []string{
		at, at + "?view=page", at + "?view=manifest", at + "/document", document, document + "/content", v3 + "/attach",
		v3 + "/attach/" + ids["documents"], v3 + "/attach/" + ids["documents"] + "/content",
	}
	for kind, a := range attachments() {
		if kind != "documents" {
			paths = append(paths, at+"/"+a.path, v3+"/"+a.path, v3+"/"+a.path+"/"+ids[kind])
		}
	}
	for _, path := range paths {
		c.get(path).is(ok)
	}
	c.delete(v3).is(ok)
	for _, path := range paths {
		c.get(path).is(missing)
	}
	for kind, a := range attachments() {
		c.post(at+"/"+a.path, a.body).refused(missing, "patient_not_found")
		c.delete(at + "/" + a.path + "/" + ids[kind]).is(missing)
	}
	c.with("Content-Type", "application/octet-stream").put(document+"/content", content).refused(missing, "patient_not_found")
	c.post(at+"/document", `{"type":"nonsense"}`).refused(bad, "invalid_request") // before the patient

	c.post(v3+"/restore", nil).is(ok)
	var was, is record
	before.into(&was)
	c.get(at).is(ok).into(&is)
	if diff := cmp.Diff(was, is); diff != "" {
		t.Error(diff)
	}
	if got := c.get(document + "/content").is(ok); string(got.raw) != content {
		t.Errorf("%q", got.raw)
	}
	for kind, a := range attachments() {
		c.delete(at + "/" + a.path + "/" + ids[kind]).is(ok)
		if r := recordAt(c, at); string(r.kinds()[kind]) != "[]" {
			t.Errorf("%s after it was deactivated: %s", kind, r.kinds()[kind])
		}
		if r := recordAt(c, at+"?view=manifest"); !strings.Contains(string(r.kinds()[kind]), `"count":0`) {
			t.Errorf("%s after it was deactivated: %s", kind, r.kinds()[kind])
		}
	}
	c.get(document + "/content").is(missing)
}

func TestTheTagOfARecordMovesWithAnythingShown(t *testing.T) {
	c := owner(t)
	at, ids := attached(c)
	v3 := strings.Replace(at, "v2", "v3", 1)
	views := []string{"full", "page", "manifest"}
	tags := map[string]string{}
	look := func(what string, moves ...string) {
		t.Helper()
		for _, view := range views {
			a := c.with("If-None-Match", tags[view]).get(at + "?view=" + view)
			tag := a.header.Get("ETag")
			if !strings.HasPrefix(tag, `W/"`) || (a.status == ok) != slices.Contains(moves, view) || (tag != tags[view]) != slices.Contains(moves, view) {
				t.Errorf("%s: %s answers %d, %s", what, view, a.status, tag)
			}
			if a.status != ok && (a.status != http.StatusNotModified || len(a.raw) != 0) {
				t.Errorf("%s: %s answers %d, %s", what, view, a.status, a.raw)
			}
			tags[view] = tag
		}
	}
	look("at first", views...)
	look("unchanged")
	c.patch(v3, map[string]any{"middleName": "M"}).is(ok)
	look("the patient", "full", "page")
	for kind, a := range attachments() {
		if kind == "documents" {
			continue
		}
		more := map[string]string{"address": `{"line2":"Door 3"}`, "alias": `{"firstName":"Nana"}`, "identifier": `{"sourceName":"Desk"}`, "contact": `{"use":"work"}`}[a.path]
		c.patch(v3+"/"+a.path+"/"+ids[kind], more).is(ok)
		look("a changed "+a.path, "full")
		c.delete(at + "/" + a.path + "/" + ids[kind]).is(ok)
		look("a deactivated "+a.path, "full", "manifest")
		c.post(at+"/"+a.path, a.body).is(http.StatusCreated)
		look("another "+a.path, "full", "manifest")
	}
	c.patch(v3+"/attach/"+ids["documents"], `{"title":"Pressure"}`).is(ok)
	look("a changed document", "full", "page")
	upload(c, at+"/document/"+ids["documents"])
	look("bytes", views...)
	c.post(at+"/document", `{"title":"Another"}`).is(http.StatusCreated)
	look("another document", views...)
	c.delete(at + "/document/" + ids["documents"]).is(ok)
	look("a deactivated document", views...)
	look("unchanged")
}

func TestARecordReadLeavesOneAuditEntry(t *testing.T) {
	c := newTenant(t)
	at, _ := attached(c)
	c.get(at).is(ok)
	c.get(at + "?view=page").is(ok)
	tag := c.get(at + "?view=manifest").is(ok).header.Get("ETag")
	c.with("If-None-Match", tag).get(at + "?view=manifest").is(http.StatusNotModified)
	c.get("/v2/patient/1").is(missing)
	c.get(at + "?view=none").is(bad)
	of := trail + "?action=record.read"
	want := []string{"record.read success", "record.read success", "record.read success", "record.read success", "record.read failure"}
	eventually(t, 10*time.Second, func() bool { return len(recordsAt(c, of)) >= len(want) })
	if diff := cmp.Diff(want, told(recordsAt(c, of))); diff != "" {
		t.Error(diff)
	}
	for _, r := range recordsAt(c, trail) { // nor does what they ask of each other
		if strings.HasPrefix(r.Action, "document.") && r.Action != "document.create" {
			t.Errorf("an entry %s", r.Action)
		}
	}
}

// documentsAway: a record never lacks its documents silently.
func documentsAway(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	at, ids := attached(c)
	views := []string{"full", "page", "manifest"}
	attachment := m.Process("attachment")
	attachment.Stop(t.Context())
	for _, view := range views {
		a := c.get(at + "?view=" + view)
		a.refused(http.StatusServiceUnavailable, "unavailable")
		if a.header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		r := recordAt(c, at+"?partial=true&view="+view)
		if string(r.Documents) != "null" || !slices.Equal(r.Incomplete, []string{"documents"}) {
			t.Errorf("%s: %s, %v", view, r.Documents, r.Incomplete)
		}
		c.get("/v2/patient/1?view="+view).refused(missing, "patient_not_found")
	}
	c.get(at+"/document").refused(http.StatusServiceUnavailable, "unavailable")
	if r := recordAt(c, at+"?partial=true"); !strings.Contains(string(r.Addresses), ids["addresses"]) {
		t.Errorf("%s", r.Addresses)
	}
	attachment.Start()
	eventually(t, time.Minute, func() bool { return c.get(at).status == ok })
	attachment.Signal(syscall.SIGSTOP) // it soon takes requests and answers none
	eventually(t, 30*time.Second, func() bool { return slices.Equal(recordAt(c, at+"?partial=true").Incomplete, []string{"documents"}) })
	c.get("/v2/patient/1").refused(missing, "patient_not_found")
	attachment.Signal(syscall.SIGCONT)
	eventually(t, time.Minute, func() bool { return c.get(at).status == ok })
	if r := recordAt(c, at); !strings.Contains(string(r.Documents), ids["documents"]) {
		t.Errorf("%s", r.Documents)
	}
}
