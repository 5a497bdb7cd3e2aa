package index

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// Values that people of the tests have: few enough that they share them, and odd enough.
var (
	firsts    = []string{"John", "Jon", "Mary", "Mary Ann", "Maryann", "José", "Jose", "Dr. Anna", "Baby Boy", "王", "נועה", "X", "😀😀", "Bob", "Robert"}
	lasts     = []string{"Smith", "Smyth", "Smith-Jones", "Jones", "O'Brien", "OBrien", "de la Cruz", "Delacruz", "Müller", "Mueller", "Smith Jr", "Ó", "Unknown", "山田"}
	middles   = []string{"", "", "A", "Anne", "B."}
	births    = []string{"1970-01-02", "1970-02-01", "1971-01-02", "1980-12-31", "1900-01-01", "1999-05-05", ""}
	sexes     = []string{"", "male", "female", "intersex", "other", "unknown"}
	ssns      = []string{"", "", "0000", "0007", "1234", "1243"}
	lines     = []string{"", "12 Main St", "12 Main Street", "12 Main St Apt 3", "12 Main St #3", "PO Box 7", "Hauptstraße 12", "Rosewood"}
	cities    = []string{"", "Boston", "St. Louis", "Saint Louis"}
	states    = []string{"", "MA", "Massachusetts"}
	postals   = []string{"", "02139", "02139-1234", "021391234", "D-12345", "K1A 0B1"}
	phones    = []string{"(617) 555-2368", "617 555 2368", "+44 20 7946 0958", "(207) 946-0958", "555-1212"}
	e164s     = []string{"+16175552368", "+16175552368", "+442079460958", "+12079460958", ""}
	mails     = []string{"john@x.org", "J.ohn@X.org", "john+tag@x.org", "none@none.com", "ö@x.org"}
	values    = []string{"A-1", "a1", "000", "12345678901234567890", "0012", "n/a"}
	intervals = [][2]int64{{0, 0}, {0, 0}, {0, 50}, {50, 0}, {150, 0}, {50, 150}}
)

const now = 100 // in the tests

func some(t *rapid.T, of []string, label string) string { return rapid.SampledFrom(of).Draw(t, label) }

// people draws a patient.
func people(t *rapid.T, id int64) linkage.Demographics {
	d := linkage.Demographics{
		ID: id, FirstName: some(t, firsts, "first"), LastName: some(t, lasts, "last"), MiddleName: some(t, middles, "middle"),
		DOB: some(t, births, "dob"), SexAtBirth: some(t, sexes, "sex"), SSNLast4: some(t, ssns, "ssn"),
		Suffix: some(t, []string{"", "", "Jr", "MD"}, "suffix"), Prefix: some(t, []string{"", "Dr"}, "prefix"),
		Gender: some(t, []string{"", "Male"}, "gender"), PreferredLanguage: some(t, []string{"", "en"}, "language"),
		Deceased: rapid.Bool().Draw(t, "deceased"),
	}
	for range rapid.IntRange(0, 2).Draw(t, "addresses") {
		d.Addresses = append(d.Addresses, linkage.Address{
			Line1: some(t, lines, "line"), City: some(t, cities, "city"), State: some(t, states, "state"), PostalCode: some(t, postals, "postal"),
		})
	}
	for range rapid.IntRange(0, 2).Draw(t, "contacts") {
		if rapid.Bool().Draw(t, "mail") {
			d.Contacts = append(d.Contacts, linkage.Contact{System: "email", Value: some(t, mails, "email")})
		} else {
			n := rapid.IntRange(0, len(phones)-1).Draw(t, "phone")
			d.Contacts = append(d.Contacts, linkage.Contact{System: "phone", Value: phones[n], E164: e164s[n]})
		}
	}
	for range rapid.IntRange(0, 1).Draw(t, "aliases") {
		span := rapid.SampledFrom(intervals).Draw(t, "span")
		d.Aliases = append(d.Aliases, linkage.Alias{LastName: some(t, lasts, "alias"), From: span[0], Until: span[1]})
	}
	for range rapid.IntRange(0, 2).Draw(t, "identifiers") {
		span := rapid.SampledFrom(intervals).Draw(t, "span")
		d.Identifiers = append(d.Identifiers, linkage.Identifier{
			Type: "MR", Authority: some(t, []string{"a", "b"}, "authority"), Value: some(t, values, "value"), From: span[0], Until: span[1],
		})
	}
	return d
}

// childless are the demographics that an answer shows.
func childless(d linkage.Demographics) linkage.Demographics {
	d.Addresses, d.Contacts, d.Aliases, d.Identifiers = nil, nil, nil, nil
	return d
}

func show(d linkage.Demographics) string { return fmt.Sprintf("%+v", d) }
