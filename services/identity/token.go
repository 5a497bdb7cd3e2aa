package identity

import "time"

// AccessTokenLifetime is how long an access token is good for.
const AccessTokenLifetime = 15 * time.Minute

// AccessToken is an opaque token that a client was given. The token itself is not kept.
type AccessToken struct {
	Hash        []byte // SHA-256 of the token
	ID          string // names the token in history and logs
	TenantID    string
	ClientID    string
	UserID      *string // nil where the client acts for itself
	FamilyID    *string // the user's sign-in at the client
	Strong      bool    // the family is (TokenFamily.Strong)
	Scope       []string
	Environment string
	IssuedAt    time.Time
	ExpiresAt   time.Time
}

// Live reports whether the token may still be used.
func (t AccessToken) Live(environment string, now time.Time) bool {
	return t.Environment == environment && now.Before(t.ExpiresAt)
}
