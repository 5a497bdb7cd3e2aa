package load

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// setter puts a cell into a person.
type setter func(p *Person, cell string)

// fields are what a column can be mapped to: the members of a PatientRequestDTO, and ssn, a whole number of which only
// the last four digits leave this machine.
func fields() map[string]setter {
	return map[string]setter{
		"firstName":         func(p *Person, s string) { p.FirstName = s },
		"lastName":          func(p *Person, s string) { p.LastName = s },
		"dob":               func(p *Person, s string) { p.DOB = Date(s) },
		"middleName":        func(p *Person, s string) { p.MiddleName = s },
		"gender":            func(p *Person, s string) { p.Gender = s },
		"race":              func(p *Person, s string) { p.Race = s },
		"ethnicity":         func(p *Person, s string) { p.Ethnicity = s },
		"sexAtBirth":        func(p *Person, s string) { p.SexAtBirth = Sex(s) },
		"genderIdentity":    func(p *Person, s string) { p.GenderIdentity = s },
		"preferredLanguage": func(p *Person, s string) { p.PreferredLanguage = s },
		"last4Ssn":          func(p *Person, s string) { p.Last4SSN = s },
		"ssn":               func(p *Person, s string) { p.Last4SSN = LastFour(s) },
	}
}

// headings are the columns that are known by themselves, besides the fields' own names: those of Febrl, and a few that
// exports of other systems have. They are compared without case, spaces, dashes and underscores.
func headings() map[string]string {
	known := map[string]string{
		"givenname": "firstName", "forename": "firstName", "surname": "lastName", "familyname": "lastName",
		"dateofbirth": "dob", "birthdate": "dob", "socsecid": "ssn", "socialsecuritynumber": "ssn", "sex": "sexAtBirth",
		"language": "preferredLanguage",
	}
	for name := range fields() {
		known[Heading(name)] = name
	}
	return known
}

// Heading is a column's heading as it is compared with those that are known.
func Heading(heading string) string {
	return strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(heading))
}

// columns reads a row: one setter a column, nil where the column is not of interest.
type columns []setter

// mapColumns decides what each heading means. Own maps a field to a heading and wins over what is known. All fields
// that a patient must have need a column, and no field may have two.
func mapColumns(header []string, own map[string]string) (columns, error) {
	setters, known := fields(), headings()
	wanted := map[string]string{} // heading, as it stands, to field
	for field, heading := range own {
		if setters[field] == nil {
			return nil, fmt.Errorf("--map: there is no field %q; the fields are %s", field, strings.Join(slices.Sorted(maps.Keys(setters)), ", "))
		}
		if !slices.Contains(header, heading) {
			return nil, fmt.Errorf("--map: the file has no column %q", heading)
		}
		wanted[heading] = field
	}
	out, taken := make(columns, len(header)), map[string]string{}
	for i, heading := range header {
		field, chosen := wanted[heading]
		if !chosen {
			field = known[Heading(heading)]
			if _, elsewhere := own[field]; elsewhere || field == "" {
				continue
			}
		}
		if other, twice := taken[field]; twice {
			return nil, fmt.Errorf("the columns %q and %q both mean %s: choose one with --map %s=COLUMN", other, heading, field, field)
		}
		taken[field], out[i] = heading, setters[field]
	}
	for _, field := range []string{"firstName", "lastName", "dob"} {
		if _, ok := taken[field]; !ok {
			return nil, fmt.Errorf("no column of the file is known to be %s: name it with --map %s=COLUMN", field, field)
		}
	}
	return out, nil
}

func (c columns) person(row []string) Person {
	var p Person
	for i, set := range c {
		if set != nil {
			set(&p, strings.TrimSpace(row[i]))
		}
	}
	return p
}

// Date writes YYYYMMDD with dashes. Anything else is left to the interface, which says what is wrong with it.
func Date(s string) string {
	if len(s) == 8 && digits(s) == s {
		return s[:4] + "-" + s[4:6] + "-" + s[6:]
	}
	return s
}

// LastFour keeps the last four digits of a number; a shorter one has none to keep.
func LastFour(s string) string {
	d := digits(s)
	if len(d) < 4 {
		return ""
	}
	return d[len(d)-4:]
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// Sex writes the letters f and m as words.
func Sex(s string) string {
	switch strings.ToLower(s) {
	case "m":
		return "male"
	case "f":
		return "female"
	}
	return s
}
