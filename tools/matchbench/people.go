package matchbench

import (
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/tools/synth"
)

// Demographics are a synthetic record as a patient of an id would tell it.
func Demographics(r *synth.Record, id int64) linkage.Demographics {
	d := linkage.Demographics{
		ID: id, FirstName: r.FirstName, MiddleName: r.MiddleName, LastName: r.LastName, Suffix: r.Suffix, DOB: r.DOB,
		SexAtBirth: strings.ToLower(r.SexAtBirth), Gender: r.Gender, Race: r.Race, Ethnicity: r.Ethnicity,
		PreferredLanguage: r.PreferredLanguage, SSNLast4: r.Last4SSN,
	}
	for _, a := range r.Addresses {
		d.Addresses = append(d.Addresses, linkage.Address{
			Line1: a.Line1, Line2: a.Line2, City: a.City, State: a.State, PostalCode: a.PostalCode, Country: a.Country,
		})
	}
	for _, c := range r.Contacts {
		d.Contacts = append(d.Contacts, linkage.Contact{System: c.System, Value: c.Value, E164: e164(c)})
	}
	for _, a := range r.Aliases {
		d.Aliases = append(d.Aliases, linkage.Alias{FirstName: a.FirstName, LastName: a.LastName})
	}
	for _, n := range r.Identifiers {
		d.Identifiers = append(d.Identifiers, linkage.Identifier{
			Type: n.Type, Authority: n.AuthorityOrganizationID + n.AuthorityOrganizationName, Value: n.Value,
		})
	}
	return d
}

// e164 is what the patient service makes of an American number.
func e164(c synth.Contact) string {
	if c.System != "phone" {
		return ""
	}
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, c.Value)
	if len(digits) == 11 {
		digits = digits[1:]
	}
	return "+1" + digits
}

// Names are only what a person is called, born and of which sex.
func Names(d linkage.Demographics) linkage.Demographics {
	return linkage.Demographics{
		ID: d.ID, FirstName: d.FirstName, MiddleName: d.MiddleName, LastName: d.LastName, Suffix: d.Suffix, DOB: d.DOB, SexAtBirth: d.SexAtBirth,
	}
}
