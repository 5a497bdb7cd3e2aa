package main

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/passkey"
	"github.com/patient-mesh/patient-mesh/services/identity/store"
)

// product is what authenticator apps and browsers show for us.
const product = "Patient Mesh"

// secondFactors gives people their second factors.
func secondFactors(people *identity.People, environment string, log *slog.Logger, kept *store.Store) error {
	name := product
	if environment != config.Production {
		name += " (" + environment + ")"
	}
	party, err := passkey.New(people.Settings.PublicURL, name)
	if errors.Is(err, passkey.ErrNoDomain) {
		log.Warn("passkeys are off", "reason", err.Error())
	} else if err != nil {
		return err
	}
	people.Verifier = &identity.Verifier{
		Store: kept, Sealer: people.Sealer, Hasher: people.Hasher, Passkeys: party, Product: name,
		Account: people.Settings.PublicURL + "/account", Letter: people.Letter,
		Random: rand.Reader, Now: func() time.Time { return people.Now() }, NewID: uuid.NewV7, Nudge: people.Nudge,
	}
	people.Second = people.Verifier
	return nil
}
