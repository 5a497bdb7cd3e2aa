// Package rest turns what is on the wire into tenants and back. It knows no SQL and no Fiber.
package rest

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/services/tenant"
	"github.com/patient-mesh/patient-mesh/services/tenant/api"
)

// Server answers the operations of openapi.yaml.
type Server struct {
	Tenants *tenant.Service
	Audit   *tenant.Trail
}

var _ api.StrictServerInterface = (*Server)(nil)

// mostRoles bounds a list of roles in a request.
const mostRoles = 50

// instant writes RFC 3339 in UTC with milliseconds.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

func shown(t tenant.Tenant) api.Tenant {
	return api.Tenant{
		Id: t.ID, Name: t.Name, Plan: t.Plan, Environment: t.Environment, MfaRequired: t.MFARequired,
		AgreementAccepted: t.AgreementAccepted(), CreatedAt: instant(t.CreatedAt),
	}
}

func shownRoles(roles []tenant.Role) []api.Role {
	list := make([]api.Role, 0, len(roles))
	for _, r := range roles {
		list = append(list, api.Role{Id: r.ID, Name: r.Name, Description: r.Description, Permissions: r.Permissions})
	}
	return list
}

// ListRoles lists all roles.
func (s *Server) ListRoles(ctx context.Context, _ api.ListRolesRequestObject) (api.ListRolesResponseObject, error) {
	roles, err := s.Tenants.Roles(ctx)
	if err != nil {
		return nil, err
	}
	return api.ListRoles200JSONResponse{Content: shownRoles(roles)}, nil
}
