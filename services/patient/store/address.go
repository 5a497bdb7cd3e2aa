package store

import "github.com/patient-mesh/patient-mesh/services/patient"

const addressColumns = `line1, line2, city, state, postal_code, country, use`

// Addresses keeps addresses.
type Addresses = Children[patient.Address, *patient.Address]

var _ patient.ChildStore[patient.Address] = (*Addresses)(nil)

func newAddresses(s *Store) *Addresses {
	return newChildren[patient.Address, *patient.Address](s, kind[patient.Address]{
		table: "patient_address", columns: addressColumns, item: "use",
		values: func(a patient.Address) []any {
			return []any{a.Line1, a.Line2, a.City, a.State, a.PostalCode, a.Country, a.Use}
		},
	})
}

// Addresses is the store of addresses.
func (s *Store) Addresses() *Addresses { return s.addresses }
