package store

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/tenant"
)

const selectRoles = `SELECT id, name, description, permissions FROM role ORDER BY id`

// Roles is tenant.Store's.
func (s *Store) Roles(ctx context.Context) ([]tenant.Role, error) {
	var roles []tenant.Role
	b := pg.Global()
	pg.Rows(b, &roles, selectRoles)
	err := s.DB.Send(ctx, b)
	return roles, err
}
