package main

import (
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/store"
)

// launcher makes the verbs of external applications, with what the service has.
func launcher(s *identity.Service, kept *store.Store, families identity.FamilyStarter) *identity.Launcher {
	return &identity.Launcher{
		Applications: kept, Codes: kept, Tenants: s.Tenants, Families: families, Sealer: s.Sealer,
		Environment: s.Environment, PublicClient: s.Public.ID, Now: s.Now, Random: s.Random, NewID: s.NewID,
	}
}
