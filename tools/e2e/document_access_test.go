package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// knocks is every operation on a document and on its patient's documents, in both interfaces.
func (c *client) knocks(d document) map[string]answer {
	list := d.at[:strings.LastIndexByte(d.at, '/')]
	return map[string]answer{
		"list": c.get(list), "list in v2": c.get(of2(list)), "create": c.post(list, map[string]any{}), "create in v2": c.post(of2(list), map[string]any{}),
		"read": c.get(d.at), "read in v2": c.get(of2(d.at)), "update": c.patch(d.at, map[string]any{}), "delete": c.delete(d.at), "delete in v2": c.delete(of2(d.at)),
		"download": c.get(d.at + "/content"), "download in v2": c.get(of2(d.at) + "/content"), "head": c.do(http.MethodHead, d.at+"/content", nil),
		"upload": c.put(d.at+"/content", "bytes"), "upload in v2": c.put(of2(d.at)+"/content", "bytes"), "search": c.get(list + "?type=any&active=all"),
		"create with a key": c.with("Idempotency-Key", key(c.t)).post(list, map[string]any{}), "a part": c.with("Range", "bytes=0-1").get(d.at + "/content"),
	}
}

// refuses fails unless every answer is a problem of the status and code.
func refuses(t *testing.T, answers map[string]answer, status int, code string) {
	t.Helper()
	for name, a := range answers {
		switch {
		case a.status != status:
			t.Errorf("%s answers %d, want %d: %s", name, a.status, status, a.raw)
		case name != "head" && a.problem().Code != code:
			t.Errorf("%s answers %s, want %s", name, a.raw, code)
		}
	}
}

func TestADeletedPatientHidesItsDocuments(t *testing.T) {
	c := owner(t)
	d := c.blank()
	patient := strings.Split(d.at, "/attach")[0]
	c.put(d.at+"/content", "bytes").is(ok)
	before, bytes := c.get(d.at).is(ok), c.get(d.at+"/content").is(ok)
	c.delete(patient).is(ok)
	refuses(t, c.knocks(d), missing, "patient_not_found")
	refuses(t, c.with("Mesh-Patient", "live").with("mesh-patient", "live").with("Mesh_Patient", "live").knocks(d), missing, "patient_not_found")
	alive, _ := stored(c, ana())
	for _, path := range []string{ // which name two patients at once, or try to
		alive + "/../" + patient[len(patients)+1:] + "/attach/" + d.ID + "/content", alive + "/%2e%2e/" + patient[len(patients)+1:] + "/attach/" + d.ID,
		alive + "%2f..%2f" + patient[len(patients)+1:] + "/attach/" + d.ID, alive + "/attach/../../" + patient[len(patients)+1:] + "/attach/" + d.ID + "/content",
		alive + "/attach/" + d.ID + "/content", alive + "//../" + patient[len(patients)+1:] + "/attach/" + d.ID, d.at + "/content?patientId=" + alive[len(patients)+1:],
		d.at + "/content#" + alive, alive + ";/" + patient + "/attach/" + d.ID + "/content",
	} {
		if a := c.get(path); a.status != missing && a.status != bad {
			t.Errorf("%s answers %d: %s", path, a.status, a.raw)
		}
	}
	c.post(patient+"/restore", nil).is(ok)
	if after := c.get(d.at).is(ok); string(after.raw) != string(before.raw) || after.etag() != before.etag() {
		t.Errorf("%s came back as %s", before.raw, after.raw)
	}
	if after := c.get(of2(d.at) + "/content").is(ok); string(after.raw) != "bytes" || after.etag() != bytes.etag() {
		t.Errorf("the bytes came back as %q", after.raw)
	}
	if n := c.list(patient + "/attach?active=all").TotalElements; n != 1 {
		t.Errorf("%d documents came back", n)
	}
}

func TestDocumentsAreTheirTenants(t *testing.T) {
	mine, theirs := owner(t), other(t)
	d, own := mine.blank(), theirs.blank()
	mine.put(d.at+"/content", "bytes").is(ok)
	refuses(t, theirs.knocks(d), missing, "patient_not_found")
	through := document{at: strings.Split(own.at, "/attach")[0] + "/attach/" + d.ID} // somebody else's document, one's own patient
	for name, a := range theirs.knocks(through) {
		if strings.Contains(name, "list") || strings.Contains(name, "create") || name == "search" {
			a.is(a.status) // of one's own
		} else if a.status != missing {
			t.Errorf("%s answers %d: %s", name, a.status, a.raw)
		}
	}
	second := mine.blank()
	another := document{at: strings.Split(second.at, "/attach")[0] + "/attach/" + d.ID} // of another patient
	for _, a := range []answer{
		mine.get(another.at), mine.get(of2(another.at)), mine.get(another.at + "/content"), mine.put(another.at+"/content", "other"),
		mine.patch(another.at, map[string]any{}), mine.delete(another.at), mine.delete(of2(another.at)), mine.get(of2(another.at) + "/content"),
	} {
		a.refused(missing, "document_not_found")
	}
	if got := mine.get(d.at + "/content").is(ok); string(got.raw) != "bytes" {
		t.Errorf("the bytes are %q now", got.raw)
	}
}

func TestDocumentIDsThatAreNone(t *testing.T) {
	c := owner(t)
	d := c.blank()
	list := strings.TrimSuffix(d.at, "/"+d.ID)
	for _, id := range []string{
		"x", "00000000-0000-0000-0000-000000000000", strings.ToUpper(d.ID), d.ID + "0", "{" + d.ID + "}", strings.ReplaceAll(d.ID, "-", ""),
		"urn:uuid:" + d.ID, "%20" + d.ID, d.ID + "%20", "1%2F2", "'%20OR%201=1--", "%2e%2e", "%252e%252e", d.ID + "%2f..", ".%2fcontent", d.ID + ";x=1", "*", "\u202e", strings.Repeat("x", 3000),
	} {
		one := list + "/" + id
		for _, a := range []answer{
			c.get(one), c.patch(one, map[string]any{}), c.delete(of2(one)), c.get(one + "/content"), c.put(of2(one)+"/content", "x"),
		} {
			if a.status != missing || a.problem().Code == "" {
				t.Errorf("%.60s answers %d: %s", id, a.status, a.raw)
			}
		}
	}
	for _, id := range []string{"0", "-1", "x", "9007199254740993", "99999999999999999999999", "0" + strings.Split(d.at, "/")[3], "%37", "+1", "1.0", "1%00"} {
		for _, path := range []string{"/v3/patient/" + id + "/attach", "/v2/patient/" + id + "/document/" + d.ID, "/v3/patient/" + id + "/attach/" + d.ID + "/content"} {
			if a := c.get(path); a.status != missing && (a.status != bad || id != "1%00") {
				t.Errorf("%s answers %d: %s", path, a.status, a.raw)
			}
		}
	}
	for _, path := range []string{
		d.at + "/", d.at + "/content/", d.at + "/content/x", d.at + "/Content", list + "/", d.at + "/../../../../../etc/passwd",
	} {
		c.get(path).refused(missing, "not_found")
	}
	c.get(d.at+"/content/../").refused(missing, "not_found")
	c.get(strings.Replace(d.at, "/attach", "/document", 1)).refused(missing, "not_found") // v3 with the name of v2
	c.get(strings.Replace(of2(d.at), "/document", "/attach", 1)).refused(missing, "not_found")
	c.do(http.MethodPatch, of2(d.at), map[string]any{}).refused(http.StatusMethodNotAllowed, "method_not_allowed")
}

func TestDocumentsNeedPermissions(t *testing.T) {
	demo := world.Demo().Tenants[0]
	scoped := func(scopes ...string) *client {
		return as(t, secretly(token(t, demo.ClientID, demo.ClientSecret, oauth2.AuthStyleInHeader, scopes...).AccessToken))
	}
	reads := []string{"list", "list in v2", "search", "read", "read in v2", "download", "download in v2", "head", "a part"}
	for name, c := range map[string]*client{
		"none": scoped("patient:read", "patient:write", "patient:delete"), "read": scoped("document:read"), "write": scoped("document:write"),
	} {
		d := owner(t).blank()
		owner(t).put(d.at+"/content", "bytes").is(ok)
		for operation, a := range c.knocks(d) {
			may := name == "read" && slices.Contains(reads, operation) || name == "write" && !slices.Contains(reads, operation)
			if may == (a.status == http.StatusForbidden) {
				t.Errorf("who may %s: %s answers %d: %s", name, operation, a.status, a.raw)
			}
		}
		owner(t).get(d.at).is(map[bool]int{true: missing, false: ok}[name == "write"]) // document:write alone deletes
	}
	refuses(t, anyone(t).knocks(owner(t).blank()), http.StatusUnauthorized, "unauthenticated")
}

func TestDocumentsAreRefusedInOrder(t *testing.T) {
	const nobody = "/v3/patient/9007199254740991/attach"
	c := owner(t)
	reader := as(t, secretly(token(t, world.Demo().Tenants[0].ClientID, world.Demo().Tenants[0].ClientSecret, oauth2.AuthStyleInHeader, "document:read").AccessToken))
	d := c.blank()
	list := strings.TrimSuffix(d.at, "/"+d.ID)
	wrong, stale, text := map[string]any{"type": 7}, c.with("If-Match", `"9"`), c.with("Content-Type", "text/plain")
	huge := `{"payload":"` + strings.Repeat("x", 1<<20+1) + `","type":7}`
	for _, path := range []string{nobody, of2(nobody)} {
		anyone(t).with("Content-Type", "text/plain").post(path, huge).is(http.StatusUnauthorized)
		reader.with("Content-Type", "text/plain").post(path, huge).is(http.StatusForbidden)
		text.post(path, huge).refused(http.StatusUnsupportedMediaType, "unsupported_media_type")
		c.post(path, huge).refused(http.StatusRequestEntityTooLarge, "payload_too_large")
		c.post(path, wrong).faults()
		c.post(path, "{").refused(bad, "malformed_json")
		c.post(path, "").refused(bad, "body_required")
		c.post(path, "[]").refused(bad, "not_an_object")
		c.post(path, `{"type":"document","type":"document"}`).is(bad)
		c.post(path, letter("document")).refused(missing, "patient_not_found")
		c.get(path + "?active=maybe").faults()
		c.get(path).refused(missing, "patient_not_found")
		stale.delete(path+"/"+d.ID).refused(missing, "patient_not_found")
		c.put(path+"/"+d.ID+"/content", "x").refused(missing, "patient_not_found")
		c.with("Content-Digest", "sha-256=x").put(path+"/"+d.ID+"/content", "x").refused(bad, "invalid_digest")
		c.with("Content-Digest", "sha-256=x").put(strings.Replace(path, "9007199254740991", "x", 1)+"/"+d.ID+"/content", "x").refused(bad, "invalid_digest")
		reader.with("Content-Digest", "sha-256=x").put(path+"/"+d.ID+"/content", "x").refused(http.StatusForbidden, "permission_denied")
		c.with("Content-Encoding", "gzip").put(path+"/"+d.ID+"/content", "x").refused(http.StatusUnsupportedMediaType, "unsupported_encoding")
	}
	stale.patch(d.at, wrong).faults()
	stale.patch(d.at, map[string]any{"payload": strings.Repeat("x", 1<<20+1)}).refused(http.StatusRequestEntityTooLarge, "payload_too_large")
	stale.patch(d.at, map[string]any{}).refused(http.StatusPreconditionFailed, "version_mismatch")
	stale.patch(list+"/x", map[string]any{}).refused(missing, "document_not_found")
	for path, allow := range map[string]string{
		list: "GET, POST", of2(list): "GET, POST", d.at: "DELETE, GET, PATCH", of2(d.at): "DELETE, GET", d.at + "/content": "GET, PUT", of2(d.at) + "/content": "GET, PUT",
	} {
		for _, method := range []string{"PROPFIND", http.MethodPost} {
			if strings.Contains(allow, method) {
				continue
			}
			a := c.do(method, path, nil)
			a.refused(http.StatusMethodNotAllowed, "method_not_allowed")
			got := slices.DeleteFunc(strings.Split(a.header.Get("Allow"), ", "), func(m string) bool { return m == "HEAD" || m == "OPTIONS" })
			slices.Sort(got)
			if strings.Join(got, ", ") != allow {
				t.Errorf("%s allows %v, want %s", path, got, allow)
			}
		}
	}
}

// What keeps documents believes nobody but who passes requests on: whoever says nothing of the patient asks about nobody.
func TestAttachmentAsksForThePatient(t *testing.T) {
	inside(t)
	c := owner(t)
	d := c.blank()
	keys, err := principal.ParseKeyring(world.MeshKey())
	if err != nil {
		t.Fatal(err)
	}
	demo := world.Demo().Tenants[0]
	me := principal.Encode(principal.Principal{
		Kind: principal.Session, UserID: demo.User.ID, TenantID: demo.ID, Environment: "demo", Permissions: principal.All,
	})
	inside := &client{t: t, base: "http://" + world.Address("attachment"), header: http.Header{}}
	for says, status := range map[string]int{"live": ok, "missing": missing, "": missing, "LIVE": missing, "live,live": missing} {
		for _, path := range []string{d.at, of2(d.at), strings.TrimSuffix(d.at, "/"+d.ID)} {
			signed := inside.with(principal.AssertionHeader, keys.Sign(me, http.MethodGet, path, time.Now()))
			if says != "" {
				signed = signed.with("Mesh-Patient", says)
			}
			signed.get(path).is(status)
		}
	}
	inside.with("Mesh-Patient", "live").get(d.at).is(http.StatusUnauthorized)
}

// Each request leaves the one record that it must, found by its trace, and no other.
func TestEveryAccessToADocumentLeavesOneRecord(t *testing.T) {
	c := newTenant(t)
	patient, _ := stored(c, ana())
	list := patient + "/attach"
	once := c.with("Idempotency-Key", key(t))
	made := once.post(list, letter("document")).is(ok)
	one := list + "/" + fmt.Sprint(made.object()["id"])
	content := of2(one) + "/content"
	steps := []struct {
		a    answer
		want string // empty: none
	}{
		{made, "document.create success"},
		{once.post(list, letter("document")).is(ok), ""},
		{c.post(of2(list), map[string]any{"type": "x"}).is(bad), ""},
		{c.get(one).is(ok), "document.read success"},
		{c.get(of2(list)).is(ok), "document.list success"},
		{c.get(list + "?filename=letter&type=wearable").is(ok), "document.list success"},
		{c.get(list + "?active=x").is(bad), ""},
		{c.patch(one, map[string]any{}).is(ok), "document.update success"},
		{c.put(content, "bytes").is(bad), "document.upload failure"}, // another size than was declared
		{c.patch(one, map[string]any{"size": "5"}).is(ok), "document.update success"},
		{c.patch(one, map[string]any{"size": "x"}).is(bad), ""},
		{c.with("If-Match", `"9"`).patch(one, map[string]any{}).is(http.StatusPreconditionFailed), "document.update failure"},
		{c.get(content).is(missing), "document.download failure"},
		{c.with("Content-Digest", "sha-256=x").put(content, "bytes").is(bad), ""},
		{c.with("Content-Digest", digestOf("other")).put(content, "bytes").is(bad), "document.upload failure"},
		{c.with("Content-Digest", digestOf("bytes")).put(content, "bytes").is(ok), "document.upload success"},
		{c.put(one+"/content", "bytes").is(ok), "document.upload success"},
		{c.put(content, "other").is(http.StatusConflict), "document.upload failure"},
		{c.get(one + "/content").is(ok), "document.download success"},
		{c.with("Range", "bytes=1-2").get(content).is(http.StatusPartialContent), "document.download success"},
		{c.do(http.MethodHead, content, nil).is(ok), "document.download success"},
		{c.with("If-None-Match", "*").get(content).is(http.StatusNotModified), "document.download success"},
		{c.patch(one, map[string]any{"size": "6"}).is(bad), "document.update failure"},
		{c.get(list + "/x").is(missing), "document.read failure"},
		{c.get(list + "/x/content").is(missing), "document.download failure"},
		{c.put(list+"/x/content", "x").is(missing), "document.upload failure"},
		{c.with("If-Match", `"1"`).delete(one).is(http.StatusPreconditionFailed), "document.delete failure"},
		{c.delete(of2(one)).is(ok), "document.delete success"},
		{c.get(of2(one)).is(missing), "document.read failure"},
		{c.get(content).is(missing), "document.download failure"},
		{c.put(content, "bytes").is(missing), "document.upload failure"},
		{c.delete(one).is(missing), "document.delete failure"},
		{c.delete(patient).is(ok), "patient.delete success"},
		{c.get(list).is(missing), "document.list failure"},
		{c.post(of2(list), map[string]any{}).is(missing), "document.create failure"},
		{c.patch(one, map[string]any{}).is(missing), "document.update failure"},
		{c.get(content).is(missing), "document.download failure"},
		{c.put(content, "bytes").is(missing), "document.upload failure"},
		{c.get("/v2/patient/x/document").is(missing), "document.list failure"},
	}
	traces := map[string][]string{}
	eventually(t, 20*time.Second, func() bool {
		clear(traces)
		records := recordsAt(c, trail+"?size=500")
		for _, r := range records {
			traces[r.TraceID] = append(traces[r.TraceID], r.Action+" "+r.Outcome)
		}
		return len(traces[steps[len(steps)-1].a.header.Get("Trace-Id")]) > 0 && slices.ContainsFunc(records, func(r audit.Record) bool { return r.Action == "patient.delete" })
	})
	for i, s := range steps {
		if got := strings.Join(traces[s.a.header.Get("Trace-Id")], ", "); got != s.want {
			t.Errorf("step %d left %q, want %q", i, got, s.want)
		}
	}
	for _, r := range recordsAt(c, trail+"?size=500&action=document.download") {
		if r.Actor.Type != "api_key" || r.CredentialID == "" || r.PatientID == nil || path(*r.PatientID) != patient {
			t.Errorf("%+v", r)
		}
	}
	if v := verify(c); !v.Intact {
		t.Errorf("%+v", v)
	}
}
