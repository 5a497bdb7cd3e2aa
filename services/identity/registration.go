package identity

// RegisterDraft is what a new user is asked to be. Nil members were not given.
type RegisterDraft struct {
	Email            *string
	Password         *string
	FirstName        *string
	LastName         *string
	OrganizationName *string
}

// Registration is what a registration came to. Of an address that is registered already the ids are invented.
type Registration struct {
	UserID   string
	TenantID string
	Message  string
}

// NewTenant is a tenant to be made, of which the user is the Owner.
type NewTenant struct {
	ID      string
	Name    string
	OwnerID string
}
