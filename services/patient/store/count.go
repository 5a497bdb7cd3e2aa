package store

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// count is how many undeleted patients a tenant has, and in how many rows that is written.
type count struct {
	Total int64 `db:"total"`
	Rows  int64 `db:"rows"`
}

const (
	// longCount is how many rows a sum may have before they are rolled up: a sum over so many takes a tenth of a
	// millisecond.
	longCount = 512
	// rollUp replaces a tenant's deltas by their sum. Rows that another one is rolling up are left to it, so that two
	// at a time are right too.
	rollUp = `
	WITH gone AS (
		DELETE FROM patient_count WHERE tenant_id = $1 AND id = ANY (ARRAY(
			SELECT id FROM patient_count WHERE tenant_id = $1 ORDER BY id LIMIT 10000 FOR UPDATE SKIP LOCKED))
		RETURNING delta
	)
	INSERT INTO patient_count (tenant_id, delta) SELECT $1, sum(delta) FROM gone HAVING count(*) > 0`
)

// countMayBeLong asks for a roll-up once in a while.
func (s *Store) countMayBeLong(tenant string) {
	if oneIn(longCount) {
		s.rollUpSoon(tenant)
	}
}

func (s *Store) rollUpSoon(tenant string) {
	select {
	case s.rollups <- tenant:
	default:
	}
}

// RollUp keeps the counts short until ctx ends.
func (s *Store) RollUp(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case tenant := <-s.rollups:
			b := pg.Tenant(tenant)
			b.Exec(rollUp, tenant)
			if err := s.db.Send(ctx, b); err != nil && ctx.Err() == nil {
				s.log.WarnContext(ctx, "roll up the count of patients", "error", err.Error())
			}
		}
	}
}
