package synth

// Record is a person as one system keeps them at one time. Person is the truth: the records of one number are of one person,
// and no other records are. What is not known is empty.
type Record struct {
	Person    int64
	Copy      int   // 0 is the first record, the others are copies
	Household int64 // where the person lived at the time of the first record

	FirstName, MiddleName, LastName, Suffix string
	DOB                                     string // YYYY-MM-DD
	SexAtBirth, Gender                      string
	Race, Ethnicity, PreferredLanguage      string
	Last4SSN                                string
	Addresses                               []Address    // the current one first
	Contacts                                []Contact    // the current ones of a kind first
	Aliases                                 []Alias      // former names
	Identifiers                             []Identifier // the record's own number first

	Events []string // what happened to the person since the first record, or became known: "marriage", "known:last4Ssn"
	Errors []string // what is wrong or written otherwise: "lastName:substitution", "firstName,lastName:swapped"
}

// Address is an address in the United States.
type Address struct {
	Line1      string `json:"line1"`
	Line2      string `json:"line2,omitempty"`
	City       string `json:"city"`
	State      string `json:"state"`
	PostalCode string `json:"postalCode"`
	Country    string `json:"country,omitempty"`
	Use        string `json:"use,omitempty"`
}

// Contact is a telephone number or an e-mail address.
type Contact struct {
	System string `json:"system"`
	Value  string `json:"value"`
	Use    string `json:"use,omitempty"`
}

// Alias is another name of the person.
type Alias struct {
	Type      string `json:"type"`
	FirstName string `json:"firstName,omitempty"`
	LastName  string `json:"lastName,omitempty"`
}

// Identifier is a number that somebody gave the person.
type Identifier struct {
	Type                      string `json:"type"`
	Value                     string `json:"value"`
	AuthorityOrganizationID   string `json:"authorityOrganizationId,omitempty"`
	AuthorityOrganizationName string `json:"authorityOrganizationName,omitempty"`
	SourceName                string `json:"sourceName,omitempty"`
}

// Types of identifiers, as HL7 table 0203 has them: the number of a medical record, and of a member of an insurance.
const (
	typeChart  = "MR"
	typeMember = "MB"
)

// Systems of contacts.
const (
	phone = "phone"
	email = "email"
)

// The fields that errors happen in, as errors name them.
const (
	firstName  = "firstName"
	middleName = "middleName"
	lastName   = "lastName"
	suffix     = "suffix"
	dob        = "dob"
	sexAtBirth = "sexAtBirth"
	gender     = "gender"
	race       = "race"
	ethnicity  = "ethnicity"
	language   = "preferredLanguage"
	last4SSN   = "last4Ssn"
	line1      = "line1"
	line2      = "line2"
	city       = "city"
	stateField = "state"
	postalCode = "postalCode"
	identifier = "identifier"
	address    = "address" // all of it
)

// field is where a record keeps a field: of addresses the current one, of contacts the first of its kind. It is nil when the
// record has no such address or contact.
func (r *Record) field(name string) *string {
	switch name {
	case firstName:
		return &r.FirstName
	case middleName:
		return &r.MiddleName
	case lastName:
		return &r.LastName
	case suffix:
		return &r.Suffix
	case dob:
		return &r.DOB
	case sexAtBirth:
		return &r.SexAtBirth
	case gender:
		return &r.Gender
	case race:
		return &r.Race
	case ethnicity:
		return &r.Ethnicity
	case language:
		return &r.PreferredLanguage
	case last4SSN:
		return &r.Last4SSN
	case phone, email:
		for i := range r.Contacts {
			if r.Contacts[i].System == name {
				return &r.Contacts[i].Value
			}
		}
		return nil
	case identifier:
		if len(r.Identifiers) == 0 {
			return nil
		}
		return &r.Identifiers[0].Value
	}
	if len(r.Addresses) == 0 {
		return nil
	}
	return r.Addresses[0].field(name)
}

func (a *Address) field(name string) *string {
	switch name {
	case line1:
		return &a.Line1
	case line2:
		return &a.Line2
	case city:
		return &a.City
	case stateField:
		return &a.State
	case postalCode:
		return &a.PostalCode
	}
	return nil
}

// value is a field's text, empty when the record has none.
func (r *Record) value(name string) string {
	if name == address {
		if len(r.Addresses) == 0 {
			return ""
		}
		return r.Addresses[0].Line1 + "\n" + r.Addresses[0].City
	}
	if at := r.field(name); at != nil {
		return *at
	}
	return ""
}

// clone is a record that shares nothing that can be changed.
func (r *Record) clone() Record {
	out := *r
	out.Addresses = append([]Address(nil), r.Addresses...)
	out.Contacts = append([]Contact(nil), r.Contacts...)
	out.Aliases = append([]Alias(nil), r.Aliases...)
	out.Identifiers = append([]Identifier(nil), r.Identifiers...)
	out.Events = append([]string(nil), r.Events...)
	out.Errors = append([]string(nil), r.Errors...)
	return out
}
