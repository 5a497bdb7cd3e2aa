package store

import (
	"context"
	"math"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

const (
	// Versions have no gaps, so the newest one's number is how many there are.
	newest  = `SELECT version FROM patient WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL`
	history = `
	SELECT version, changed_at, actor_type, actor_id, change, fields FROM patient_history
	WHERE tenant_id = $1 AND patient_id = $2 AND version < $3 ORDER BY version DESC OFFSET $4 LIMIT $5`
)

// History gives a page of a patient's changes, newest first, in one trip.
func (s *Store) History(ctx context.Context, tenant string, id int64, part page.Request, e audit.Entry) ([]patient.HistoryEntry, int64, bool, error) {
	before, err := cursor(part, math.MaxInt64)
	if err != nil {
		return nil, 0, false, err
	}
	var version int64
	var found []patient.HistoryEntry
	b := pg.Tenant(tenant)
	pg.Value(b, &version, newest, tenant, id)
	pg.Rows(b, &found, history, tenant, id, before, part.Offset(), part.Size+1)
	if err := s.db.Send(ctx, b); err != nil {
		return nil, 0, false, err
	}
	return found, version, version > 0, s.seen(ctx, e, version > 0)
}
