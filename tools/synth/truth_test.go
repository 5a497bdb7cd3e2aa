package synth

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// plain is every field that errors can happen in, as values; and all the rest of a record, which they leave alone.
func plain(r *Record) (fields map[string]string, rest Record) {
	fields = map[string]string{}
	for _, f := range []string{
		firstName, middleName, lastName, suffix, dob, sexAtBirth, gender, race, ethnicity, language, last4SSN,
		address, line1, line2, city, stateField, postalCode, phone, email, identifier,
	} {
		fields[f] = r.value(f)
	}
	rest = r.clone()
	rest.Errors = nil
	return fields, rest
}

// What is claimed happened, and what happened is claimed: copies with errors are held against the same copies without.
func TestErrorsAreWhatTheySay(t *testing.T) {
	clean, wrong := busy(), busy()
	clean.Intensity, clean.Original, wrong.Intensity, wrong.Original = 0, 0, 2, 1
	before, after := collect(with(t, clean).Records()), collect(with(t, wrong).Records())
	if len(before) != len(after) {
		t.Fatalf("%d records without errors, %d with", len(before), len(after))
	}
	harmed := 0
	for i := range after {
		was, is := before[i], after[i]
		if was.Person != is.Person || was.Copy != is.Copy || !slices.Equal(was.Events, is.Events) || len(was.Errors) > 0 {
			t.Fatalf("record %d is of another person, or lived otherwise, or was wrong before", i)
		}
		if len(is.Errors) == 0 {
			if is.Errors = was.Errors; !same(was, is) {
				t.Fatalf("nothing is said to be wrong, but %+v became %+v", was, is)
			}
			continue
		}
		harmed++
		checkClaims(t, &was, &is)
	}
	if harmed < len(after)/2 {
		t.Errorf("at twice the rates, only %d of %d records are wrong", harmed, len(after))
	}
}

func same(a, b Record) bool {
	if len(a.Contacts) == 0 && len(b.Contacts) == 0 {
		a.Contacts, b.Contacts = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

func checkClaims(t *testing.T, was, is *Record) {
	t.Helper()
	old, _ := plain(was)
	now, _ := plain(is)
	claimed := map[string]bool{}
	for _, e := range is.Errors {
		fields, kind, _ := strings.Cut(e, ":")
		changed := false
		for _, f := range strings.Split(fields, ",") {
			claimed[f] = true
			changed = changed || old[f] != now[f]
		}
		if !changed {
			t.Errorf("%s: %s is what it was", kind, fields)
		}
	}
	for f := range old {
		part := slices.Contains([]string{line1, line2, city, stateField, postalCode}, f)
		if f == address && (claimed[line1] || claimed[city]) || claimed[address] && part {
			continue
		}
		if old[f] != now[f] && !claimed[f] {
			t.Errorf("%s became another, and nobody says so: %v", f, is.Errors)
		}
	}
	if !reflect.DeepEqual(was.Aliases, is.Aliases) || was.Person != is.Person || len(was.Identifiers) != len(is.Identifiers) {
		t.Errorf("an error reached what errors do not happen in: %v", is.Errors)
	}
}

// What differs between the records of a person without errors has happened, or become known.
func TestLivesAreWhatTheySay(t *testing.T) {
	o := busy()
	o.People, o.Intensity, o.Original = 20_000, 0, 0
	why := map[string][]string{
		firstName: {eventName}, lastName: {eventMarriage, eventDivorce, eventName}, middleName: {eventMarriage, "known:middleName"},
		gender: {"known:gender"}, race: {"known:race"}, ethnicity: {"known:ethnicity"}, language: {"known:preferredLanguage"}, last4SSN: {"known:last4Ssn"},
		address: {eventMove, "known:address"}, line1: {eventMove, "known:address"}, line2: {eventMove, "known:address"}, city: {eventMove, "known:address"},
		stateField: {eventMove, "known:address"}, postalCode: {eventMove, "known:address"},
		phone: {eventPhone, eventMove, "known:mobile", "known:landline"}, email: {eventMail, "known:email"},
		dob: nil, sexAtBirth: nil, suffix: nil,
	}
	var first Record
	happened := map[string]int{}
	for r := range with(t, o).Records() {
		if r.Copy == 0 {
			first = r
			continue
		}
		for _, e := range r.Events {
			happened[e]++
		}
		if r.Person != first.Person {
			t.Fatalf("a copy of %d follows the first record of %d", r.Person, first.Person)
		}
		for f, reasons := range why {
			if r.value(f) != first.value(f) && !slices.ContainsFunc(reasons, func(e string) bool { return slices.Contains(r.Events, e) }) {
				t.Errorf("%s changed, and all that happened is %v", f, r.Events)
			}
		}
		checkAliases(t, &first, &r)
	}
	for _, event := range []string{
		eventMove, eventMarriage, eventDivorce, eventPhone, eventMail, eventInsurance, eventName, eventSource,
		"known:middleName", "known:address", "known:mobile", "known:landline", "known:email", "known:last4Ssn", "known:member", "known:alias",
	} {
		if happened[event] == 0 {
			t.Errorf("%s never happened", event)
		}
	}
}

// checkAliases: a name that a record has beside the current one was the person's name.
func checkAliases(t *testing.T, first, r *Record) {
	t.Helper()
	for _, a := range r.Aliases {
		if a.LastName == "" || a.LastName == r.LastName && a.FirstName == "" {
			t.Errorf("%+v is no other name than %s", a, r.LastName)
		}
		onlyMarried := slices.Contains(r.Events, eventMarriage) && !slices.Contains(r.Events, eventDivorce) && !slices.Contains(r.Events, eventName)
		if a.Type == "maiden" && onlyMarried && len(r.Aliases) == 1 && len(first.Aliases) == 0 &&
			a.LastName != first.LastName && r.LastName != first.LastName {
			t.Errorf("was called %s before marriage, the alias says %s", first.LastName, a.LastName)
		}
	}
}

func TestEveryErrorHappens(t *testing.T) {
	o := Options{Seed: 5, People: 50_000, Duplicated: 1, Copies: 1, Intensity: 3}
	seen := map[string]int{}
	for r := range with(t, o).Records() {
		for _, e := range r.Errors {
			seen[e]++
		}
	}
	for _, r := range Rates() {
		kinds := []string{r.Kind}
		if r.Kind == "typing" {
			kinds = []string{"substitution", "insertion", "deletion", "transposition"}
		}
		for _, kind := range kinds {
			if seen[r.Fields+":"+kind] == 0 {
				t.Errorf("%s never happened to %s", kind, r.Fields)
			}
			delete(seen, r.Fields+":"+kind)
		}
	}
	if len(seen) > 0 {
		t.Errorf("errors without a rate: %v", seen)
	}
}

func TestErrorsHappenAsOftenAsTheirRates(t *testing.T) {
	o := Options{Seed: 6, People: 40_000, Duplicated: 1, Copies: 1, Intensity: 1}
	n := 0
	seen := map[string]int{}
	for r := range with(t, o).Records() {
		if r.Copy > 0 {
			n++
			for _, e := range r.Errors {
				seen[e]++
			}
		}
	}
	for _, r := range Rates() { // errors that can happen to every record
		switch r.Fields + ":" + r.Kind {
		case "sexAtBirth:missing", "dob:missing", "dob:offByOne", "dob:digit", "identifier:digit", "dob:placeholder":
			near(t, r.Fields+":"+r.Kind, seen[r.Fields+":"+r.Kind], n, r.Probability)
		}
	}
}

func TestIntensityScalesErrors(t *testing.T) {
	count := func(intensity float64) (n int) {
		for r := range with(t, Options{Seed: 6, People: 3000, Duplicated: 1, Intensity: intensity}).Records() {
			n += len(r.Errors)
		}
		return n
	}
	none, half, once, twice := count(0), count(0.5), count(1), count(2)
	if none != 0 || half < once*4/10 || half > once*6/10 || twice < once*16/10 || twice > once*24/10 {
		t.Errorf("errors at 0, 0.5, 1, 2: %d, %d, %d, %d", none, half, once, twice)
	}
}
