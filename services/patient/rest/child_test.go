package rest_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

const made3, made2 = http.StatusOK, http.StatusCreated

// status is what a POST of an interface answers.
func status(version string) int {
	if version == "v2" {
		return made2
	}
	return made3
}

// in3 is the path of v3 for a path of either interface.
func in3(at string) string { return "/v3" + strings.TrimPrefix(strings.TrimPrefix(at, "/v2"), "/v3") }

// What is made in one interface is the same record in the other.
func TestBothInterfacesShowTheSameChild(t *testing.T) {
	t.Parallel()
	each(t, func(s *service, kind, version, at, body string) {
		first := s.post(at, body).is(status(version))
		want := "/v3/patient/" + someone + "/" + kind + "/" + first.id()
		if first.header.Get("Location") != want || first.header.Get("ETag") != `"1"` || first.header.Get("Idempotent-Replayed") != "" {
			s.t.Errorf("headers %v, want a Location of %s", first.header, want)
		}
		read := s.get(want).is(http.StatusOK)
		if read.header.Get("ETag") != `"1"` {
			s.t.Errorf("ETag %q", read.header.Get("ETag"))
		}
		for of, shown := range map[string]string{"v3": read.body, "v2": first.body} {
			list := s.get("/" + of + "/patient/" + someone + "/" + kind).is(http.StatusOK)
			page := `{"content":[` + shown + `],"page":0,"size":50,"totalElements":1}`
			if list.header.Get("Link") != "" || (of == "v3" || version == "v2") && list.body != page {
				s.t.Errorf("%s lists\n%s\nwant\n%s", of, list.body, page)
			}
		}
		if version == "v3" && first.body != read.body {
			s.t.Errorf("made\n%s\nread\n%s", first.body, read.body)
		}
		told := []string{kind + ".create success " + someone, kind + ".read success " + someone, kind + ".list success " + someone, kind + ".list success " + someone}
		if diff := cmp.Diff(told, []string(*s.trail)); diff != "" {
			s.t.Error(diff)
		}
	})
}

func TestTheSameKeyGetsTheFirstAnswerAgain(t *testing.T) {
	t.Parallel()
	each(t, func(s *service, kind, version, at, body string) {
		key := headers{"Idempotency-Key": "k"}
		first := s.do(http.MethodPost, at, body, key).is(status(version))
		if got := s.keys["tenant/key/k"].Status; int(got) != status(version) {
			s.t.Errorf("recorded as answered %d", got)
		}
		s.delete(in3(first.header.Get("Location"))).is(http.StatusOK)
		*s.clock = s.clock.AddDate(0, 0, 1)
		again := s.do(http.MethodPost, at, body, key).is(status(version))
		if again.body != first.body || again.header.Get("Idempotent-Replayed") != "true" {
			s.t.Errorf("again %v\n%s\nfirst\n%s", again.header, again.body, first.body)
		}
		for _, header := range []string{"Location", "ETag"} {
			if again.header.Get(header) != first.header.Get(header) {
				s.t.Errorf("%s %q, first %q", header, again.header.Get(header), first.header.Get(header))
			}
		}
		otherVersion := map[string]string{"v2": "v3", "v3": "v2"}[version]
		for name, other := range map[string]answer{
			"another body":      s.do(http.MethodPost, at, strings.Replace(body, `"`, ` "`, 1), key),
			"another patient":   s.do(http.MethodPost, strings.Replace(at, someone, "524288999", 1), body, key),
			"another interface": s.do(http.MethodPost, "/"+otherVersion+"/patient/"+someone+"/"+kind, bodies()[kind][otherVersion], key),
			"another kind":      s.do(http.MethodPost, strings.Replace(at, kind, map[bool]string{true: "contact", false: "address"}[kind == "address"], 1), body, key),
		} {
			if other.status < 400 {
				s.t.Errorf("%s is answered %d: %s", name, other.status, other.body)
			} else if name != "another kind" {
				other.refused(http.StatusUnprocessableEntity, "idempotency_key_reused")
			}
		}
	})
}

func TestIDsThatAreNone(t *testing.T) {
	t.Parallel()
	each(t, func(s *service, kind, version, at, body string) {
		id := s.post(at, body).is(status(version)).id()
		for _, other := range []string{
			"nothing", "0", uuid.Nil.String(), uuid.NewString(), strings.ToUpper(id), strings.ReplaceAll(id, "-", ""), "{" + id + "}", "urn:uuid:" + id, id + "%20", "%00",
		} {
			if other == strings.ToUpper(id) && other == id {
				continue
			}
			*s.trail = nil
			s.delete(at+"/"+other).refused(http.StatusNotFound, kind+"_not_found")
			want := []string{kind + ".delete failure " + someone}
			if version == "v3" {
				s.get(at+"/"+other).refused(http.StatusNotFound, kind+"_not_found")
				s.patch(at+"/"+other, `{}`).refused(http.StatusNotFound, kind+"_not_found")
				want = append(want, kind+".read failure "+someone, kind+".update failure "+someone)
			}
			if diff := cmp.Diff(want, []string(*s.trail)); diff != "" {
				s.t.Errorf("%q: %s", other, diff)
			}
		}
		for _, patient := range []string{nobody, "0", "-1", "01", "abc", "9007199254740992", "%20"} {
			*s.trail = nil
			of := strings.Replace(at, someone, patient, 1)
			s.get(of).refused(http.StatusNotFound, "patient_not_found")
			s.post(of, body).refused(http.StatusNotFound, "patient_not_found")
			s.delete(of + "/" + id).is(http.StatusNotFound)
			about := "nobody"
			if patient == nobody {
				about = nobody
			}
			want := []string{kind + ".list failure " + about, kind + ".create failure " + about, kind + ".delete failure " + about}
			if diff := cmp.Diff(want, []string(*s.trail)); diff != "" {
				s.t.Errorf("%q: %s", patient, diff)
			}
		}
		s.delete(strings.Replace(at, someone, "524288999", 1) + "/" + id).is(http.StatusNotFound) // another patient's
		s.get(in3(at) + "/" + id).is(http.StatusOK)
	})
}

func TestTheOrderOfRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(s *service, kind, version, at, body string) {
		id := s.post(at, body).is(status(version)).id()
		*s.trail = nil
		stale, none := headers{"If-Match": `"7"`}, strings.Replace(at, someone, nobody, 1)
		reader, writer := s.may(principal.PatientRead), s.may(principal.PatientWrite)
		reader.post(at, `{"use":7}`).refused(http.StatusForbidden, "permission_denied")
		writer.get(at+"?size=0").refused(http.StatusForbidden, "permission_denied")
		reader.delete(none+"/"+id).refused(http.StatusForbidden, "permission_denied")
		s.may(principal.All&^principal.PatientWrite).delete(at+"/"+id).refused(http.StatusForbidden, "permission_denied")
		s.do(http.MethodPost, at, body, headers{"Content-Type": "text/plain"}).is(http.StatusUnsupportedMediaType)
		s.post(none, `[]`).refused(http.StatusBadRequest, "not_an_object")
		s.post(none, "").refused(http.StatusBadRequest, "body_required")
		s.post(none, `{"value":7,"line1":7,"type":"x","effectiveFrom":"x"}`).faults()
		s.get(none + "?size=0").faults()
		if len(*s.trail) != 0 {
			s.t.Errorf("refusals before the patient is looked for are told: %v", *s.trail)
		}
		s.do(http.MethodDelete, none+"/"+id, "", stale).is(http.StatusNotFound)
		s.do(http.MethodDelete, at+"/"+id, "", stale).refused(http.StatusPreconditionFailed, "version_mismatch")
		if version == "v3" {
			reader.patch(at+"/"+id, `{"use":7}`).refused(http.StatusForbidden, "permission_denied")
			writer.get(at+"/"+id).refused(http.StatusForbidden, "permission_denied")
			s.do(http.MethodPatch, none+"/"+id, `{"type":7,"use":7,"system":7}`, stale).faults()
			s.do(http.MethodPatch, none+"/"+id, `{}`, stale).is(http.StatusNotFound)
			s.do(http.MethodPatch, at+"/"+id, `{}`, stale).refused(http.StatusPreconditionFailed, "version_mismatch")
		}
		s.do(http.MethodDelete, at+"/"+id, "", headers{"If-Match": `"1"`}).is(http.StatusOK)
	})
}

func TestChangesMoveTheTagAndDeactivatingHides(t *testing.T) {
	t.Parallel()
	patches := map[string]string{
		"address": `{"line2":"n/a","use":"Unknown","city":null}`, "contact": `{"use":"n/a","system":null}`,
		"alias": `{"lastName":"n/a","effectiveTo":"n/a","alias":null}`, "identifier": `{"type":"n/a","authorityExternalSystemName":"n/a","activeUntil":"n/a","value":null}`,
	}
	each(t, func(s *service, kind, version, at, body string) {
		id := s.post(at, body).is(status(version)).id()
		one := in3(at) + "/" + id
		before := s.get(one).object()
		changed := s.do(http.MethodPatch, one, patches[kind], headers{"If-Match": `"1"`}).is(http.StatusOK)
		if changed.header.Get("ETag") != `"2"` || s.get(one).body != changed.body {
			s.t.Errorf("ETag %q of %s", changed.header.Get("ETag"), changed.body)
		}
		var differ []string
		for name, value := range changed.object() {
			if value != before[name] {
				differ = append(differ, name)
			}
		}
		slices.Sort(differ)
		want := map[string][]string{
			"address": {"line2", "use"}, "contact": {"use"}, "alias": {"effectiveTo", "lastName"},
			"identifier": {"activeUntil", "authorityExternalSystemName", "type"},
		}[kind]
		if diff := cmp.Diff(want, differ); diff != "" {
			s.t.Errorf("%s: %s", changed.body, diff)
		}
		s.do(http.MethodPatch, one, `{}`, headers{"If-Match": `"1"`}).refused(http.StatusPreconditionFailed, "version_mismatch")
		if got := s.delete(at + "/" + id).is(http.StatusOK).object(); len(got) != 1 || got["message"] != "The "+kind+" is deactivated." {
			s.t.Errorf("deactivated: %v", got)
		}
		s.delete(at+"/"+id).refused(http.StatusNotFound, kind+"_not_found")
		s.get(one).refused(http.StatusNotFound, kind+"_not_found")
		s.patch(one, `{}`).refused(http.StatusNotFound, kind+"_not_found")
		for query, count := range map[string]int{"": 0, "?active=true": 0, "?active=False": 1, "?active=ALL": 1} {
			got := s.get(at + query).is(http.StatusOK).object()
			content, _ := got["content"].([]any)
			if len(content) != count || got["totalElements"] != float64(count) {
				s.t.Errorf("%q lists %v", query, got)
			} else if count == 1 && content[0].(map[string]any)["active"] != false {
				s.t.Errorf("%q shows it active", query)
			}
		}
	})
}

func TestPages(t *testing.T) {
	t.Parallel()
	each(t, func(s *service, kind, version, at, body string) {
		var ids []string
		for i := range 5 {
			one := strings.Replace(strings.Replace(body, "00412967", "0041296"+strconv.Itoa(i), 1), "0142", "014"+strconv.Itoa(i), 1)
			ids = append(ids, s.post(at, one).is(status(version)).id())
		}
		s.delete(at + "/" + ids[3]).is(http.StatusOK)
		walk := func(target string) (walked []string, pages int) {
			for target != "" {
				a := s.get(target).is(http.StatusOK)
				for _, child := range a.object()["content"].([]any) {
					walked = append(walked, child.(map[string]any)["id"].(string))
				}
				if a.object()["page"] != float64(pages) || a.object()["size"] != float64(2) {
					s.t.Errorf("page %d: %s", pages, a.body)
				}
				target, pages = a.next(), pages+1
				if target != "" && !strings.HasPrefix(target, at+"?") {
					s.t.Errorf("the link leads to %s", target)
				}
			}
			return walked, pages
		}
		if got, pages := walk(at + "?active=All&size=2"); !slices.Equal(got, ids) || pages != 3 {
			s.t.Errorf("walked %v in %d pages, of %v", got, pages, ids)
		}
		if got, pages := walk(at + "?size=2"); !slices.Equal(got, slices.Delete(slices.Clone(ids), 3, 4)) || pages != 2 {
			s.t.Errorf("walked %v in %d pages, of %v without one", got, pages, ids)
		}
		if got := s.get(at + "?page=2&size=2&active=all").is(http.StatusOK); got.next() != "" || strings.Count(got.body, ids[4]) != 1 || strings.Contains(got.body, ids[3]) {
			s.t.Errorf("the third page: %s", got.body)
		}
		if got := s.get(at + "?page=9").is(http.StatusOK).object(); len(got["content"].([]any)) != 0 || got["totalElements"] != float64(4) {
			s.t.Errorf("past the end: %v", got)
		}
		// eyJhIjoieCIsInAiOjF9 is {"a":"x","p":1}: a cursor of another list.
		for query, want := range map[string][]string{
			"active=maybe": {"active invalid_value"}, "active=": {"active invalid_value"}, "active=1": {"active invalid_value"},
			"active=x&size=501&page=-1":            {"size out_of_range", "page out_of_range", "active invalid_value"},
			"after=nonsense":                       {"after invalid_cursor"},
			"after=eyJhIjoieCIsInAiOjF9":           {"after invalid_cursor"},
			"after=eyJhIjoieCIsInAiOjF9&active=no": {"after invalid_cursor", "active invalid_value"},
		} {
			if diff := cmp.Diff(want, s.get(at+"?"+query).faults()); diff != "" {
				s.t.Errorf("%s: %s", query, diff)
			}
		}
	})
}

func TestAListOfNoneIsAnEmptyPage(t *testing.T) {
	t.Parallel()
	each(t, func(s *service, _, _, at, _ string) {
		if got := s.get(at).is(http.StatusOK).body; got != `{"content":[],"page":0,"size":50,"totalElements":0}` {
			s.t.Error(got)
		}
	})
}

// What a header gets wrong is told together with what the body does.
func TestKeysThatAreNone(t *testing.T) {
	t.Parallel()
	each(t, func(s *service, _, version, at, body string) {
		for _, key := range []string{strings.Repeat("k", 256), "tab\tbed"} {
			if got := s.do(http.MethodPost, at, body, headers{"Idempotency-Key": key}).faults(); !slices.Equal(got, []string{"Idempotency-Key invalid_key"}) {
				s.t.Errorf("%q: %v", key, got)
			}
			if got := s.do(http.MethodPost, at, `{}`, headers{"Idempotency-Key": key}).faults(); len(got) < 2 || got[len(got)-1] != "Idempotency-Key invalid_key" {
				s.t.Errorf("%q with an empty body: %v", key, got)
			}
		}
		s.do(http.MethodPost, at, body, headers{"Idempotency-Key": strings.Repeat("~", 255)}).is(status(version))
	})
}

// A refusal of the store reaches the caller as it is.
func TestConflicts(t *testing.T) {
	t.Parallel()
	for version, body := range bodies()["identifier"] {
		s := serve(t)
		at := "/" + version + "/patient/" + someone + "/identifier"
		id := s.post(at, body).is(status(version)).id()
		s.identifiers.refuse = fault.New(fault.Conflict, "identifier_exists", "The patient has this identifier.")
		s.post(at, body).refused(http.StatusConflict, "identifier_exists")
		s.patch(in3(at)+"/"+id, `{"value":"x"}`).refused(http.StatusConflict, "identifier_exists")
	}
}
