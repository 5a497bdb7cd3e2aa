package tenant

import (
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Role is a named set of permissions. Roles belong to no tenant, and migrations alone change them.
type Role struct {
	ID          string
	Name        string
	Description string
	Permissions []string
}

// Permitted unites what the roles permit.
func Permitted(roles []Role) principal.Permission {
	var all principal.Permission
	for _, r := range roles {
		all |= principal.ParsePermissions(r.Permissions)
	}
	return all
}

// named finds roles by their names, in any case. Missing says whether one of the names is no role's.
func named(roles []Role, names []string) (found []Role, missing bool) {
	for _, name := range names {
		before := len(found)
		for _, r := range roles {
			if strings.EqualFold(r.Name, name) {
				found = append(found, r)
			}
		}
		missing = missing || len(found) == before
	}
	return found, missing
}

// identified finds roles by their ids and leaves out ids that are no role's.
func identified(roles []Role, ids []string) (found []Role) {
	for _, r := range roles {
		for _, id := range ids {
			if r.ID == id {
				found = append(found, r)
				break
			}
		}
	}
	return found
}
