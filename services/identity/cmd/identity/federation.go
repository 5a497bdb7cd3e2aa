package main

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/federation"
	"github.com/patient-mesh/patient-mesh/services/identity/store"
)

// federate makes the verbs of sign-ins at the tenants' own providers.
func federate(c settings, service *identity.Service, kept *store.Store) (*federation.Service, error) {
	issuer, err := c.issuer()
	if err != nil {
		return nil, err
	}
	return federation.New(federation.Service{
		Store: kept, Hasher: service.Hasher, Sealer: service.Sealer,
		Invited: func(ctx context.Context, tenantID, email string) (bool, error) {
			return kept.Invited(ctx, tenantID, email, time.Now())
		},
		Environment: c.Environment, PublicURL: issuer, Now: time.Now, Random: rand.Reader, NewID: uuid.NewV7,
	}), nil
}
