package store

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/pg"
)

type memberRow struct{ RoleIDs []string }

const selectMember = `SELECT role_ids::text[] AS role_ids FROM membership WHERE tenant_id = $1 AND user_id = $2`

// ReadMember is tenant.Store's.
func (s *Store) ReadMember(ctx context.Context, tenant, user string) ([]string, bool, error) {
	var row *memberRow
	b := pg.Tenant(tenant)
	pg.Row(b, &row, selectMember, tenant, user)
	if err := s.DB.Send(ctx, b); err != nil || row == nil {
		return nil, false, err
	}
	return row.RoleIDs, true, nil
}

const upsertMember = `
	INSERT INTO membership (tenant_id, user_id, role_ids, created_at)
	SELECT id, $2, $3, $4 FROM tenant WHERE id = $1
	ON CONFLICT (tenant_id, user_id) DO UPDATE SET role_ids = excluded.role_ids`

// PutMember is tenant.Store's.
func (s *Store) PutMember(ctx context.Context, tenant, user string, roleIDs []string, now time.Time, e audit.Entry) (bool, error) {
	var written int64
	b := pg.Tenant(tenant)
	audit.Change(b, &written, e, upsertMember, tenant, user, roleIDs, now)
	endSessions(b, tenant)
	err := s.DB.Send(ctx, b)
	return written == 1, err
}
