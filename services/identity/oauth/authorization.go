package oauth

import "github.com/patient-mesh/patient-mesh/services/identity"

// Authorization is an authorization request that holds, for a person to decide on.
type Authorization struct {
	Client      identity.Client
	RedirectURI string
	Scopes      []string
	TenantID    string
	LoginHint   string
	Prompt      string // as it was sent: names with spaces between
	MaxAge      *int   // seconds
}

// Decision is a person's yes.
type Decision struct {
	UserID   string
	TenantID string
	SignInID string
	Agent    string
	Scopes   []string
}
