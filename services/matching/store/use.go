package store

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// Tenants that nobody asked about for so long are forgotten: a process that starts does not load them.
const useKept = 7 * 24 * time.Hour

const (
	// Processes that write the same tenants at the same time take the rows in one order.
	used = `
	INSERT INTO index_use (tenant_id) SELECT id FROM unnest($1::uuid[]) AS id ORDER BY id
	ON CONFLICT (tenant_id) DO UPDATE SET used_at = excluded.used_at WHERE index_use.used_at < excluded.used_at - interval '10 seconds'`
	forget = `DELETE FROM index_use WHERE used_at < now() - $1::interval`
	recent = `SELECT tenant_id::text FROM index_use WHERE used_at >= now() - $1::interval ORDER BY used_at DESC LIMIT $2`
)

// Used remembers that these tenants are asked about.
func (s *Store) Used(ctx context.Context, tenants []string) error {
	b := pg.Global()
	b.Exec(used, tenants)
	b.Exec(forget, useKept)
	return s.db.Send(ctx, b)
}

// tenantRow is one of them.
type tenantRow struct {
	TenantID string `db:"tenant_id"`
}

// Recent gives the tenants that were asked about of late, the latest first, so many at most.
func (s *Store) Recent(ctx context.Context, most int) ([]string, error) {
	var rows []tenantRow
	b := pg.Global()
	pg.Rows(b, &rows, recent, useKept, most)
	if err := s.db.Send(ctx, b); err != nil {
		return nil, err
	}
	tenants := make([]string, len(rows))
	for i, row := range rows {
		tenants[i] = row.TenantID
	}
	return tenants, nil
}
