package tenant

import (
	"slices"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// RoleOwner is the id of the role that every tenant with people has at least one holder of.
const RoleOwner = "01900000-0000-7000-8000-000000000001"

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

// called finds roles by their ids or names, the latter in any case, each once. Unknown says whether a text is neither.
func called(roles []Role, texts []string) (found []Role, unknown bool) {
	for _, text := range texts {
		i := slices.IndexFunc(roles, func(r Role) bool { return r.ID == text || strings.EqualFold(r.Name, text) })
		if i < 0 {
			unknown = true
			continue
		}
		if !slices.ContainsFunc(found, func(r Role) bool { return r.ID == roles[i].ID }) {
			found = append(found, roles[i])
		}
	}
	return found, unknown
}

// Identified finds roles by their ids and leaves out ids that are no role's.
func Identified(roles []Role, ids []string) (found []Role) {
	for _, r := range roles {
		if slices.Contains(ids, r.ID) {
			found = append(found, r)
		}
	}
	return found
}
