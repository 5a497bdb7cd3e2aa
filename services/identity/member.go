package identity

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

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

// ListMembers gives a page of the people of the caller's tenant.
func (p *People) ListMembers(ctx context.Context, part page.Request) (Members, error) {
	by, err := principal.Require(ctx, principal.UserManage)
	if err != nil {
		return Members{}, err
	}
	m, err := p.Organizations.Members(ctx, by.TenantID, part)
	if err != nil {
		return Members{}, err
	}
	return m, p.name(ctx, m.List)
}

// name adds to members what we know of the users.
func (p *People) name(ctx context.Context, list []Member) error {
	ids := make([]string, 0, len(list))
	for _, m := range list {
		ids = append(ids, m.UserID)
	}
	users, err := p.Users.FindUsers(ctx, ids)
	if err != nil {
		return err
	}
	known := map[string]User{}
	for _, u := range users {
		known[u.ID] = u
	}
	for i := range list {
		u := known[list[i].UserID]
		list[i].Email, list[i].FirstName, list[i].LastName = u.Email, u.FirstName, u.LastName
	}
	return nil
}

// PutMember gives a member of the caller's tenant exactly the roles, which are ids or names.
func (p *People) PutMember(ctx context.Context, userID string, roles []string, further func(...fault.Field) error) (Member, error) {
	by, err := principal.Require(ctx, principal.UserManage)
	if err != nil {
		return Member{}, err
	}
	all, err := p.Organizations.Roles(ctx)
	if err != nil {
		return Member{}, err
	}
	held, faults := called(all, roles)
	if err := further(faults...); err != nil {
		return Member{}, err
	}
	if err := givable(by, held); err != nil {
		return Member{}, err
	}
	found, err := p.Organizations.Member(ctx, by.TenantID, userID) // nobody is made a member without being asked
	if err != nil {
		return Member{}, err
	}
	if err := givable(by, found.Roles); err != nil { // nor is anything taken from those who may do more
		return Member{}, err
	}
	if err := p.Organizations.PutMember(ctx, by.TenantID, userID, roleIDs(held)); err != nil {
		return Member{}, err
	}
	one := []Member{{UserID: userID, Roles: held, CreatedAt: found.CreatedAt}}
	err = p.name(ctx, one)
	return one[0], err
}

// RemoveMember takes a user out of the caller's tenant.
func (p *People) RemoveMember(ctx context.Context, userID string) error {
	by, err := principal.Require(ctx, principal.UserManage)
	if err != nil {
		return err
	}
	found, err := p.Organizations.Member(ctx, by.TenantID, userID)
	if err != nil {
		return err
	}
	if err := givable(by, found.Roles); err != nil {
		return err
	}
	return p.Organizations.RemoveMember(ctx, by.TenantID, userID)
}
