package matchbench

import (
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/tools/synth"
)

// made is a set of people who never lived.
func made(name string, o synth.Options) (Set, error) {
	generator, err := synth.New(o)
	if err != nil {
		return Set{}, err
	}
	set := Set{Name: name}
	for r := range generator.Records() {
		p := demographics(&r)
		p.ID = int64(len(set.Records) + 1)
		set.Records = append(set.Records, Record{Person: p, Truth: r.Person})
	}
	return set, nil
}

func demographics(r *synth.Record) linkage.Demographics {
	p := linkage.Demographics{
		FirstName: r.FirstName, MiddleName: r.MiddleName, LastName: r.LastName, Suffix: r.Suffix, DOB: r.DOB, SexAtBirth: r.SexAtBirth,
		Gender: r.Gender, Race: r.Race, Ethnicity: r.Ethnicity, PreferredLanguage: r.PreferredLanguage, SSNLast4: r.Last4SSN,
	}
	for _, a := range r.Addresses {
		p.Addresses = append(p.Addresses, linkage.Address{
			Line1: a.Line1, Line2: a.Line2, City: a.City, State: a.State, PostalCode: a.PostalCode, Country: a.Country,
		})
	}
	for _, c := range r.Contacts {
		p.Contacts = append(p.Contacts, linkage.Contact{System: c.System, Value: c.Value})
	}
	for _, a := range r.Aliases {
		p.Aliases = append(p.Aliases, linkage.Alias{FirstName: a.FirstName, LastName: a.LastName})
	}
	for _, id := range r.Identifiers {
		p.Identifiers = append(p.Identifiers, linkage.Identifier{Type: id.Type, Authority: id.AuthorityOrganizationID + " " + id.AuthorityOrganizationName, Value: id.Value})
	}
	return p
}
