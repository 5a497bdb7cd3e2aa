package identity

import "time"

// FamilyDraft is a family that is to begin without a code.
type FamilyDraft struct {
	ClientID string
	UserID   string
	TenantID string
	Scope    []string // nil: all that the client may ask for
	SignInID *string
	Agent    string
}

// Tokens is what a client is given for a person.
type Tokens struct {
	AccessToken  string
	RefreshToken string // "" for a client that cannot refresh
	Scope        []string
	ExpiresAt    time.Time // the access token's
	FamilyID     string
	UserID       string
	TenantID     string
}
