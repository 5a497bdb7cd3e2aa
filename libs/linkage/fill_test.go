package linkage

import (
	"reflect"
	"testing"
)

func TestDates(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]Date{
		"1970-03-04": 1970_03_04, "2000-02-29": 2000_02_29, "1900-02-29": 0, "2023-02-29": 0, "2023-13-01": 0, "2023-00-10": 0, "2023-04-31": 0, "1900-01-01": 0, "1800-01-01": 0, "9999-12-31": 0,
		"1111-11-11": 0, "1803-05-06": 1803_05_06, "1970-01-01": 1970_01_01, "": 0, "1970-3-4": 0, "1970/03/04": 0, "19700304": 0, "197O-03-04": 0, "-970-03-04": 0, "1900-01-02": 1900_01_02,
	} {
		if got := ParseDate(raw); got != want {
			t.Errorf("%q is %d, want %d", raw, got, want)
		}
	}
	d := ParseDate("1987-06-05")
	if d.Year() != 1987 || d.Month() != 6 || d.Day() != 5 || d.Vague() || !ParseDate("1987-01-01").Vague() || Date(0).Vague() {
		t.Error("parts of a date")
	}
}

func TestPhones(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e164, value string
		want        Phone
	}{
		{"+12175552368", "(217) 555-2368", 2175552368},
		{"", "(217) 555-2368", 2175552368},
		{"", "1-217-555-2368 x12", 2175552368},
		{"+442071838750", "", 2071838750},
		{"", "020 7183 8750", 2071838750},
		{"+4930123456", "", 30123456},
		{"", "030 123456", 30123456},
		{"+61298765432", "", 298765432},
		{"+35312345679", "", 12345679},
		{"", "555-5555", 0},
		{"", "(123) 456-7890", 0},
		{"", "000-000-0000", 0},
		{"+19999999999", "", 0},
		{"", "217-555-1212", 0},
		{"", "123-4567", 0},
		{"", "12345", 0},
		{"", "none", 0},
		{"", "", 0},
		{"+", "", 0},
	} {
		if got := ParsePhone(c.e164, c.value); got != c.want {
			t.Errorf("%q, %q is %d, want %d", c.e164, c.value, got, c.want)
		}
	}
}

func TestEmails(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"Anna.Smith@Example.com": "anna.smith@example.com", "anna+clinic@example.com": "anna@example.com", "a.n.na@googlemail.com": "anna@gmail.com", "anna@example.com": "anna@example.com",
		"none@example.com": "", "noemail@hospital.org": "", "test@test.com": "", "n/a": "", "@": "", "anna@": "", "+a@b.org": "+a@b.org", "nobody@nowhere.com": "", "nonesuch@example.com": "nonesuch@example.com",
	} {
		if got := ParseEmail(raw); got != want {
			t.Errorf("%q is %q, want %q", raw, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][3]string{
		"12 Main St Apt 3":       {"12", "Main St", "3"},
		"12 Main St, Apt. 3B":    {"12", "Main St", "3b"},
		"123 Main St #4B":        {"123", "Main St", "4b"},
		"123 Main St 4":          {"123", "Main St", "4"},
		"3/12 High Street":       {"12", "High Street", "3"},
		"Flat 3, 12 High Road":   {"12", "High Road", "3"},
		"Unit 4/55 Smith Rd":     {"55", "Smith Rd", "4"},
		"12-14 High Street":      {"1214", "High Street", ""},
		"12A High Street":        {"12a", "High Street", ""},
		"123 1/2 W 42nd St":      {"123", "W 42nd St", ""},
		"5th Avenue":             {"", "5th Avenue", ""},
		"42 5th Avenue":          {"42", "5th Avenue", ""},
		"Highway 61":             {"", "Highway 61", ""},
		"1500 Highway 61":        {"1500", "Highway 61", ""},
		"PO Box 123":             {"123", "PO Box", ""},
		"P.O. Box 123":           {"123", "PO Box", ""},
		"Post Office Box 123":    {"123", "PO Box", ""},
		"Hauptstraße 12":         {"12", "Hauptstraße", ""},
		"Hauptstr. 12 a":         {"", "Hauptstr. 12 a", ""},
		"Rua Augusta, 1500":      {"1500", "Rua Augusta", ""},
		"Calle 5 No 23":          {"23", "Calle 5", ""},
		"7 wallaby place":        {"7", "wallaby place", ""},
		"Main Street":            {"", "Main Street", ""},
		"12345":                  {"12345", "", ""},
		"":                       {"", "", ""},
		"12 Suite Dreams Street": {"12", "Suite Dreams Street", ""},
	} {
		house, street, unit := splitLine(line)
		if got := [3]string{house, street, unit}; got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}

func TestStreets(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"North Main Street", "N. Main St", "N Main St.", "NORTH MAIN STR"},
		{"Fifth Avenue", "5th Ave", "5th Av."},
		{"Hauptstraße", "Hauptstr.", "HAUPTSTRASSE"},
		{"St James Terrace", "Saint James Tce"},
		{"Smith Cres", "Smith Crescent"},
	} {
		for _, raw := range same {
			if got, want := Parse(Street, raw).Whole, Parse(Street, same[0]).Whole; got != want {
				t.Errorf("%q is %q, want %q", raw, got, want)
			}
		}
	}
	if Parse(Street, "Main Street").Whole == Parse(Street, "Main Avenue").Whole {
		t.Error("a street is an avenue")
	}
}

func TestFullNames(t *testing.T) {
	t.Parallel()
	for full, want := range map[string][2]string{
		"John Smith": {"John", "Smith"}, "Smith, John": {"John", "Smith"}, "  John   Smith ": {"John", "Smith"}, "Maria Luisa de la Cruz": {"Maria Luisa", "de la Cruz"},
		"Ludwig van Beethoven": {"Ludwig", "van Beethoven"}, "Cher": {"Cher", ""}, "John Smith Jr": {"John", "Smith Jr"}, "John Smith, Jr.": {"John", "Smith, Jr."}, "": {"", ""}, "Van Gogh": {"Van", "Gogh"},
		"Mary Ann O Brien": {"Mary Ann", "O Brien"},
	} {
		first, last := splitName(full)
		if got := [2]string{first, last}; got != want {
			t.Errorf("%q is %q, want %q", full, got, want)
		}
	}
}

// aliases tells the other names of a person as they would be compared.
func aliases(p *Person) (out []string) {
	for _, a := range p.Aliases {
		name := "/"
		if a.First != nil {
			name = a.First.Whole + name
		}
		if a.Last != nil {
			name += a.Last.Whole
		}
		out = append(out, name)
	}
	return out
}

func TestFill(t *testing.T) {
	t.Parallel()
	p := NewParser()
	var person Person
	p.Fill(&person, &Demographics{
		ID: 7, FirstName: "Anna", MiddleName: "", LastName: "Müller Jr", DOB: "1970-03-04", SexAtBirth: "female", SSNLast4: "0123",
		Addresses:   []Address{{Line1: "12 Main St", City: "St Paul", State: "Minnesota", PostalCode: "55101-1234"}, {}, {Line1: "Unknown"}},
		Contacts:    []Contact{{System: "phone", Value: "(217) 555-2368"}, {System: "phone", Value: "555-5555"}, {System: "email", Value: "Anna@Example.com"}, {System: "email", Value: "none@none.com"}},
		Aliases:     []Alias{{LastName: "Schmidt", From: 5, Until: 9}, {FullName: "Schmidt, Annie"}, {Alias: "Ännchen"}, {FirstName: "Unknown"}, {Alias: "John Doe"}},
		Identifiers: []Identifier{{Type: "MRN", Authority: "General", Value: "A-001", From: 3}, {Value: "0000"}, {Value: "Unknown"}, {Value: "77"}},
	}, nil)
	if person.Middle != nil || person.Suffix == nil || person.Suffix.Whole != "jr" || person.DOB != 1970_03_04 || person.Sex != Female || person.SSNLast4 != 123 {
		t.Errorf("%+v", person)
	}
	if got, want := aliases(&person), []string{"/schmidt", "annie/schmidt", "/annchen", "annchen/"}; !reflect.DeepEqual(got, want) {
		t.Errorf("aliases %q, want %q", got, want)
	}
	if person.Aliases[0].From != 5 || person.Aliases[0].Until != 9 {
		t.Errorf("%+v", person.Aliases[0])
	}
	if len(person.Addresses) != 2 || person.Addresses[0].House != "12" || person.Addresses[0].State.Whole != "mn" || person.Addresses[0].Postal.Whole != "55101" || !person.Addresses[1].Line.Missing {
		t.Errorf("addresses %+v", person.Addresses)
	}
	if !reflect.DeepEqual(person.Phones, []Phone{2175552368}) || !reflect.DeepEqual(person.Emails, []string{"anna@example.com"}) {
		t.Errorf("phones %v, e-mails %v", person.Phones, person.Emails)
	}
	if len(person.Identifiers) != 2 || person.Identifiers[0].Value != "a001" || person.Identifiers[0].From != 3 || person.Identifiers[1].System != 0 {
		t.Errorf("identifiers %+v", person.Identifiers)
	}

	p.Fill(&person, &Demographics{FirstName: "Bob"}, nil)
	if person.First.Whole != "bob" || person.Last != nil || person.DOB != 0 || person.SSNLast4 != -1 ||
		len(person.Aliases)+len(person.Addresses)+len(person.Phones)+len(person.Emails)+len(person.Identifiers) != 0 {
		t.Errorf("the person before is still there: %+v", person)
	}
}

func TestSystems(t *testing.T) {
	t.Parallel()
	if system("MRN", "General Hospital") != system("mrn", "general  hospital") {
		t.Error("case makes another authority")
	}
	for _, other := range []uint64{system("MRN", "General"), system("MRNG", "eneral Hospital"), system("", "MRN General Hospital"), 0} {
		if other == system("MRN", "General Hospital") {
			t.Error("two systems are one")
		}
	}
}

// Every text of a person is asked of whoever keeps texts, by its kind.
func TestFillAsksForTexts(t *testing.T) {
	t.Parallel()
	p := NewParser()
	asked := map[string]Kind{}
	p.Person(&Demographics{
		FirstName: "Anna", MiddleName: "B", LastName: "Smith III", Suffix: "", Addresses: []Address{{Line1: "12 Main St", City: "Rome", State: "NY", PostalCode: "13440"}}, Aliases: []Alias{{LastName: "Jones"}},
	}, func(kind Kind, raw string) *Text {
		asked[raw] = kind
		return p.Parse(kind, raw)
	})
	want := map[string]Kind{"Anna": Given, "B": Given, "Smith III": Family, "3": Generation, "Main St": Street, "Rome": City, "NY": Region, "13440": Postal, "Jones": Family}
	if !reflect.DeepEqual(asked, want) {
		t.Errorf("asked for %v, want %v", asked, want)
	}
}
