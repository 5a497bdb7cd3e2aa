package store

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/outbox"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// tell adds an entry to the batch of what it tells of: to its tenant's trail, or, of no tenant, to those of its user's
// tenants, which is an effect. One that was not made is none.
func tell(b *pg.Batch, e audit.Entry) {
	switch {
	case e.ID == "":
	case e.TenantID != "":
		audit.Keep(b, e)
	default:
		outbox.Enqueue(b, outbox.Message{Kind: identity.TrailEffect, Payload: e})
	}
}

// Note is identity.PeopleStore's, and identity.FactorStore's.
func (s *Store) Note(ctx context.Context, e audit.Entry) error {
	b := pg.Global()
	b.Exec(`SELECT 1`) // a trip is a trip, whether or not there is an entry
	tell(b, e)
	return s.DB.Send(ctx, b)
}

// KeepEntries is for identity.Trail: entries of which each has its tenant.
func (s *Store) KeepEntries(ctx context.Context, entries ...audit.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	b := pg.Global()
	audit.Keep(b, entries...)
	return s.DB.Send(ctx, b)
}
