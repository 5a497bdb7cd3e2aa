package store

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/tenant"
)

const memberColumns = `tenant_id, user_id, role_ids::text[] AS role_ids, created_at`

// memberRow is a membership before its roles are looked up, in the list that the same batch reads: roles are few.
type memberRow struct {
	TenantID  string
	UserID    string
	RoleIDs   []string
	CreatedAt time.Time
}

func (r memberRow) with(roles []tenant.Role) tenant.Membership {
	return tenant.Membership{
		TenantID: r.TenantID, UserID: r.UserID, Roles: tenant.Identified(roles, r.RoleIDs), CreatedAt: r.CreatedAt,
	}
}

const selectMember = `SELECT ` + memberColumns + ` FROM membership WHERE tenant_id = $1 AND user_id = $2`

// ReadMember is tenant.Store's.
func (s *Store) ReadMember(ctx context.Context, id, user string) (*tenant.Tenant, *tenant.Membership, error) {
	var found *tenant.Tenant
	var row *memberRow
	var roles []tenant.Role
	b := pg.Tenant(id)
	pg.Row(b, &found, selectTenant, id)
	pg.Row(b, &row, selectMember, id, user)
	pg.Rows(b, &roles, selectRoles)
	if err := s.DB.Send(ctx, b); err != nil || row == nil {
		return found, nil, err
	}
	m := row.with(roles)
	return found, &m, nil
}

const (
	listMembers = `
		SELECT ` + memberColumns + ` FROM membership
		WHERE tenant_id = $1 AND ($2::uuid IS NULL OR user_id > $2)
		ORDER BY user_id LIMIT $3 OFFSET $4`
	countMembers = `SELECT count(*) FROM membership WHERE tenant_id = $1`
)

// ListMembers is tenant.Store's.
func (s *Store) ListMembers(ctx context.Context, id string, part page.Request) (tenant.Members, error) {
	var rows []memberRow
	var roles []tenant.Role
	var found tenant.Members
	b := pg.Tenant(id)
	pg.Value(b, &found.Total, countMembers, id)
	pg.Rows(b, &rows, listMembers, id, given(part.After), part.Size+1, part.Offset())
	pg.Rows(b, &roles, selectRoles)
	if err := s.DB.Send(ctx, b); err != nil {
		return tenant.Members{}, err
	}
	found.List = make([]tenant.Membership, 0, len(rows))
	for _, r := range rows {
		found.List = append(found.List, r.with(roles))
	}
	return found, nil
}

// placeRow is a tenant with the ids of a member's roles.
type placeRow struct {
	tenant.Tenant

	RoleIDs []string
}

const listPlaces = `
	SELECT ` + columns + `, m.role_ids::text[] AS role_ids
	FROM membership m JOIN ` + tenants + ` ON t.id = m.tenant_id
	WHERE m.user_id = $1 AND t.environment = $2
	ORDER BY m.tenant_id LIMIT $3`

// ListPlaces is tenant.Store's.
func (s *Store) ListPlaces(ctx context.Context, user, environment string) ([]tenant.Place, error) {
	var rows []placeRow
	var roles []tenant.Role
	b := asUser(user)
	pg.Rows(b, &rows, listPlaces, user, environment, tenant.MostPlaces)
	pg.Rows(b, &roles, selectRoles)
	if err := s.DB.Send(ctx, b); err != nil {
		return nil, err
	}
	places := make([]tenant.Place, 0, len(rows))
	for _, r := range rows {
		places = append(places, tenant.Place{Tenant: r.Tenant, Roles: tenant.Identified(roles, r.RoleIDs)})
	}
	return places, nil
}

// Two changes of one tenant's Owners take turns at its row, so that each sees what the other left.
const lockTenant = `SELECT true FROM tenant WHERE id = $1 FOR NO KEY UPDATE`

// A batch can only be stopped by an error: 1/0 is the one that plain SQL can raise. It is raised where the user is an
// Owner and nobody else is.
const keepOwner = `
	SELECT 1 / (
		NOT EXISTS (SELECT FROM membership WHERE tenant_id = $1 AND user_id = $2 AND $3 = ANY (role_ids))
		OR EXISTS (SELECT FROM membership WHERE tenant_id = $1 AND user_id <> $2 AND $3 = ANY (role_ids))
	)::int`

// changed decides the error of a batch that holds keepOwner.
func changed(err error) error {
	if pg.HasCode(err, pg.DivisionByZero) {
		return tenant.ErrLastOwner
	}
	return err
}

const upsertMember = `
	INSERT INTO membership (tenant_id, user_id, role_ids, created_at)
	SELECT id, $2, $3, $4 FROM tenant WHERE id = $1
	ON CONFLICT (tenant_id, user_id) DO UPDATE SET role_ids = excluded.role_ids
	RETURNING ` + memberColumns

// PutMember is tenant.Store's.
func (s *Store) PutMember(ctx context.Context, m tenant.Membership, e audit.Entry) (*tenant.Membership, error) {
	ids, owner := make([]string, 0, len(m.Roles)), false
	for _, r := range m.Roles {
		ids, owner = append(ids, r.ID), owner || r.ID == tenant.RoleOwner
	}
	var row *memberRow
	b := pg.Tenant(m.TenantID)
	b.Exec(lockTenant, m.TenantID)
	if !owner {
		b.Exec(keepOwner, m.TenantID, m.UserID, tenant.RoleOwner)
	}
	audit.ChangeRow(b, &row, e, upsertMember, m.TenantID, m.UserID, ids, m.CreatedAt)
	endUser(b, m.UserID)
	if err := s.DB.Send(ctx, b); err != nil || row == nil {
		return nil, changed(err)
	}
	written := row.with(m.Roles)
	return &written, nil
}

const deleteMember = `DELETE FROM membership WHERE tenant_id = $1 AND user_id = $2`

// RemoveMember is tenant.Store's.
func (s *Store) RemoveMember(ctx context.Context, id, user string, e audit.Entry) (bool, error) {
	var removed int64
	b := pg.Tenant(id)
	b.Exec(lockTenant, id)
	b.Exec(keepOwner, id, user, tenant.RoleOwner)
	audit.Change(b, &removed, e, deleteMember, id, user)
	endUser(b, user)
	err := s.DB.Send(ctx, b)
	return removed == 1, changed(err)
}
