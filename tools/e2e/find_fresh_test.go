package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// seeker asks for one patient again and again.
type seeker struct {
	*client
	id int64
}

// sees fails unless a find that is asked now does, or does not, find the patient for what is asked.
func (s seeker) sees(want bool, what string, q question) {
	s.t.Helper()
	f := s.find(q)
	seen := slices.ContainsFunc(f.Content, func(m match) bool { return m.PatientID == s.id && (f.Exact || m.agrees()) })
	if seen != want {
		s.t.Errorf("%s: found is %t", what, seen)
	}
}

// agrees reports whether something that was asked speaks for it. Who is shown at any score may have nothing that does.
func (m match) agrees() bool {
	of := []string{"firstName", "lastName", "dob", "last4Ssn", "area", "street", "phone", "email", "identifier"}
	return slices.ContainsFunc(m.Evidence, func(e evidence) bool { return slices.Contains(of, e.Field) && *e.Weight > 0 })
}

// exactly is a question whose answer is all that is so.
func exactly(name, value string) question { return question{name: value, "exact": "true"} }

// possibly is a question whose answer is all whom it might be.
func possibly(pairs ...string) question {
	q := question{"minScore": "0"}
	for i := 0; i < len(pairs); i += 2 {
		q[pairs[i]] = pairs[i+1]
	}
	return q
}

func TestAFindSeesWhatWasAnsweredBefore(t *testing.T) {
	c := newTenant(t)
	c.find(exactly("lastName", "Lima"))
	for i := range 20 { // others, whom nothing below is true of
		stored(c, map[string]any{"firstName": fmt.Sprintf("Bruno%d", i), "lastName": "Castro", "dob": fmt.Sprintf("1950-01-%02d", i+1)})
	}
	at, p := stored(c, ana())
	s := seeker{c, p.ID}
	s.sees(true, "a create", exactly("lastName", "Lima"))
	s.sees(true, "a create", possibly("firstName", "Ana", "lastName", "Lima"))

	c.patch(at, map[string]any{"lastName": "Quintanilha", "dob": "1981-03-01", "last4Ssn": "4711"}).is(ok)
	s.sees(false, "the name before a change", exactly("lastName", "Lima"))
	s.sees(false, "the name before a change", possibly("lastName", "Lima"))
	for name, value := range map[string]string{"lastName": "Quintanilha", "dob": "1981-03-01", "last4Ssn": "4711"} {
		s.sees(true, "a change of "+name, exactly(name, value))
		s.sees(true, "a change of "+name, possibly(name, value))
	}
	c.delete(at).is(ok)
	s.sees(false, "a delete", exactly("lastName", "Quintanilha"))
	s.sees(false, "a delete", possibly("lastName", "Quintanilha", "dob", "1981-03-01"))
	c.post(at+"/restore", nil).is(ok)
	s.sees(true, "a restore", exactly("lastName", "Quintanilha"))
	s.sees(true, "a restore", possibly("lastName", "Quintanilha", "dob", "1981-03-01"))

	c.put(at+"/deceased", map[string]any{"deceasedDate": "2020-01-01"}).is(ok)
	if f := c.find(exactly("lastName", "Quintanilha")); len(f.Content) != 1 || f.Content[0].Patient["deceased"] != true {
		t.Errorf("a death: %+v", f)
	}
	c.delete(at + "/deceased").is(ok)
	if f := c.find(exactly("lastName", "Quintanilha")); len(f.Content) != 1 || f.Content[0].Patient["deceased"] != false {
		t.Errorf("a death undone: %+v", f)
	}
	v2 := c.post("/v2/patient", map[string]any{"firstName": "Ana", "lastName": "Vasconcelos", "dob": "1980-02-29", "sex_at_birth": "unknown"}).is(created).object()
	if f := c.find(exactly("lastName", "vasconcelos")); len(f.Content) != 1 || fmt.Sprint(f.Content[0].PatientID) != fmt.Sprint(v2["patientId"]) {
		t.Errorf("a create in v2: %+v", f)
	}
}

// TestAFindSeesEveryChangeOfWhatHangsOnAPatient creates, changes and deactivates one child of each kind.
func TestAFindSeesEveryChangeOfWhatHangsOnAPatient(t *testing.T) {
	for kind, test := range map[string]struct {
		child, change map[string]any
		before, after []question
	}{
		"address": {
			map[string]any{"line1": "12 Harbour Street", "city": "Portland", "state": "ME", "postalCode": "04101"},
			map[string]any{"line1": "9 Elm Road", "postalCode": "04473"},
			[]question{exactly("line1", "12 harbour street"), exactly("postalCode", "04101"), possibly("line1", "12 Harbour Street", "postalCode", "04101")},
			[]question{exactly("line1", "9 elm road"), exactly("postalCode", "04473"), possibly("line1", "9 Elm Road", "postalCode", "04473")},
		},
		"contact": {
			map[string]any{"value": "(207) 555-0142"},
			map[string]any{"value": "+1 617 555 0199"},
			[]question{exactly("phone", "+12075550142"), possibly("phone", "207-555-0142")},
			[]question{exactly("phone", "617.555.0199"), possibly("phone", "617 555 0199")},
		},
		"alias": {
			map[string]any{"type": "maiden", "lastName": "Quintanilha"},
			map[string]any{"lastName": "Vasconcelos"},
			[]question{possibly("lastName", "Quintanilha")},
			[]question{possibly("lastName", "Vasconcelos")},
		},
		"identifier": {
			map[string]any{"type": "MRN", "value": "MRN-00412967"},
			map[string]any{"value": "MRN-77"},
			[]question{exactly("identifier", "mrn00412967"), possibly("identifier", "MRN-00412967")},
			[]question{exactly("identifier", "mrn77"), possibly("identifier", "MRN-77")},
		},
	} {
		t.Run(kind, func(t *testing.T) {
			c := newTenant(t)
			at, p := stored(c, ana())
			stored(c, map[string]any{"firstName": "Bruno", "lastName": "Castro", "dob": "1950-01-01"})
			s := seeker{c, p.ID}
			all := func(want bool, what string, list []question) {
				t.Helper()
				for _, q := range list {
					s.sees(want, fmt.Sprint(what, " ", q), q)
				}
			}
			all(false, "before there is one", test.before)
			child := at + "/" + kind + "/" + fmt.Sprint(c.post(at+"/"+kind, test.child).is(ok).object()["id"])
			all(true, "created", test.before)
			c.patch(child, test.change).is(ok)
			all(false, "before its change", test.before)
			all(true, "changed", test.after)
			c.delete(child).is(ok)
			all(false, "deactivated", test.after)
			again := fmt.Sprint(c.post(in2(at)+"/"+kind, namesOfV2(test.child)).is(created).object()["id"])
			all(true, "created in v2", test.before)
			c.delete(at).is(ok)
			all(false, "deleted with the patient", test.before)
			c.post(at+"/restore", nil).is(ok)
			all(true, "restored with the patient", test.before)
			c.delete(in2(at) + "/" + kind + "/" + again).is(ok)
			all(false, "deactivated in v2", test.before)
		})
	}
}

func TestAFindSeesAnImport(t *testing.T) {
	c := newTenant(t)
	c.find(exactly("lastName", "Vasconcelos"))
	a, _ := c.with("Content-Type", "application/x-ndjson").ask(http.MethodPost, patients+"/import", `{"ref":"1","firstName":"Ana","lastName":"Vasconcelos","dob":"1980-02-29",`+
		`"addresses":[{"line1":"12 Harbour Street","city":"Portland","state":"ME","postalCode":"04101"}],"contacts":[{"value":"(207) 555-0142"}],`+
		`"aliases":[{"type":"maiden","lastName":"Quintanilha"}],"identifiers":[{"type":"MRN","value":"MRN-77"}]}`+"\n"+
		`{"ref":"2","firstName":"Bruno","lastName":"Castro","dob":"1950-01-01"}`+"\n")
	var answered struct {
		Ref string
		ID  int64
	}
	if err := json.NewDecoder(bytes.NewReader(a.is(ok).raw)).Decode(&answered); err != nil || answered.Ref != "1" || answered.ID == 0 {
		t.Fatalf("%s, %v", a.raw, err)
	}
	s := seeker{c, answered.ID}
	for _, q := range []question{
		exactly("lastName", "vasconcelos"), exactly("line1", "12 harbour street"), exactly("phone", "+12075550142"), exactly("identifier", "mrn77"),
		possibly("lastName", "Quintanilha"), possibly("firstName", "Ana", "lastName", "Vasconselos", "dob", "1980-02-29"),
	} {
		s.sees(true, fmt.Sprint("an import ", q), q)
	}
}

// TestNamesAndNumbersCountWhileTheyHold has some that do not yet, or no more.
func TestNamesAndNumbersCountWhileTheyHold(t *testing.T) {
	c := newTenant(t)
	at, p := stored(c, ana())
	s := seeker{c, p.ID}
	future, past := "2999-01-01", "1999-01-01"
	c.post(at+"/alias", map[string]any{"lastName": "Vasconcelos", "effectiveTo": past}).is(ok)
	c.post(at+"/alias", map[string]any{"lastName": "Quintanilha", "effectiveFrom": future}).is(ok)
	c.post(at+"/alias", map[string]any{"lastName": "Montenegro", "effectiveFrom": past, "effectiveTo": future}).is(ok)
	c.post(at+"/identifier", map[string]any{"value": "one", "activeUntil": past}).is(ok)
	c.post(at+"/identifier", map[string]any{"value": "two", "activeFrom": future}).is(ok)
	c.post(at+"/identifier", map[string]any{"value": "three", "activeFrom": past, "activeUntil": future}).is(ok)
	for name, holds := range map[string]bool{"Vasconcelos": false, "Quintanilha": false, "Montenegro": true} {
		s.sees(holds, name, possibly("lastName", name))
	}
	for value, holds := range map[string]bool{"one": false, "two": false, "three": true} {
		s.sees(holds, value, exactly("identifier", value))
		s.sees(holds, value, possibly("identifier", value))
	}
}

// TestNoFindIsStaleWhileManyCreate has several clients create as fast as they can, and ask at once for whom they created.
func TestNoFindIsStaleWhileManyCreate(t *testing.T) {
	c := newTenant(t)
	const clients, each = 8, 150
	began := time.Now()
	var stale, asked atomic.Int64
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			for i := range each {
				name := fmt.Sprintf("Client%c", 'a'+n) + strings.Repeat(string(rune('a'+i%26)), 3) + string(rune('a'+i/26))
				a := c.post(patients, map[string]any{"firstName": "Ana", "lastName": name, "dob": "1980-02-29"})
				if a.status != ok {
					t.Errorf("a create answered %d: %s", a.status, a.raw)
					return
				}
				var p shown
				a.into(&p)
				// by an exact find, and by one that is not: both at once would see each other's pull
				q := question{"lastName": name, "firstName": "Ana", "dob": "1980-02-29", "minScore": "0"} // they are all much alike
				if i%2 == 0 {
					delete(q, "minScore")
					q["exact"] = "true"
				}
				a = c.post(findV3, q.body())
				if a.status != ok {
					t.Errorf("a find answered %d: %s", a.status, a.raw)
					return
				}
				var f found
				a.into(&f)
				if asked.Add(1); !f.has(p.ID) {
					stale.Add(1)
				}
			}
		})
	}
	all.Wait()
	if stale.Load() > 0 || asked.Load() != clients*each {
		t.Errorf("%d of %d finds were stale", stale.Load(), asked.Load())
	}
	t.Logf("%.0f creates a second, each followed by a find", float64(asked.Load())/time.Since(began).Seconds())
}
