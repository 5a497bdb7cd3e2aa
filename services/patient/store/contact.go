package store

import "github.com/patient-mesh/patient-mesh/services/patient"

const contactColumns = `system, value, e164, use`

// Contacts keeps contacts.
type Contacts = Children[patient.Contact, *patient.Contact]

var _ patient.ChildStore[patient.Contact] = (*Contacts)(nil)

func newContacts(s *Store) *Contacts {
	return newChildren[patient.Contact, *patient.Contact](s, kind[patient.Contact]{
		table: "patient_contact", columns: contactColumns, item: "system",
		values: func(c patient.Contact) []any { return []any{c.System, c.Value, c.E164, c.Use} },
	})
}

// Contacts is the store of contacts.
func (s *Store) Contacts() *Contacts { return s.contacts }
