package store

import "github.com/patient-mesh/patient-mesh/services/patient"

const aliasColumns = `type, alias, first_name, last_name, full_name, holds_from, holds_until`

// Aliases keeps aliases.
type Aliases = Children[patient.Alias, *patient.Alias]

var _ patient.ChildStore[patient.Alias] = (*Aliases)(nil)

func newAliases(s *Store) *Aliases {
	return newChildren[patient.Alias, *patient.Alias](s, kind[patient.Alias]{
		table: "patient_alias", columns: aliasColumns, item: "type",
		values: func(a patient.Alias) []any {
			return []any{a.Type, a.Alias, a.FirstName, a.LastName, a.FullName, a.From.String(), a.Until.String()}
		},
		interval: func(a patient.Alias) patient.Interval { return a.Interval },
	})
}

// Aliases is the store of aliases.
func (s *Store) Aliases() *Aliases { return s.aliases }
