package store

import "github.com/patient-mesh/patient-mesh/services/patient"

const (
	identifierColumns = `
	type, value, authority_organization_id, authority_organization_name, authority_external_system_id,
	authority_external_system_name, source_name, holds_from, holds_until`

	// The same identifier is rival while it holds at any moment from now on in which the other does. Its arguments begin
	// at ownArgument with its columns; $5 is now, and holds comes last.
	identifierRival = `
	type = $8 AND value = $9 AND authority_organization_id = $10 AND authority_organization_name = $11
	AND authority_external_system_id = $12 AND authority_external_system_name = $13
	AND NOT isempty(holds * $17 * tstzrange($5, NULL))`
)

// Identifiers keeps identifiers.
type Identifiers = Children[patient.Identifier, *patient.Identifier]

var _ patient.ChildStore[patient.Identifier] = (*Identifiers)(nil)

func newIdentifiers(s *Store) *Identifiers {
	return newChildren[patient.Identifier, *patient.Identifier](s, kind[patient.Identifier]{
		table: "patient_identifier", columns: identifierColumns, item: "type",
		values: func(i patient.Identifier) []any {
			return []any{
				i.Type, i.Value, i.OrganizationID, i.OrganizationName, i.ExternalSystemID, i.ExternalSystemName, i.SourceName,
				i.From.String(), i.Until.String(),
			}
		},
		interval: func(i patient.Identifier) patient.Interval { return i.Interval },
		rival:    identifierRival,
		taken:    patient.IdentifierExists,
	})
}

// Identifiers is the store of identifiers.
func (s *Store) Identifiers() *Identifiers { return s.identifiers }
