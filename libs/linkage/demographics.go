// Package linkage knows when two records are of one person: normal forms of demographics, how much they agree, and what
// that is worth. It knows no tenant, no storage and no transport.
package linkage

//go:generate ../../.bin/msgp -file demographics.go -o demographics.gen.go -io=false -tests=false -v=false
//msgp:tuple Demographics Address Contact Alias Identifier

// Demographics are what one record says of a person, as it was kept. Text never given is empty.
type Demographics struct {
	ID int64 // the patient's

	FirstName, MiddleName, LastName, Prefix, Suffix string
	DOB                                             string // YYYY-MM-DD
	SexAtBirth, Gender, Race, Ethnicity             string // as stored: SexAtBirth in lower case
	GenderIdentity, PreferredLanguage               string
	SSNLast4                                        string // four digits
	Deceased, Deleted                               bool

	Addresses   []Address
	Contacts    []Contact
	Aliases     []Alias
	Identifiers []Identifier
}

// Address is a postal address.
type Address struct{ Line1, Line2, City, State, PostalCode, Country string }

// Contact is a telephone number or an e-mail address.
type Contact struct {
	System string // phone or email
	Value  string
	E164   string // of a telephone number whose country is known
}

// Alias is another name. It holds from From until just before Until, in milliseconds since 1970; zero is open.
type Alias struct {
	Alias, FirstName, LastName, FullName string
	From, Until                          int64
}

// Identifier is a number that somebody gave the person. It holds as an Alias does.
type Identifier struct {
	Type, Authority, Value string // Authority tells all that the record says of it
	From, Until            int64
}
