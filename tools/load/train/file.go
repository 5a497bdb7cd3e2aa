package train

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/phone"
	"github.com/patient-mesh/patient-mesh/tools/load"
)

// File says how a file of records is read. One that ends in .csv has a heading; any other is NDJSON in the form of the import.
type File struct {
	Path string
	// Truth names the column, or the member, that tells whose a record is: it is the same for records of one person. Of NDJSON
	// it may also be the path of a file with lines of ref and person, as synth writes it. Empty: nobody knows.
	Truth string
	// Part is what of the truth counts; nil: all of it.
	Part    *regexp.Regexp
	Columns map[string]string // field to heading, for headings that are not known by themselves
}

// Read reads the records, each with its line as its id.
func (f File) Read() ([]Record, error) {
	file, err := os.Open(f.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	var list []Record
	if strings.HasSuffix(strings.ToLower(f.Path), ".csv") {
		list, err = f.csv(file)
	} else {
		list, err = f.ndjson(file)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	for i := range list {
		list[i].ID = int64(i + 1)
		if f.Part != nil {
			list[i].Truth = f.Part.FindString(list[i].Truth)
		}
	}
	if f.Truth != "" && !slices.ContainsFunc(list, func(r Record) bool { return r.Truth != "" }) {
		return nil, fmt.Errorf("%s: no record says %q", f.Path, f.Truth)
	}
	return list, nil
}

// cells puts a cell into a record, by the name of the field.
func cells() map[string]func(r *Record, cell string) {
	address := func(r *Record) *linkage.Address {
		if len(r.Addresses) == 0 {
			r.Addresses = make([]linkage.Address, 1)
		}
		return &r.Addresses[0]
	}
	number := func(r *Record, place int, cell string) { // of a date in three columns
		n, err := strconv.Atoi(cell)
		parts := strings.Split(r.DOB+"--", "-")[:3]
		if err == nil {
			parts[place] = fmt.Sprintf("%0*d", []int{4, 2, 2}[place], n)
		}
		r.DOB = strings.Join(parts, "-")
	}
	return map[string]func(r *Record, cell string){
		"firstName":    func(r *Record, c string) { r.FirstName = c },
		"middleName":   func(r *Record, c string) { r.MiddleName = c },
		"lastName":     func(r *Record, c string) { r.LastName = c },
		"suffix":       func(r *Record, c string) { r.Suffix = c },
		"dob":          func(r *Record, c string) { r.DOB = load.Date(c) },
		"birthYear":    func(r *Record, c string) { number(r, 0, c) },
		"birthMonth":   func(r *Record, c string) { number(r, 1, c) },
		"birthDay":     func(r *Record, c string) { number(r, 2, c) },
		"sexAtBirth":   func(r *Record, c string) { r.SexAtBirth = strings.ToLower(load.Sex(c)) },
		"last4Ssn":     func(r *Record, c string) { r.SSNLast4 = c },
		"ssn":          func(r *Record, c string) { r.SSNLast4 = load.LastFour(c) },
		"streetNumber": func(r *Record, c string) { a := address(r); a.Line1 = strings.TrimSpace(c + " " + a.Line1) },
		"line1":        func(r *Record, c string) { a := address(r); a.Line1 = strings.TrimSpace(a.Line1 + " " + c) },
		"line2":        func(r *Record, c string) { address(r).Line2 = c },
		"city":         func(r *Record, c string) { address(r).City = c },
		"state":        func(r *Record, c string) { address(r).State = c },
		"postalCode":   func(r *Record, c string) { address(r).PostalCode = c },
		"phone":        func(r *Record, c string) { r.contact("phone", c) },
		"email":        func(r *Record, c string) { r.contact("email", c) },
		"formerLastName": func(r *Record, c string) {
			r.Aliases = append(r.Aliases, linkage.Alias{LastName: c})
		},
		"identifier": func(r *Record, c string) {
			r.Identifiers = append(r.Identifiers, linkage.Identifier{Type: "Unknown", Value: c})
		},
	}
}

func (r *Record) contact(system, value string) {
	c := linkage.Contact{System: system, Value: value}
	if system == "phone" {
		c.E164, _ = phone.E164(value)
	}
	r.Contacts = append(r.Contacts, c)
}

// known are the headings that need no naming, besides the fields' own: those of Febrl, and of synth.
func known() map[string]string {
	out := map[string]string{
		"givenname": "firstName", "forename": "firstName", "surname": "lastName", "familyname": "lastName", "dateofbirth": "dob",
		"birthdate": "dob", "sex": "sexAtBirth", "streetnumber": "streetNumber", "address1": "line1", "address2": "line2", "suburb": "city",
		"postcode": "postalCode", "zip": "postalCode", "zipcode": "postalCode", "phonenumber": "phone", "phone2": "phone", "memberid": "identifier",
	}
	for name := range cells() {
		out[load.Heading(name)] = name
	}
	return out
}

// heading decides what each column means; nil: nothing.
func (f File) heading(header []string) (columns []func(r *Record, cell string), truth int, err error) {
	setters, names, wanted := cells(), known(), map[string]string{}
	for field, heading := range f.Columns {
		if setters[field] == nil {
			return nil, 0, fmt.Errorf("--map: there is no field %q; the fields are %s", field, strings.Join(slices.Sorted(maps.Keys(setters)), ", "))
		}
		if !slices.Contains(header, heading) {
			return nil, 0, fmt.Errorf("--map: the file has no column %q", heading)
		}
		wanted[heading] = field
	}
	columns, truth = make([]func(r *Record, cell string), len(header)), -1
	for i, name := range header {
		field, own := wanted[name]
		if !own {
			if field = names[load.Heading(name)]; f.Columns[field] != "" {
				continue // another column was named for it
			}
		}
		columns[i] = setters[field]
		if name == f.Truth {
			truth, columns[i] = i, nil
		}
	}
	if f.Truth != "" && truth < 0 {
		return nil, 0, fmt.Errorf("the file has no column %q", f.Truth)
	}
	if !slices.ContainsFunc(columns, func(c func(*Record, string)) bool { return c != nil }) {
		return nil, 0, errors.New("no column of the file is known: name them with --map field=heading")
	}
	return columns, truth, nil
}

func (f File) csv(from io.Reader) ([]Record, error) {
	in := csv.NewReader(load.WithoutBOM(from))
	in.TrimLeadingSpace, in.ReuseRecord = true, true
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("the heading: %w", err)
	}
	for i := range header {
		header[i] = strings.TrimSpace(header[i])
	}
	columns, truth, err := f.heading(slices.Clone(header))
	if err != nil {
		return nil, err
	}
	var list []Record
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, errors.New("line " + strconv.Itoa(len(list)+2) + " or so is no CSV") // the parser's text may repeat it
		}
		var r Record
		for i, set := range columns {
			cell := strings.TrimSpace(row[i])
			if i == truth {
				r.Truth = cell
			} else if set != nil && cell != "" && !strings.EqualFold(cell, "NA") {
				set(&r, cell)
			}
		}
		list = append(list, r)
	}
}

// line is a line of the import.
type line struct {
	FirstName, MiddleName, LastName, Suffix, DOB, SexAtBirth, Last4SSN string
	Addresses                                                          []linkage.Address
	Contacts                                                           []linkage.Contact
	Aliases                                                            []linkage.Alias
	Identifiers                                                        []identifier
}

// identifier is one as both interfaces spell it, apart from case.
type identifier struct {
	Type, Value, AuthorityOrganizationID, AuthorityOrganizationName, AuthorityExternalSystemID, AuthorityExternalSystemName string
}

func (i identifier) kept() linkage.Identifier {
	authority := strings.Join([]string{
		i.AuthorityOrganizationID, i.AuthorityOrganizationName, i.AuthorityExternalSystemID, i.AuthorityExternalSystemName,
	}, "\x1f")
	return linkage.Identifier{Type: i.Type, Authority: authority, Value: i.Value}
}

const longestLine = 1 << 20

func (f File) ndjson(from io.Reader) ([]Record, error) {
	truths, beside, err := f.beside()
	if err != nil {
		return nil, err
	}
	in := bufio.NewScanner(from)
	in.Buffer(nil, longestLine)
	var list []Record
	for in.Scan() {
		var l line
		var members map[string]json.RawMessage
		if json.Unmarshal(in.Bytes(), &l) != nil || json.Unmarshal(in.Bytes(), &members) != nil {
			return nil, fmt.Errorf("line %d is not in the form of the import", len(list)+1)
		}
		r := Record{Demographics: linkage.Demographics{
			FirstName: l.FirstName, MiddleName: l.MiddleName, LastName: l.LastName, Suffix: l.Suffix, DOB: l.DOB,
			SexAtBirth: strings.ToLower(l.SexAtBirth), SSNLast4: l.Last4SSN, Addresses: l.Addresses, Aliases: l.Aliases,
		}}
		for _, c := range l.Contacts {
			r.contact(c.System, c.Value)
		}
		for _, i := range l.Identifiers {
			r.Identifiers = append(r.Identifiers, i.kept())
		}
		switch {
		case beside:
			r.Truth = truths[text(members["ref"])]
		case f.Truth != "":
			r.Truth = text(members[f.Truth])
		}
		list = append(list, r)
	}
	return list, in.Err()
}

// text is a JSON string's text, or a number's digits.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// beside reads the truth from a file of its own.
func (f File) beside() (truths map[string]string, ok bool, err error) {
	raw, err := os.ReadFile(f.Truth)
	if f.Truth == "" || errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	truths = map[string]string{}
	for one := range strings.Lines(string(raw)) {
		if ref, person, found := strings.Cut(strings.TrimSpace(one), "\t"); found {
			truths[ref] = person
		}
	}
	return truths, true, nil
}

// ReadLabels reads a CSV of two patients' ids and 1 or 0: whether they are one person. A heading may stand above.
func ReadLabels(path string) ([]Label, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	in := csv.NewReader(load.WithoutBOM(file))
	in.TrimLeadingSpace, in.FieldsPerRecord = true, 3
	var list []Label
	for number := 1; ; number++ {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d has not two ids and 1 or 0", path, number)
		}
		a, wrong := strconv.ParseInt(strings.TrimSpace(row[0]), 10, 64)
		b, wrong2 := strconv.ParseInt(strings.TrimSpace(row[1]), 10, 64)
		same := strings.ToLower(strings.TrimSpace(row[2]))
		yes, no := same == "1" || same == "true", same == "0" || same == "false"
		if wrong != nil || wrong2 != nil || !yes && !no {
			if number == 1 {
				continue
			}
			return nil, fmt.Errorf("%s: line %d has not two ids and 1 or 0", path, number)
		}
		list = append(list, Label{a, b, yes})
	}
}
