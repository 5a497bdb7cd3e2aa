package tenant

import (
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Membership makes a user, whom identity knows, one of a tenant's people.
type Membership struct {
	TenantID  string
	UserID    string
	Roles     []Role
	CreatedAt time.Time
}

// Permissions is what the member may do in the tenant.
func (m Membership) Permissions() principal.Permission { return Permitted(m.Roles) }

// Place is a membership as its user sees it: with the tenant.
type Place struct {
	Tenant Tenant
	Roles  []Role
}

// Permissions is what the user may do in the tenant.
func (p Place) Permissions() principal.Permission { return Permitted(p.Roles) }

// MostPlaces bounds the list of one user's memberships.
const MostPlaces = 500

// Members is a page of a tenant's people, one longer than asked for where the list goes on.
type Members struct {
	List  []Membership
	Total int64
}

// ErrLastOwner refuses what would leave a tenant without an Owner: nobody could let one in again.
var ErrLastOwner = fault.New(fault.Conflict, "last_owner", "The organization would be left without an Owner: make somebody else one first.")
