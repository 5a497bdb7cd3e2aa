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

// Record is patient.RecordStore's: one trip, of which every statement sees the same moment. Whoever is deleted or restored
// meanwhile is shown with all that hangs on them, or not.
func (s *Store) Record(ctx context.Context, tenant string, id int64, now time.Time) (*patient.Record, error) {
	var r patient.Record
	var found *patient.Patient
	b := pg.Snapshot(tenant)
	pg.Row(b, &found, read, tenant, id)
	s.addresses.queueActive(b, (*[]patient.Address)(&r.Addresses), tenant, id, now, most)
	s.aliases.queueActive(b, (*[]patient.Alias)(&r.Aliases), tenant, id, now, most)
	s.identifiers.queueActive(b, (*[]patient.Identifier)(&r.Identifiers), tenant, id, now, most)
	s.contacts.queueActive(b, (*[]patient.Contact)(&r.Contacts), tenant, id, now, most)
	if err := s.db.Send(ctx, b); err != nil || found == nil {
		return nil, err
	}
	r.Patient = *found
	return &r, nil
}

// Manifest is patient.RecordStore's: one trip that sees one moment.
func (s *Store) Manifest(ctx context.Context, tenant string, id int64, now time.Time) (*patient.Manifest, error) {
	m := patient.Manifest{PatientID: id}
	var found bool
	b := pg.Snapshot(tenant)
	pg.Value(b, &found, isLive, tenant, id)
	s.addresses.queueListing(b, &m.Addresses, tenant, id, now)
	s.aliases.queueListing(b, &m.Aliases, tenant, id, now)
	s.identifiers.queueListing(b, &m.Identifiers, tenant, id, now)
	s.contacts.queueListing(b, &m.Contacts, tenant, id, now)
	if err := s.db.Send(ctx, b); err != nil || !found {
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
