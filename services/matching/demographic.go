// Package matching finds patients: it reads what is asked, has the tenant's index look, says how sure each answer is, and
// shows why. It knows no HTTP, and neither how an index is kept fresh nor how records are compared.
package matching

import "github.com/patient-mesh/patient-mesh/libs/web/body"

// Demographic is one of what a question may give of a person.
type Demographic int

// The demographics, in the order in which they are listed.
const (
	FirstName Demographic = iota
	MiddleName
	LastName
	Suffix
	DOB
	SexAtBirth
	Line1
	City
	State
	PostalCode
	Phone
	Email
	Last4SSN
	Identifier
	Demographics // how many there are
)

// String is how both interfaces spell it.
func (d Demographic) String() string {
	return [Demographics]string{
		"firstName", "middleName", "lastName", "suffix", "dob", "sexAtBirth", "line1", "city", "state", "postalCode",
		"phone", "email", "last4Ssn", "identifier",
	}[d]
}

// Limit is how many code points it may have.
func (d Demographic) Limit() int {
	switch d {
	case FirstName, MiddleName, LastName, Suffix:
		return body.NameLength
	default:
		return body.TextLength
	}
}
