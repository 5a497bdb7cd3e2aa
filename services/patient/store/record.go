package store

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

var _ patient.RecordStore = (*Store)(nil)

// most is how many children of a kind are read: one more than are shown tells that there are more.
const most = patient.RecordLimit + 1

// Record is patient.RecordStore's: one trip. Each statement of it sees what is committed by then, so that the patient is
// looked at first and last: whoever is deleted or restored meanwhile is not shown with a part of what hangs on them.
func (s *Store) Record(ctx context.Context, tenant string, id int64, now time.Time) (*patient.Record, error) {
	var r patient.Record
	var found *patient.Patient
	var still bool
	b := pg.Tenant(tenant)
	pg.Row(b, &found, read, tenant, id)
	s.addresses.queueActive(b, (*[]patient.Address)(&r.Addresses), tenant, id, now, most)
	s.aliases.queueActive(b, (*[]patient.Alias)(&r.Aliases), tenant, id, now, most)
	s.identifiers.queueActive(b, (*[]patient.Identifier)(&r.Identifiers), tenant, id, now, most)
	s.contacts.queueActive(b, (*[]patient.Contact)(&r.Contacts), tenant, id, now, most)
	pg.Value(b, &still, isLive, tenant, id)
	if err := s.db.Send(ctx, b); err != nil || found == nil || !still {
		return nil, err
	}
	r.Patient = *found
	return &r, nil
}

// Manifest is patient.RecordStore's: one trip, which looks at the patient as Record does.
func (s *Store) Manifest(ctx context.Context, tenant string, id int64, now time.Time) (*patient.Manifest, error) {
	m := patient.Manifest{PatientID: id}
	var found, still bool
	b := pg.Tenant(tenant)
	pg.Value(b, &found, isLive, tenant, id)
	s.addresses.queueListing(b, &m.Addresses, tenant, id, now)
	s.aliases.queueListing(b, &m.Aliases, tenant, id, now)
	s.identifiers.queueListing(b, &m.Identifiers, tenant, id, now)
	s.contacts.queueListing(b, &m.Contacts, tenant, id, now)
	pg.Value(b, &still, isLive, tenant, id)
	if err := s.db.Send(ctx, b); err != nil || !found || !still {
		return nil, err
	}
	return &m, nil
}

// queueListing adds to a batch what a manifest tells of one kind.
func (c *Children[N, P]) queueListing(b *pg.Batch, into *patient.Listing, tenant string, id int64, now time.Time) {
	pg.Rows(b, (*[]patient.Item)(&into.Items), c.sql.items, tenant, id, now, most)
	c.queueCount(b, &into.Count, tenant, id, patient.ActiveOnly, now)
}

// Patient is patient.RecordStore's.
func (s *Store) Patient(ctx context.Context, tenant string, id int64) (*patient.Patient, error) {
	var found *patient.Patient
	b := pg.Tenant(tenant)
	pg.Row(b, &found, read, tenant, id)
	return found, s.db.Send(ctx, b)
}
