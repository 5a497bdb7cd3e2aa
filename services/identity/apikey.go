package identity

import (
	"slices"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// APIKey is a long-lived credential of a tenant. What it may do is what its roles permit now.
type APIKey struct {
	ID            string
	TenantID      string
	UserID        *string // who made it, when a person did
	ClientID      *string // the client that made it, when one did
	Name          string
	RoleIDs       []string
	Environment   string
	SecretHash    []byte
	SessionSealed []byte // the name of its session at the gateways, encrypted
	CreatedAt     time.Time
	ExpiresAt     *time.Time
	LastUsedAt    *time.Time
	RevokedAt     *time.Time
}

// Live reports whether the key may still be used.
func (k APIKey) Live(environment string, now time.Time) bool {
	return k.RevokedAt == nil && k.Environment == environment && (k.ExpiresAt == nil || now.Before(*k.ExpiresAt))
}

// KeyDraft is what a new key is asked to be.
type KeyDraft struct {
	RoleIDs   []string
	Name      string
	ExpiresAt *string // RFC 3339
}

// expiry reads when the key is to expire.
func (d KeyDraft) expiry(now time.Time) (*time.Time, []fault.Field) {
	if d.ExpiresAt == nil {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, *d.ExpiresAt)
	switch {
	case err != nil:
		return nil, []fault.Field{wrong("expiresAt", "invalid_instant", "must be an instant, as RFC 3339 writes it")}
	case !at.After(now):
		return nil, []fault.Field{wrong("expiresAt", "in_the_past", "must be in the future")}
	}
	at = at.UTC().Truncate(time.Millisecond)
	return &at, nil
}

// faults tells every rule that the draft breaks that can be told without knowing the roles.
func (d KeyDraft) faults(now time.Time) []fault.Field {
	var faults []fault.Field
	if len(d.RoleIDs) == 0 {
		faults = append(faults, wrong("acRoleIds", "required", "must name at least one role"))
	}
	_, late := d.expiry(now)
	return append(faults, late...)
}

// pick finds the roles by their ids, each once. Of ids that are no role's it tells a fault.
func pick(roles []Role, ids []string) (found []Role, faults []fault.Field) {
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		at := slices.IndexFunc(roles, func(r Role) bool { return r.ID == id })
		if at < 0 {
			return nil, []fault.Field{wrong("acRoleIds", "unknown_role", "names a role that does not exist")}
		}
		found = append(found, roles[at])
	}
	return found, nil
}

// permitted unites what the roles permit.
func permitted(roles []Role) (all principal.Permission) {
	for _, r := range roles {
		all |= r.Permissions
	}
	return all
}

func roleIDs(roles []Role) []string {
	ids := make([]string, 0, len(roles))
	for _, r := range roles {
		ids = append(ids, r.ID)
	}
	return ids
}
