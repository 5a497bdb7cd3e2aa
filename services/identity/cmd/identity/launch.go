package main

import (
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/store"
)

// launcher makes the verbs of external applications, with what the service has.
func launcher(s *identity.Service, kept *store.Store, members identity.Memberships, families identity.FamilyStarter, publicClient string) *identity.Launcher {
	return &identity.Launcher{
		Applications: kept, Codes: kept, Tenants: s.Tenants, Members: members, Families: families, Sealer: s.Sealer,
		Environment: s.Environment, PublicClient: publicClient, Now: s.Now, Random: s.Random, NewID: s.NewID,
	}
}
