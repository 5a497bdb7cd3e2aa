package synth

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// table writes a line a record, with the truth in it.
type table struct {
	seed uint64
	csv  *csv.Writer
	row  []string
}

// NewCSV writes records to out with their truth: person, what happened and what is wrong. Of lists it has the first entries.
func NewCSV(out io.Writer, seed uint64) (Writer, error) {
	w := &table{seed: seed, csv: csv.NewWriter(out)}
	return w, w.csv.Write(strings.Fields(`ref person copy household firstName middleName lastName suffix dob sexAtBirth gender race
		ethnicity preferredLanguage last4Ssn line1 line2 city state postalCode phone phone2 email formerLastName mrn mrnAuthority memberId
		events errors`))
}

func (w *table) Write(r *Record) error {
	w.row = append(w.row[:0], r.Ref(w.seed), strconv.FormatInt(r.Person, 10), strconv.Itoa(r.Copy), strconv.FormatInt(r.Household, 10))
	for _, f := range []string{
		firstName, middleName, lastName, suffix, dob, sexAtBirth, gender, race, ethnicity, language, last4SSN,
		line1, line2, city, stateField, postalCode, phone,
	} {
		w.row = append(w.row, r.value(f))
	}
	var second, former, chart, authority, member string
	if phones := r.phones(); len(phones) > 1 {
		second = phones[1]
	}
	if len(r.Aliases) > 0 {
		former = r.Aliases[0].LastName
	}
	for _, id := range r.Identifiers {
		switch {
		case id.Type == typeMember:
			member = id.Value
		case chart == "":
			chart, authority = id.Value, id.AuthorityOrganizationID
		}
	}
	w.row = append(w.row, second, r.value(email), former, chart, authority, member, strings.Join(r.Events, " "), strings.Join(r.Errors, " "))
	return w.csv.Write(w.row)
}

func (r *Record) phones() []string {
	var out []string
	for _, c := range r.Contacts {
		if c.System == phone {
			out = append(out, c.Value)
		}
	}
	return out
}

func (w *table) Flush() error {
	w.csv.Flush()
	return w.csv.Error()
}
