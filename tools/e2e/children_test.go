package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const created = http.StatusCreated

// in2 is the path in v2 of what has this one in v3.
func in2(path string) string { return "/v2" + strings.TrimPrefix(path, "/v3") }

// children is a body of each kind that gives everything, in the names of v3.
func children() map[string]map[string]any {
	return map[string]map[string]any{
		"address": {"line1": "12 Harbour Street", "line2": "Apt 4", "city": "Portland", "state": "ME", "postalCode": "04101", "country": "US", "use": "home"},
		"contact": {"system": "phone", "value": "(207) 555-0142", "use": "mobile"},
		"alias": {
			"type": "maiden", "alias": "Nana", "firstName": "Ana", "lastName": "Reis", "fullName": "Ana Reis", "effectiveFrom": "1980-02-29",
			"effectiveTo": "2999-06-30T21:00:00.000Z",
		},
		"identifier": {
			"type": "MRN", "value": "00412967", "authorityOrganizationId": "o", "authorityOrganizationName": "O", "authorityExternalSystemId": "s",
			"authorityExternalSystemName": "S", "sourceName": "Desk", "activeFrom": "2019-05-01", "activeUntil": "2999-01-01",
		},
	}
}

// namesOfV2 is a child in the names of v2.
func namesOfV2(child map[string]any) map[string]any {
	names := map[string]string{
		"authorityOrganizationId": "authority_organization_id", "authorityOrganizationName": "authority_organization_name",
		"authorityExternalSystemId": "authority_external_system_id", "authorityExternalSystemName": "authority_external_system_name",
		"sourceName": "source_name", "activeFrom": "active_from", "activeUntil": "active_until",
	}
	renamed := map[string]any{}
	for name, value := range child {
		if own, differs := names[name]; differs {
			name = own
		}
		renamed[name] = value
	}
	return renamed
}

// eachKind runs a test for each kind of child of a new patient of a client; at is the path of v3 of its children.
func eachKind(t *testing.T, c *client, test func(c *client, kind, at string, body map[string]any)) {
	t.Helper()
	for kind, body := range children() {
		t.Run(kind, func(t *testing.T) {
			mine := *c
			mine.t = t
			path, _ := stored(&mine, ana())
			test(&mine, kind, path+"/"+kind, body)
		})
	}
}

type childList struct {
	Content       []map[string]any
	Page, Size    int
	TotalElements int64
}

func (c *client) list(path string) childList {
	c.t.Helper()
	var l childList
	c.get(path).is(ok).into(&l)
	return l
}

func TestAPatientOfV2IsOneOfV3(t *testing.T) {
	c := owner(t)
	a := c.post("/v2/patient", map[string]any{
		"firstName": "Ana", "lastName": "Lima", "dob": "1980-02-29", "sex_at_birth": "OTHER", "middleName": "Maria", "prefix": "Dr.", "suffix": "Jr.",
		"gender": "female", "last4Ssn": "6789", "preferredLanguage": "pt",
	}).is(created)
	got := a.object()
	id, at := fmt.Sprint(got["patientId"]), patients+"/"+fmt.Sprint(got["patientId"])
	if a.header.Get("Location") != in2(at) {
		t.Errorf("Location %q", a.header.Get("Location"))
	}
	for _, name := range []string{"createdAt", "updatedAt"} {
		if _, err := time.Parse("2006-01-02T15:04:05.000Z", fmt.Sprint(got[name])); err != nil {
			t.Error(err)
		}
		delete(got, name)
	}
	want := map[string]any{
		"patientId": id, "firstName": "Ana", "middleName": "Maria", "lastName": "Lima", "prefix": "Dr.", "suffix": "Jr.", "dob": "1980-02-29",
		"sex_at_birth": "other", "gender": "Female", "race": "Unknown", "ethnicity": "Unknown", "genderIdentity": "", "preferredLanguage": "pt",
		"last4Ssn": "***-**-6789", "deceased": false, "version": 1.0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var read shown
	c.get(at).is(ok).into(&read)
	if diff := cmp.Diff(shown{
		ID: read.ID, FirstName: "Ana", MiddleName: "Maria", LastName: "Lima", DOB: "1980-02-29", Gender: "Female", Race: "Unknown", Ethnicity: "Unknown",
		SexAtBirth: "other", PreferredLanguage: "pt", Last4SSN: "***-**-6789",
	}, read); diff != "" || fmt.Sprint(read.ID) != id {
		t.Errorf("%d is read of %s: %s", read.ID, id, diff)
	}
	unknown := c.post("/v2/patient", map[string]any{"firstName": "Ana", "lastName": "Lima", "dob": "1980-02-29", "sex_at_birth": "Unknown"}).is(created).object()
	if sex := c.get(patients + "/" + fmt.Sprint(unknown["patientId"])).is(ok).object()["sexAtBirth"]; unknown["sex_at_birth"] != "unknown" || sex != "Unknown" {
		t.Errorf("unknown is spelt %v in v2 and %v in v3", unknown["sex_at_birth"], sex)
	}
	tag := c.get(at).etag()
	c.with("If-Match", tag).patch(at, map[string]any{"middleName": "M"}).is(ok)
	c.delete(at).is(ok)
	c.post(in2(at)+"/contact", children()["contact"]).refused(missing, "patient_not_found")
}

func TestV2PatientsAreRefused(t *testing.T) {
	c := owner(t)
	got := c.with("Idempotency-Key", strings.Repeat("k", 256)).post("/v2/patient", map[string]any{
		"firstName": 7, "lastName": "n/a", "dob": "2999-01-01", "sexAtBirth": "female", "prefix": []any{}, "last4Ssn": "123-45-6789",
	}).faults()
	want := []string{
		"firstName invalid_type", "prefix invalid_type", "sex_at_birth required", "lastName blank", "dob in_future", "last4Ssn invalid_last4",
		"Idempotency-Key invalid_key",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	k := c.with("Idempotency-Key", key(t))
	body := map[string]any{"firstName": "Ana", "lastName": "Lima", "dob": "1980-02-29", "sex_at_birth": "female"}
	first, again := k.post("/v2/patient", body).is(created), k.post("/v2/patient", body).is(created)
	if string(first.raw) != string(again.raw) || first.header.Get("Location") != again.header.Get("Location") || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the repeat got %s, the first %s", again.raw, first.raw)
	}
	k.post(patients, body).refused(http.StatusUnprocessableEntity, "idempotency_key_reused")
}

// Made in v2, read and changed in v3, deactivated in v2, gone in v3; and the other way round.
func TestAChildLivesInBothInterfaces(t *testing.T) {
	eachKind(t, owner(t), func(c *client, kind, at string, body map[string]any) {
		made := c.post(in2(at), namesOfV2(body)).is(created)
		child := made.object()
		one := at + "/" + fmt.Sprint(child["id"])
		if made.header.Get("Location") != one || child["patientId"] != strings.Split(at, "/")[3] || child["active"] != true {
			c.t.Errorf("made %v at %s", child, made.header.Get("Location"))
		}
		read := c.get(one).is(ok)
		if read.etag() != made.etag() {
			c.t.Errorf("the tag is %s, then %s", made.etag(), read.etag())
		}
		want := maps.Clone(body)
		maps.Copy(want, map[string]any{"id": child["id"], "active": true, "createdAt": child["createdAt"], "updatedAt": child["createdAt"]})
		if kind == "contact" {
			want["e164"] = "+12075550142"
		}
		if diff := cmp.Diff(want, read.object()); diff != "" {
			c.t.Errorf("v3 reads otherwise: %s", diff)
		}
		of2 := namesOfV2(want)
		delete(of2, "updatedAt")
		of2["patientId"] = child["patientId"]
		if diff := cmp.Diff(childList{Content: []map[string]any{of2}, Size: 50, TotalElements: 1}, c.list(in2(at))); diff != "" {
			c.t.Errorf("v2 lists otherwise: %s", diff)
		}
		if diff := cmp.Diff(childList{Content: []map[string]any{want}, Size: 50, TotalElements: 1}, c.list(at)); diff != "" {
			c.t.Errorf("v3 lists otherwise: %s", diff)
		}

		change, member, value := map[string]any{"use": "work"}, "use", any("work")
		if _, has := body["use"]; !has {
			change, member, value = map[string]any{"type": "preferred"}, "type", any("preferred")
		}
		changed := c.with("If-Match", made.etag()).patch(one, change).is(ok)
		if changed.object()[member] != value || c.list(in2(at)).Content[0][member] != value || changed.etag() == made.etag() {
			c.t.Errorf("changed to %s under %s", changed.raw, changed.etag())
		}
		c.with("If-Match", made.etag()).delete(in2(one)).refused(http.StatusPreconditionFailed, "version_mismatch")
		if message := c.with("If-Match", changed.etag()).delete(in2(one)).is(ok).object()["message"]; message == "" {
			c.t.Error("no message")
		}
		c.get(one).refused(missing, kind+"_not_found")
		c.patch(one, change).refused(missing, kind+"_not_found")
		c.delete(one).refused(missing, kind+"_not_found")

		second := c.post(at, body).is(ok).object()
		if got := c.list(in2(at)); len(got.Content) != 1 || got.Content[0]["id"] != second["id"] {
			c.t.Errorf("v2 lists %v of what v3 made", got)
		}
		c.delete(at + "/" + fmt.Sprint(second["id"])).is(ok)
		for query, count := range map[string]int{"": 0, "?active=TRUE": 0, "?active=false": 2, "?active=all": 2} {
			for _, list := range []childList{c.list(at + query), c.list(in2(at) + query)} {
				if len(list.Content) != count || list.TotalElements != int64(count) || count == 2 && (list.Content[0]["active"] != false || list.Content[0]["id"] != child["id"]) {
					c.t.Errorf("%q lists %v", query, list)
				}
			}
		}
	})
}

func TestAChildDoesNotMoveItsPatient(t *testing.T) {
	eachKind(t, owner(t), func(c *client, _, at string, body map[string]any) {
		path := at[:strings.LastIndexByte(at, '/')]
		before := c.get(path).is(ok)
		id := c.post(at, body).is(ok).object()["id"]
		c.delete(at + "/" + fmt.Sprint(id)).is(ok)
		if after := c.get(path).is(ok); after.etag() != before.etag() || c.list(path+"/history").TotalElements != 1 {
			c.t.Errorf("the patient's version went from %s to %s", before.etag(), after.etag())
		}
	})
}

func TestADeletedPatientHidesItsChildren(t *testing.T) {
	eachKind(t, owner(t), func(c *client, _, at string, body map[string]any) {
		path := at[:strings.LastIndexByte(at, '/')]
		one := at + "/" + fmt.Sprint(c.post(at, body).is(ok).object()["id"])
		before := c.get(one).is(ok)
		c.delete(path).is(ok)
		for _, a := range []answer{
			c.get(at), c.get(in2(at)), c.post(at, body), c.post(in2(at), namesOfV2(body)), c.get(one), c.patch(one, map[string]any{}), c.delete(one), c.delete(in2(one)),
			c.with("Idempotency-Key", key(c.t)).post(at, body), c.get(at + "?active=all"),
		} {
			a.is(missing)
		}
		c.post(path+"/restore", nil).is(ok)
		if after := c.get(one).is(ok); string(after.raw) != string(before.raw) || after.etag() != before.etag() {
			c.t.Errorf("%s came back as %s", before.raw, after.raw)
		}
		if l := c.list(in2(at)); l.TotalElements != 1 {
			c.t.Errorf("%v came back", l)
		}
	})
}

func TestChildrenAreTheirTenants(t *testing.T) {
	eachKind(t, owner(t), func(c *client, _, at string, body map[string]any) {
		theirs := other(c.t)
		own, _ := stored(theirs, ana())
		id := fmt.Sprint(c.post(at, body).is(ok).object()["id"])
		kind := at[strings.LastIndexByte(at, '/')+1:]
		for _, base := range []string{at, own + "/" + kind} { // through the patient of another, and through one's own
			one := base + "/" + id
			for _, a := range []answer{theirs.get(one), theirs.patch(one, map[string]any{}), theirs.delete(one), theirs.delete(in2(one))} {
				a.is(missing)
			}
		}
		for _, a := range []answer{theirs.get(at), theirs.get(in2(at)), theirs.post(at, body), theirs.post(in2(at), namesOfV2(body))} {
			a.refused(missing, "patient_not_found")
		}
		if l := theirs.list(own + "/" + kind + "?active=all"); l.TotalElements != 0 {
			c.t.Errorf("another tenant sees %v", l)
		}
		second, _ := stored(c, ana())
		c.get(second + "/" + kind + "/" + id).is(missing) // another patient's
		c.get(at + "/" + id).is(ok)
	})
}

func TestChildrenNeedPermissions(t *testing.T) {
	c := newTenant(t)
	clerk := as(t, clerkKey(t, c))
	eachKind(t, c, func(c *client, _, at string, body map[string]any) {
		reader := *clerk
		reader.t = c.t
		one := at + "/" + fmt.Sprint(c.post(at, body).is(ok).object()["id"])
		for _, path := range []string{at, in2(at), one} {
			reader.get(path).is(ok)
			anyone(c.t).get(path).is(http.StatusUnauthorized)
		}
		for _, a := range []answer{
			reader.post(at, map[string]any{}), reader.post(in2(at), "["), reader.patch(one, map[string]any{}), reader.delete(one), reader.delete(in2(one)),
			reader.post("/v2/patient", map[string]any{}),
		} {
			a.refused(http.StatusForbidden, "permission_denied")
		}
	})
}

func TestChildrenAreRefusedInOrder(t *testing.T) {
	const nobody = "/v3/patient/9007199254740991"
	eachKind(t, owner(t), func(c *client, kind, at string, body map[string]any) {
		one := at + "/" + fmt.Sprint(c.post(at, body).is(ok).object()["id"])
		none, stale := nobody+"/"+kind, c.with("If-Match", `"7"`)
		wrong := map[string]any{"use": 7, "type": 7, "line1": 7}
		for _, path := range []string{none, in2(none)} {
			anyone(c.t).post(path, body).is(http.StatusUnauthorized)
			c.with("Content-Type", "text/plain").post(path, "x").is(http.StatusUnsupportedMediaType)
			c.post(path, wrong).faults()
			c.post(path, "{").refused(bad, "malformed_json")
			c.get(path + "?active=maybe").faults()
			c.get(path).refused(missing, "patient_not_found")
			stale.delete(path + "/" + one[len(at)+1:]).is(missing)
		}
		stale.patch(one, wrong).faults()
		stale.patch(one, map[string]any{}).refused(http.StatusPreconditionFailed, "version_mismatch")
		stale.delete(in2(one)).refused(http.StatusPreconditionFailed, "version_mismatch")
		for _, id := range []string{"x", "00000000-0000-0000-0000-000000000000", strings.ToUpper(one[len(at)+1:]) + "0", "%20", "1%2F2"} {
			c.get(at+"/"+id).refused(missing, kind+"_not_found")
			c.delete(in2(at)+"/"+id).refused(missing, kind+"_not_found")
		}
		for path, allow := range map[string]string{at: "GET, POST", one: "DELETE, GET, PATCH", in2(at): "GET, POST", in2(one): "DELETE"} {
			a := c.do("PROPFIND", path, nil)
			a.refused(http.StatusMethodNotAllowed, "method_not_allowed")
			got := slices.DeleteFunc(strings.Split(a.header.Get("Allow"), ", "), func(m string) bool { return m == "HEAD" || m == "OPTIONS" })
			slices.Sort(got)
			if strings.Join(got, ", ") != allow {
				c.t.Errorf("%s allows %v, want %s", path, got, allow)
			}
		}
	})
}

// Both interfaces name members as the request does.
func TestChildrenTellAllFaultsAtOnce(t *testing.T) {
	c := owner(t)
	at, _ := stored(c, ana())
	for target, want := range map[string][]string{
		at + "/identifier":      {"sourceName invalid_type", "value required", "activeUntil before_start", "Idempotency-Key invalid_key"},
		in2(at) + "/identifier": {"source_name invalid_type", "value required", "active_until before_start", "Idempotency-Key invalid_key"},
	} {
		body := map[string]any{"sourceName": 7, "activeFrom": "2020-01-02", "activeUntil": "2020-01-01T23:00:00Z"}
		if strings.HasPrefix(target, "/v2") {
			body = namesOfV2(body)
		}
		if diff := cmp.Diff(want, c.with("Idempotency-Key", strings.Repeat("k", 256)).post(target, body).faults()); diff != "" {
			t.Errorf("%s: %s", target, diff)
		}
	}
}

func TestEveryAccessToAChildLeavesOneRecord(t *testing.T) {
	for kind, body := range children() {
		t.Run(kind, func(t *testing.T) {
			c := newTenant(t)
			path, p := stored(c, ana())
			at := path + "/" + kind
			once := c.with("Idempotency-Key", key(t))
			made := once.post(at, body).is(ok)
			if once.post(at, body).is(ok).header.Get("Idempotent-Replayed") == "" {
				t.Fatal("no repeat")
			}
			one := at + "/" + fmt.Sprint(made.object()["id"])
			c.post(at, map[string]any{"use": "nowhere"}).is(bad)
			c.get(one).is(ok)
			c.get(in2(at)).is(ok)
			c.patch(one, map[string]any{}).is(ok)
			c.with("If-Match", `"9"`).patch(one, map[string]any{}).is(http.StatusPreconditionFailed)
			c.get(at + "/x").is(missing)
			c.delete(in2(one)).is(ok)
			c.get(one).is(missing)
			c.delete(in2(one)).is(missing)
			c.delete(path).is(ok)
			c.get(at).is(missing)
			c.post(in2(at), namesOfV2(body)).is(missing)
			want := []string{
				"patient.create success", kind + ".create success", kind + ".read success", kind + ".list success", kind + ".update success", kind + ".update failure",
				kind + ".read failure", kind + ".delete success", kind + ".read failure", kind + ".delete failure", "patient.delete success",
				kind + ".list failure", kind + ".create failure",
			}
			of := trail + "?patientId=" + fmt.Sprint(p.ID)
			eventually(t, 10*time.Second, func() bool { return len(recordsAt(c, of)) >= len(want) })
			records := recordsAt(c, of)
			if diff := cmp.Diff(want, told(records)); diff != "" {
				t.Error(diff)
			}
			if records[1].TraceID != made.header.Get("Trace-Id") || records[1].Actor.Type != "api_key" {
				t.Errorf("the record of the create: %+v", records[1])
			}
			if v := verify(c); !v.Intact {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestAnIdentifierWithoutAuthorityIsTheTenantsOwn(t *testing.T) {
	c := owner(t)
	at, _ := stored(c, ana())
	own := c.get("/v2/tenant").is(ok).object()
	got := c.post(in2(at)+"/identifier", map[string]any{"value": "7"}).is(created).object()
	for name, want := range map[string]any{
		"type": "Unknown", "source_name": "Unknown", "authority_organization_id": own["id"], "authority_organization_name": own["name"],
		"authority_external_system_id": "", "active_from": "", "active_until": "", "active": true,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if theirs := c.post(at+"/identifier", map[string]any{"value": "7", "authorityExternalSystemName": "S"}).is(ok).object(); theirs["authorityOrganizationId"] != "" {
		t.Errorf("an authority that was given is completed: %v", theirs)
	}
}

func TestTheSameIdentifierTwiceOnOnePatient(t *testing.T) {
	c := owner(t)
	path, _ := stored(c, ana())
	at, body := path+"/identifier", children()["identifier"]
	keyed := c.with("Idempotency-Key", key(t))
	first := keyed.post(at, body).is(ok)
	c.post(at, body).refused(http.StatusConflict, "identifier_exists")
	c.post(in2(at), namesOfV2(body)).refused(http.StatusConflict, "identifier_exists")
	keyed.post(at, body).is(ok)
	body["value"] = "8"
	second := c.post(at, body).is(ok).object()
	c.patch(at+"/"+fmt.Sprint(second["id"]), map[string]any{"value": "00412967"}).refused(http.StatusConflict, "identifier_exists")
	body["value"] = "00412967"
	elsewhere, _ := stored(c, ana())
	c.post(elsewhere+"/identifier", body).is(ok)
	past := maps.Clone(body)
	past["activeUntil"] = "2020-01-01"
	c.post(at, past).is(ok)
	c.delete(at + "/" + fmt.Sprint(first.object()["id"])).is(ok)
	c.post(at, body).is(ok)

	var made, refused sync.Map
	var wait sync.WaitGroup
	body["value"] = "9"
	for i := range 12 {
		wait.Go(func() {
			target, of := at, body
			if i%2 == 0 {
				target, of = in2(at), namesOfV2(body)
			}
			switch a := c.post(target, of); a.status {
			case ok, created:
				made.Store(i, true)
			case http.StatusConflict:
				refused.Store(i, true)
			default:
				t.Errorf("answered %d: %s", a.status, a.raw)
			}
		})
	}
	wait.Wait()
	if n := lengthOf(&made); n != 1 || lengthOf(&refused) != 11 {
		t.Errorf("%d of twelve at once were made", n)
	}
}

func lengthOf(m *sync.Map) (n int) {
	m.Range(func(any, any) bool { n++; return true })
	return n
}

func TestChildrenUnderAKey(t *testing.T) {
	eachKind(t, owner(t), func(c *client, _, at string, body map[string]any) {
		for target, of := range map[string]map[string]any{at: body, in2(at): namesOfV2(body)} {
			keyed := c.with("Idempotency-Key", key(c.t))
			first := keyed.post(target, of)
			id := fmt.Sprint(first.object()["id"])
			c.patch(at+"/"+id, map[string]any{"use": "home", "type": "previous"}).is(ok)
			again := keyed.post(target, of).is(first.status)
			if string(again.raw) != string(first.raw) || again.header.Get("Location") != first.header.Get("Location") || again.etag() != first.etag() {
				c.t.Errorf("the repeat got %s, the first %s", again.raw, first.raw)
			}
			if first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" {
				c.t.Error("Idempotent-Replayed must stand on the repeat alone")
			}
			keyed.post(target, `{"value":"(207) 555-0143"}`).is4xx()
			second, _ := stored(c, ana())
			keyed.post(strings.Replace(target, strings.Split(at, "/")[3], strings.Split(second, "/")[3], 1), of).refused(http.StatusUnprocessableEntity, "idempotency_key_reused")
			c.delete(at + "/" + id).is(ok)
		}
		if n := c.list(at + "?active=all").TotalElements; n != 2 {
			c.t.Errorf("%d were made by two", n)
		}
		keyed := c.with("Idempotency-Key", key(c.t))
		var wait sync.WaitGroup
		for range 12 {
			wait.Go(func() {
				if a := keyed.post(at, body); a.status != ok && a.status != http.StatusConflict {
					c.t.Errorf("answered %d: %s", a.status, a.raw)
				}
			})
		}
		wait.Wait()
		if n := c.list(at).TotalElements; n != 1 {
			c.t.Errorf("%d were made under one key", n)
		}
	})
}

// is4xx fails unless the answer is a refusal of what the client did.
func (a answer) is4xx() {
	a.t.Helper()
	if a.status < 400 || a.status >= 500 {
		a.t.Errorf("answered %d: %s", a.status, a.raw)
	}
}

func TestChildrenArePaged(t *testing.T) {
	eachKind(t, owner(t), func(c *client, kind, at string, body map[string]any) {
		var ids []any
		for i := range 7 {
			if kind == "identifier" {
				body["value"] = fmt.Sprint("v", i)
			}
			ids = append(ids, c.post(at, body).is(ok).object()["id"])
		}
		c.delete(at + "/" + fmt.Sprint(ids[3])).is(ok)
		active := slices.Delete(slices.Clone(ids), 3, 4)
		for query, want := range map[string][]any{"?size=3": active, "?size=3&active=all": ids, "?size=3&active=false": ids[3:4], "?size=6": active} {
			for _, base := range []string{at, in2(at)} {
				var walked []any
				for next := base + query; next != ""; {
					a := c.get(next).is(ok)
					var l childList
					a.into(&l)
					for _, child := range l.Content {
						walked = append(walked, child["id"])
					}
					if l.TotalElements != int64(len(want)) {
						c.t.Errorf("%s tells of %d, want %d", next, l.TotalElements, len(want))
					}
					if next = ""; a.header.Get("Link") != "" {
						next = nextOf(c.t, a)
					}
				}
				if diff := cmp.Diff(want, walked); diff != "" {
					c.t.Errorf("%s%s: %s", base, query, diff)
				}
			}
		}
		if l := c.list(at + "?page=1&size=4"); len(l.Content) != 2 || l.Content[0]["id"] != active[4] || l.Page != 1 || l.Size != 4 {
			c.t.Errorf("the second page: %v", l)
		}
	})
}

func TestChangesOfAChildAtTheSameTimeAllHappen(t *testing.T) {
	eachKind(t, owner(t), func(c *client, _, at string, body map[string]any) {
		one := at + "/" + fmt.Sprint(c.post(at, body).is(ok).object()["id"])
		changes := []map[string]any{{"line2": "5", "use": "work", "type": "previous"}, {"line2": "6", "use": "home", "type": "preferred"}}
		var wait sync.WaitGroup
		for i := range 10 {
			wait.Go(func() {
				if a := c.patch(one, changes[i%2]); a.status != ok {
					c.t.Errorf("answered %d: %s", a.status, a.raw)
				}
			})
		}
		wait.Wait()
		c.get(one).is(ok)
	})
}

// Whoever copies an example out of the document gets what it says.
func TestExamplesOfPatientsRunAsTheyStand(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "gateway", "docs", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	example := func(path, method string) json.RawMessage {
		var operation struct {
			RequestBody struct {
				Content map[string]struct{ Example json.RawMessage }
			}
		}
		if err := json.Unmarshal(document.Paths[path][method], &operation); err != nil {
			return nil // the path has no such operation
		}
		return operation.RequestBody.Content["application/json"].Example
	}
	ran := 0
	for path := range document.Paths {
		if !strings.HasPrefix(path, "/v3/patient") && !strings.HasPrefix(path, "/v2/patient") {
			continue
		}
		for _, method := range []string{http.MethodPost, http.MethodPatch, http.MethodPut} {
			body := example(path, strings.ToLower(method))
			if body == nil {
				continue
			}
			t.Run(method+" "+path, func(t *testing.T) {
				c := owner(t)
				at, _ := stored(c, ana())
				target := strings.NewReplacer("{patientId}", at[len(patients)+1:], "{id}", at[len(patients)+1:]).Replace(path)
				if list, child := strings.CutSuffix(target, "/{childId}"); child {
					made := c.post(list, []byte(example(strings.TrimSuffix(path, "/{childId}"), "post"))).object()
					target = list + "/" + fmt.Sprint(made["id"])
				}
				if a := c.do(method, target, []byte(body)); a.status != ok && a.status != created {
					t.Errorf("answered %d: %s", a.status, a.raw)
				}
			})
			ran++
		}
	}
	if ran < 17 { // a patient and documents in both interfaces, and four kinds of children; v3 changes all but the first
		t.Errorf("only %d examples", ran)
	}
}
