package matchbench

import "github.com/patient-mesh/patient-mesh/libs/linkage"

// line is one of an import.
type line struct {
	FirstName   string           `json:"firstName"`
	MiddleName  string           `json:"middleName,omitempty"`
	LastName    string           `json:"lastName"`
	DOB         string           `json:"dob"`
	SexAtBirth  string           `json:"sexAtBirth,omitempty"`
	Last4SSN    string           `json:"last4Ssn,omitempty"`
	Addresses   []lineAddress    `json:"addresses,omitempty"`
	Contacts    []lineContact    `json:"contacts,omitempty"`
	Aliases     []lineAlias      `json:"aliases,omitempty"`
	Identifiers []lineIdentifier `json:"identifiers,omitempty"`
}

type lineAddress struct {
	Line1      string `json:"line1"`
	Line2      string `json:"line2,omitempty"`
	City       string `json:"city"`
	State      string `json:"state"`
	PostalCode string `json:"postalCode"`
	Country    string `json:"country,omitempty"`
}

type lineContact struct {
	System string `json:"system"`
	Value  string `json:"value"`
}

type lineAlias struct {
	FirstName string `json:"firstName,omitempty"`
	LastName  string `json:"lastName,omitempty"`
}

type lineIdentifier struct {
	Type                      string `json:"type"`
	Value                     string `json:"value"`
	AuthorityOrganizationName string `json:"authorityOrganizationName,omitempty"`
}

// What is stored where a record lacks what every patient must have: what real systems put there.
const (
	noName   = "Unknown"
	noDay    = "1900-01-01"
	noPostal = "00000"
)

// lineOf is a record as it is stored. The interface has no suffix: it is left out.
func lineOf(p *linkage.Demographics) line {
	l := line{
		FirstName: given(p.FirstName, noName), MiddleName: p.MiddleName, LastName: given(p.LastName, noName), DOB: given(p.DOB, noDay),
		SexAtBirth: p.SexAtBirth, Last4SSN: p.SSNLast4,
	}
	for _, a := range p.Addresses {
		l.Addresses = append(l.Addresses, lineAddress{
			Line1: given(a.Line1, noName), Line2: a.Line2, City: given(a.City, noName), State: given(a.State, noName), PostalCode: given(a.PostalCode, noPostal),
			Country: a.Country,
		})
	}
	for _, c := range p.Contacts {
		l.Contacts = append(l.Contacts, lineContact{c.System, c.Value})
	}
	for _, a := range p.Aliases {
		l.Aliases = append(l.Aliases, lineAlias{a.FirstName, a.LastName})
	}
	for _, id := range p.Identifiers {
		l.Identifiers = append(l.Identifiers, lineIdentifier{id.Type, id.Value, id.Authority})
	}
	return l
}

func given(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
