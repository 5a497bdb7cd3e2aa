package linkage_test

import (
	"sync"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// parser reads its tables once for all tests.
var parser = sync.OnceValue(linkage.NewParser)

// made is a person whose record says what is given, by the names that questions use.
func made(fields map[string]string) linkage.Person {
	d := demographics(fields)
	return parser().Person(&d, nil)
}

func demographics(fields map[string]string) linkage.Demographics {
	d := linkage.Demographics{}
	var address linkage.Address
	for name, value := range fields {
		switch name {
		case "first":
			d.FirstName = value
		case "middle":
			d.MiddleName = value
		case "last":
			d.LastName = value
		case "suffix":
			d.Suffix = value
		case "dob":
			d.DOB = value
		case "sex":
			d.SexAtBirth = value
		case "ssn":
			d.SSNLast4 = value
		case "line1":
			address.Line1 = value
		case "city":
			address.City = value
		case "state":
			address.State = value
		case "zip":
			address.PostalCode = value
		case "phone":
			d.Contacts = append(d.Contacts, linkage.Contact{System: "phone", Value: value})
		case "email":
			d.Contacts = append(d.Contacts, linkage.Contact{System: "email", Value: value})
		case "chart":
			d.Identifiers = append(d.Identifiers, linkage.Identifier{Type: "MR", Authority: "General", Value: value})
		case "otherChart":
			d.Identifiers = append(d.Identifiers, linkage.Identifier{Type: "MR", Authority: "Memorial", Value: value})
		case "number":
			d.Identifiers = append(d.Identifiers, linkage.Identifier{Value: value})
		case "member":
			d.Identifiers = append(d.Identifiers, linkage.Identifier{Type: "MB", Authority: "Payer", Value: value})
		case "aliasFirst":
			d.Aliases = append(d.Aliases, linkage.Alias{FirstName: value})
		case "aliasLast":
			d.Aliases = append(d.Aliases, linkage.Alias{LastName: value})
		default:
			panic(name)
		}
	}
	if address != (linkage.Address{}) {
		d.Addresses = []linkage.Address{address}
	}
	return d
}

type fields = map[string]string

// levelOf is the level that a field is told to agree at; empty: it is not told.
func levelOf(evidence []linkage.Evidence, field string) string {
	for _, e := range evidence {
		if e.Field == field {
			return e.Level
		}
	}
	return ""
}

// Every level of every field has a pair that agrees so far.
func TestLevels(t *testing.T) {
	t.Parallel()
	kim := fields{"first": "Kimberly", "last": "Hathaway", "dob": "1972-03-09"}
	with := func(more fields) fields {
		all := fields{}
		for _, m := range []fields{kim, more} {
			for k, v := range m {
				all[k] = v
			}
		}
		return all
	}
	home := fields{"line1": "12 Elm Street", "city": "Salem", "state": "OR", "zip": "97301"}
	at := func(more fields) fields {
		all := with(home)
		for k, v := range more {
			all[k] = v
			if v == "" {
				delete(all, k)
			}
		}
		return all
	}
	cases := []struct {
		model, field, level string
		a, b                fields
	}{
		{"firstName", "firstName", "exact", kim, with(fields{"first": "KIMBERLY"})},
		{"firstName", "firstName", "part", with(fields{"first": "Kimberly Ann"}), kim},
		{"firstName", "firstName", "one_edit", kim, with(fields{"first": "Kimbrly"})},
		{"firstName", "firstName", "nickname", with(fields{"first": "Elizabeth"}), with(fields{"first": "Betty"})},
		{"firstName", "firstName", "similar", with(fields{"first": "Alexandria"}), with(fields{"first": "Alexandra Sophie"})},
		{"firstName", "firstName", "swapped", kim, with(fields{"first": "Hathaway", "last": "Kimberly"})},
		{"firstName", "firstName", "alias", kim, with(fields{"first": "Rose", "aliasFirst": "Kimberly"})},
		{"firstName", "firstName", "middle_name", kim, with(fields{"first": "Rose", "middle": "Kimberly"})},
		{"firstName", "firstName", "sounds_alike", with(fields{"first": "Caitlin"}), with(fields{"first": "Kathleen"})},
		{"firstName", "firstName", "initial", kim, with(fields{"first": "K."})},
		{"firstName", "firstName", "differ", kim, with(fields{"first": "Zoltan"})},
		{"lastName", "lastName", "exact", kim, kim},
		{"lastName", "lastName", "part", with(fields{"last": "Hathaway-Jones"}), kim},
		{"lastName", "lastName", "one_edit", kim, with(fields{"last": "Hathawya"})},
		{"lastName", "lastName", "similar", kim, with(fields{"last": "Hattaways"})},
		{"lastName", "lastName", "swapped", kim, with(fields{"first": "Hathaway", "last": "Kimberly"})},
		{"lastName", "lastName", "alias", with(fields{"last": "Miller"}), with(fields{"aliasLast": "Miller"})},
		{"lastName", "lastName", "sounds_alike", with(fields{"last": "Knight"}), with(fields{"last": "Nite"})},
		{"lastName", "lastName", "initial", kim, with(fields{"last": "H"})},
		{"lastName", "lastName", "differ", kim, with(fields{"last": "Okonkwo"})},
		{"middleName", "middleName", "exact", with(fields{"middle": "Ann"}), with(fields{"middle": "ann"})},
		{"middleName", "middleName", "initial", with(fields{"middle": "Ann"}), with(fields{"middle": "A."})},
		{"middleName", "middleName", "similar", with(fields{"middle": "Marie"}), with(fields{"middle": "Maria"})},
		{"middleName", "middleName", "differ", with(fields{"middle": "Ann"}), with(fields{"middle": "Beth"})},
		{"suffix", "suffix", "exact", with(fields{"suffix": "Jr."}), with(fields{"suffix": "II"})},
		{"suffix", "suffix", "differ", with(fields{"suffix": "Jr"}), with(fields{"suffix": "Sr"})},
		{"dob", "dob", "exact", kim, kim},
		{"dob", "dob", "day_month_swapped", kim, with(fields{"dob": "1972-09-03"})},
		{"dob", "dob", "placeholder", kim, with(fields{"dob": "1972-01-01"})},
		{"dob", "dob", "one_edit", kim, with(fields{"dob": "1973-03-09"})},
		{"dob", "dob", "one_edit", kim, with(fields{"dob": "1972-03-08"})},
		{"dob", "dob", "one_edit", with(fields{"dob": "1972-03-10"}), with(fields{"dob": "1972-03-09"})},
		{"dob", "dob", "one_edit", kim, with(fields{"dob": "1962-03-09"})},
		{"dob", "dob", "one_edit", kim, with(fields{"dob": "1927-03-09"})},
		{"dob", "dob", "same_year_and_day", kim, with(fields{"dob": "1972-11-09"})},
		{"dob", "dob", "same_year_and_month", kim, with(fields{"dob": "1972-03-27"})},
		{"dob", "dob", "same_month_and_day", kim, with(fields{"dob": "1956-03-09"})},
		{"dob", "dob", "same_year", kim, with(fields{"dob": "1972-11-27"})},
		{"dob", "dob", "two_edits", kim, with(fields{"dob": "1982-04-09"})},
		{"dob", "dob", "first_of_january", kim, with(fields{"dob": "1985-01-01"})},
		{"dob", "dob", "differ", kim, with(fields{"dob": "1951-11-27"})},
		{"sexAtBirth", "sexAtBirth", "exact", fields{"sex": "female"}, fields{"sex": "female"}},
		{"sexAtBirth", "sexAtBirth", "differ", fields{"sex": "female"}, fields{"sex": "male"}},
		{"sexAtBirth given firstName", "sexAtBirth", "exact", with(fields{"sex": "female"}), with(fields{"sex": "female"})},
		{"sexAtBirth given firstName", "sexAtBirth", "differ", with(fields{"sex": "female"}), with(fields{"sex": "male"})},
		{"area", "area", "postal_code", at(nil), at(fields{"city": "Keizer"})},
		{"area", "area", "city", at(fields{"zip": ""}), at(nil)},
		{"area", "area", "postal_code_one_edit", at(nil), at(fields{"zip": "97302"})},
		{"area", "area", "city_other_postal_code", at(nil), at(fields{"zip": "97114"})},
		{"area", "area", "elsewhere", at(nil), at(fields{"city": "Portland", "zip": "97214"})},
		{"area", "area", "other_state", at(nil), at(fields{"city": "Boise", "state": "ID", "zip": "83702"})},
		{"street", "street", "exact", with(fields{"line1": "12 Elm Street"}), with(fields{"line1": "12 Elm St"})},
		{"street", "street", "similar", with(fields{"line1": "12 Elmwood Street"}), with(fields{"line1": "12 Elmwod Street"})},
		{"street", "street", "street", with(fields{"line1": "12 Elm Street"}), with(fields{"line1": "99 Elm Street"})},
		{"street", "street", "differ", with(fields{"line1": "12 Elm Street"}), with(fields{"line1": "7 Harbor Boulevard"})},
		{"street given area", "street", "exact", at(nil), at(nil)},
		{"street given area", "street", "similar", at(fields{"line1": "12 Elmwood Street"}), at(fields{"line1": "12 Elmwod Street"})},
		{"street given area", "street", "street", at(nil), at(fields{"line1": "99 Elm Street"})},
		{"street given area", "street", "differ", at(nil), at(fields{"line1": "7 Harbor Boulevard"})},
		{"street elsewhere", "street", "exact", at(nil), at(fields{"city": "Portland", "zip": "97214"})},
		{"street elsewhere", "street", "similar", at(fields{"line1": "12 Elmwood St"}), at(fields{"line1": "12 Elmwod St", "city": "Portland", "zip": "97214"})},
		{"street elsewhere", "street", "street", at(nil), at(fields{"line1": "99 Elm St", "city": "Portland", "zip": "97214"})},
		{"street elsewhere", "street", "differ", at(nil), at(fields{"line1": "7 Harbor Blvd", "city": "Portland", "zip": "97214"})},
		{"phone", "phone", "exact", with(fields{"phone": "503-555-0142"}), with(fields{"phone": "(503) 555 0142"})},
		{"phone", "phone", "other_area_code", with(fields{"phone": "503-555-0142"}), with(fields{"phone": "971-555-0142"})},
		{"phone", "phone", "one_edit", with(fields{"phone": "503-555-0142"}), with(fields{"phone": "503-555-0124"})},
		{"phone", "phone", "differ", with(fields{"phone": "503-555-0142"}), with(fields{"phone": "503-555-7788"})},
		{"email", "email", "exact", with(fields{"email": "kh72@mail.example"}), with(fields{"email": "KH72@mail.example"})},
		{"email", "email", "one_edit", with(fields{"email": "kh72@mail.example"}), with(fields{"email": "kh27@mail.example"})},
		{"email", "email", "other_host", with(fields{"email": "kh72@mail.example"}), with(fields{"email": "kh72@post.example"})},
		{"email", "email", "differ", with(fields{"email": "kh72@mail.example"}), with(fields{"email": "rose@post.example"})},
		{"last4Ssn", "last4Ssn", "exact", with(fields{"ssn": "4711"}), with(fields{"ssn": "4711"})},
		{"last4Ssn", "last4Ssn", "one_edit", with(fields{"ssn": "4711"}), with(fields{"ssn": "7411"})},
		{"last4Ssn", "last4Ssn", "differ", with(fields{"ssn": "4711"}), with(fields{"ssn": "8093"})},
		{"identifier", "identifier", "exact", with(fields{"chart": "A4471102"}), with(fields{"chart": "a4471102"})},
		{"identifier", "identifier", "value", with(fields{"number": "A4471102"}), with(fields{"chart": "A4471102"})},
		{"identifier", "identifier", "value", with(fields{"otherChart": "A4471102"}), with(fields{"chart": "A4471102"})},
		{"identifier", "identifier", "one_edit", with(fields{"chart": "A4471102"}), with(fields{"chart": "A4417102"})},
		{"identifier", "identifier", "other_ending", with(fields{"chart": "A4471102"}), with(fields{"chart": "A4471103"})},
		{"identifier", "identifier", "one_edit", with(fields{"chart": "A4471102"}), with(fields{"chart": "A4471120"})},
		{"identifier", "identifier", "one_edit", with(fields{"chart": "A4471102"}), with(fields{"chart": "A4471172"})},
		{"identifier", "identifier", "other_ending", with(fields{"chart": "A447110X"}), with(fields{"chart": "A447110Z"})},
		{"identifier", "identifier", "differ", with(fields{"chart": "A4471102"}), with(fields{"chart": "A9930518"})},
		{"memberNumber", "memberNumber", "exact", with(fields{"member": "W123456701"}), with(fields{"member": "W123456701"})},
		{"memberNumber", "memberNumber", "other_ending", with(fields{"member": "W123456701"}), with(fields{"member": "W123456702"})},
		{"memberNumber", "memberNumber", "differ", with(fields{"member": "W123456701"}), with(fields{"member": "X998811201"})},
	}
	model := linkage.Default()
	seen := map[string]bool{}
	for _, c := range cases {
		t.Run(c.model+"/"+c.level, func(t *testing.T) {
			t.Parallel()
			a, b := made(c.a), made(c.b)
			evidence, _, _ := model.Ask(&a, nil, 0).Explain(&b)
			if got := levelOf(evidence, c.field); got != c.level {
				t.Errorf("%s of %v and %v is %q: %v", c.field, c.a, c.b, got, evidence)
			}
			levels := model.Levels(&a, &b, nil)
			for f, field := range model.Fields {
				if field.Name != c.model {
					continue
				}
				if levels[f] < 0 || field.Levels[levels[f]].Name != c.level {
					t.Errorf("Levels tells %d of %s", levels[f], c.model)
				}
			}
		})
		seen[c.model+"/"+c.level] = true
	}
	for _, field := range model.Fields {
		for _, level := range field.Levels {
			if !seen[field.Name+"/"+level.Name] {
				t.Errorf("no pair of %s agrees as far as %s", field.Name, level.Name)
			}
		}
	}
}

// Numbers of two systems say nothing of each other, unless they are the same.
func TestNumbersOfTwoSystems(t *testing.T) {
	t.Parallel()
	a, b := made(fields{"first": "Ann", "chart": "A4471102"}), made(fields{"first": "Ann", "otherChart": "B1"})
	evidence, _, _ := linkage.Default().Ask(&a, nil, 0).Explain(&b)
	for _, e := range evidence {
		if e.Field == "identifier" && (e.Level != "missing" || e.Weight != 0) {
			t.Errorf("the numbers of two systems were compared: %v", e)
		}
	}
}

// Aliases and numbers count while they hold: from the start until just before the end.
func TestIntervals(t *testing.T) {
	t.Parallel()
	a := made(fields{"first": "Ann", "last": "Miller", "chart": "A4471102"})
	d := demographics(fields{"first": "Ann", "last": "Smith", "aliasLast": "Miller", "chart": "A4471102"})
	d.Aliases[0].From, d.Aliases[0].Until = 1000, 2000
	d.Identifiers[0].From, d.Identifiers[0].Until = 1000, 2000
	b := parser().Person(&d, nil)
	for now, holds := range map[int64]bool{999: false, 1000: true, 1999: true, 2000: false} {
		evidence, _, _ := linkage.Default().Ask(&a, nil, now).Explain(&b)
		if (levelOf(evidence, "lastName") == "alias") != holds || (levelOf(evidence, "identifier") == "exact") != holds {
			t.Errorf("at %d: %v", now, evidence)
		}
	}
}
