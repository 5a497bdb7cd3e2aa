// Package load puts the people of a CSV file into a running mesh, through the interface that everybody uses: many at a
// time, in constant memory, each row once however often the load is repeated within a day, and reads them back to see
// that they are what was sent. It says of a row that failed its line and the reason, never a value.
package load

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Person is what is sent of a row: PatientRequestDTO. Empty is not given.
type Person struct {
	FirstName         string `json:"firstName,omitempty"`
	LastName          string `json:"lastName,omitempty"`
	DOB               string `json:"dob,omitempty"`
	MiddleName        string `json:"middleName,omitempty"`
	Gender            string `json:"gender,omitempty"`
	Race              string `json:"race,omitempty"`
	Ethnicity         string `json:"ethnicity,omitempty"`
	SexAtBirth        string `json:"sexAtBirth,omitempty"`
	GenderIdentity    string `json:"genderIdentity,omitempty"`
	PreferredLanguage string `json:"preferredLanguage,omitempty"`
	Last4SSN          string `json:"last4Ssn,omitempty"`
}

// Record is what is read back: PatientResponseDTO.
type Record struct {
	ID int64 `json:"id"`
	Person
	Deceased bool `json:"deceased"`
}

const unknown = "Unknown"

// Stored is the record that a person becomes: the rules by which the interface fills in, normalises and masks.
func (p Person) Stored(id int64) Record {
	r := Record{ID: id, Person: p}
	for _, text := range []*string{&r.FirstName, &r.LastName, &r.MiddleName, &r.GenderIdentity, &r.PreferredLanguage} {
		*text = norm.NFC.String(strings.TrimSpace(*text))
	}
	for _, optional := range []*string{&r.MiddleName, &r.GenderIdentity, &r.PreferredLanguage} {
		if strings.EqualFold(*optional, "n/a") {
			*optional = ""
		}
	}
	for _, coded := range []*string{&r.Gender, &r.Race, &r.Ethnicity, &r.SexAtBirth} {
		if *coded == "" || strings.EqualFold(*coded, "n/a") {
			*coded = unknown
		}
	}
	if r.Last4SSN != "" {
		r.Last4SSN = "***-**-" + r.Last4SSN
	}
	return r
}

// Differences names the members in which two records differ. Coded values may differ in case: the interface takes any
// and answers its own spelling.
func (r Record) Differences(other Record) []string {
	var fields []string
	note := func(name string, same bool) {
		if !same {
			fields = append(fields, name)
		}
	}
	note("id", r.ID == other.ID)
	note("firstName", r.FirstName == other.FirstName)
	note("lastName", r.LastName == other.LastName)
	note("dob", r.DOB == other.DOB)
	note("middleName", r.MiddleName == other.MiddleName)
	note("gender", strings.EqualFold(r.Gender, other.Gender))
	note("race", strings.EqualFold(r.Race, other.Race))
	note("ethnicity", strings.EqualFold(r.Ethnicity, other.Ethnicity))
	note("sexAtBirth", strings.EqualFold(r.SexAtBirth, other.SexAtBirth))
	note("genderIdentity", r.GenderIdentity == other.GenderIdentity)
	note("preferredLanguage", r.PreferredLanguage == other.PreferredLanguage)
	note("last4Ssn", r.Last4SSN == other.Last4SSN)
	note("deceased", r.Deceased == other.Deceased)
	return fields
}
