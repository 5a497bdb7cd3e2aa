package identity

import "time"

// Member is a user's place in a tenant, as the tenant's people see it.
type Member struct {
	UserID    string
	Email     string
	FirstName string
	LastName  string
	Roles     []Role
	CreatedAt time.Time // of the membership
}

// Members is a page of a tenant's people.
type Members struct {
	List  []Member
	Total int64
	More  bool // whether the list goes on behind the last
}
