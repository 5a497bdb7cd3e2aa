package identity

import (
	"net/mail"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity/password"
)

// longestEmail is the longest e-mail address (RFC 5321 §4.5.3.1.3).
const longestEmail = 254

// User is a person who can sign in. Which tenants they belong to, the tenant service knows.
type User struct {
	ID              string
	Environment     string
	Email           string
	EmailVerifiedAt *time.Time
	PasswordHash    string
	FirstName       string
	LastName        string
	CreatedAt       time.Time
}

// EmailKey is the form of an address in which two are compared.
func EmailKey(email string) string { return strings.ToLower(email) }

// UserDraft is what a new user is asked to be. Nil members were not given.
type UserDraft struct {
	ID            *string
	Email         *string
	Password      *string
	FirstName     *string
	LastName      *string
	EmailVerified bool
}

// faults tells every rule that the draft breaks.
func (d UserDraft) faults() []fault.Field {
	var faults []fault.Field
	if d.ID != nil && !ValidID(*d.ID) {
		faults = append(faults, wrong("id", "invalid_id", "must be a UUID"))
	}
	required := func(name string, value *string) bool {
		if value == nil || *value == "" {
			faults = append(faults, wrong(name, "required", "is required"))
			return false
		}
		return true
	}
	if required("email", d.Email) && !plausibleEmail(*d.Email) {
		faults = append(faults, wrong("email", "invalid_email", "must be an e-mail address"))
	}
	if required("password", d.Password) {
		if n := utf8.RuneCountInString(password.Normal(*d.Password)); n < password.Shortest || n > password.Longest {
			faults = append(faults, wrong("password", "invalid_length", "must have 12 to 128 characters"))
		}
	}
	required("firstName", d.FirstName)
	required("lastName", d.LastName)
	return faults
}

// plausibleEmail accepts what can be an address: only a mail that arrives proves one.
func plausibleEmail(text string) bool {
	address, err := mail.ParseAddress(text)
	return err == nil && address.Address == text && len(text) <= longestEmail
}
