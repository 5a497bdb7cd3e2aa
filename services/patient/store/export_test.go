package store

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

// RollUpSoon lets a test ask for a roll-up.
func (s *Store) RollUpSoon(tenant string) { s.rollUpSoon(tenant) }

// ActiveAliases lets a test queue some of a patient's active aliases, and their number.
func (s *Store) ActiveAliases(ctx context.Context, tenant string, id int64, at time.Time, most int) (list []patient.Alias, number int64, err error) {
	b := pg.Tenant(tenant)
	s.aliases.queueActive(b, &list, tenant, id, at, most)
	s.aliases.queueCount(b, &number, tenant, id, patient.ActiveOnly, at)
	return list, number, s.db.Send(ctx, b)
}

// ChangedSQL is the statement of who changed.
func ChangedSQL() string { return changedPeople() }

// PlanOnceSQL goes before it.
func PlanOnceSQL() string { return planOnce }
