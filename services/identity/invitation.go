package identity

import "time"

// Invitation asks the owner of an address to become a member of a tenant.
type Invitation struct {
	ID          string
	TenantID    string
	Email       string
	RoleIDs     []string
	Environment string
	Hash        []byte // of the identifier in its link
	CreatedAt   time.Time
	ExpiresAt   time.Time
}
