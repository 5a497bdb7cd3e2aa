// Package identity is about credentials: API keys, OAuth clients and their tokens, users and the applications that are
// launched for them. It knows what each is worth, and neither HTTP, SQL nor the OAuth protocol.
package identity

import (
	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Role is a named set of permissions, which the tenant service keeps.
type Role struct {
	ID          string
	Name        string
	Permissions principal.Permission
}

// Standing is what a credential that holds some roles is worth in a tenant now.
type Standing struct {
	Plan              string
	Environment       string
	AgreementAccepted bool
	MFARequired       bool
	Permissions       principal.Permission
}

// ValidID reports whether a text is an id as we write them.
func ValidID(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}

func wrong(field, code, message string) fault.Field {
	return fault.Field{Field: field, Code: code, Message: message}
}
