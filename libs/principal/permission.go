package principal

import (
	"math/bits"
	"strings"
)

// Permission is one thing that a credential may do. OAuth scopes carry the same names.
type Permission uint32

// The permissions. Their bits travel between releases: append, never reorder.
const (
	PatientRead Permission = 1 << iota
	PatientWrite
	PatientDelete
	PatientRestore
	DocumentRead
	DocumentWrite
	MatchRead
	TenantRead
	TenantAdmin
	KeyManage
	UserManage
	AuditRead
	ClientManage
)

//nolint:gochecknoglobals // a constant, which Go cannot say of a list
var permissionNames = [...]string{
	"patient:read", "patient:write", "patient:delete", "patient:restore",
	"document:read", "document:write", "match:read", "tenant:read", "tenant:admin",
	"key:manage", "user:manage", "audit:read", "client:manage",
}

// All is every permission there is.
const All Permission = 1<<len(permissionNames) - 1

// ParsePermission finds a permission by its name; ok is false for a name that is none.
func ParsePermission(name string) (p Permission, ok bool) {
	for i, n := range permissionNames {
		if n == name {
			return 1 << i, true
		}
	}
	return 0, false
}

// ParsePermissions unites the permissions named and leaves out names that are none.
func ParsePermissions(names []string) Permission {
	var set Permission
	for _, n := range names {
		p, _ := ParsePermission(n)
		set |= p
	}
	return set
}

// Has reports whether the set holds every permission of want.
func (p Permission) Has(want Permission) bool { return p&want == want }

// Names lists the set's members in their canonical order.
func (p Permission) Names() []string {
	names := make([]string, 0, bits.OnesCount32(uint32(p)))
	for i, n := range permissionNames {
		if p&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// String joins the names with spaces, as an OAuth scope is written (RFC 6749 §3.3).
func (p Permission) String() string { return strings.Join(p.Names(), " ") }
