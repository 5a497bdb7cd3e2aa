package tenant

import "github.com/patient-mesh/patient-mesh/libs/principal"

// Membership makes a user, whom identity knows, one of a tenant's people.
type Membership struct {
	TenantID string
	UserID   string
	Roles    []Role
}

// Permissions is what the member may do in the tenant.
func (m Membership) Permissions() principal.Permission { return Permitted(m.Roles) }
