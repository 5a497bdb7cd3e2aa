package tenant

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// The verbs of this file are for programs of the mesh. Whether somebody may give a role away they decide, who know who
// asks.

func noMember() error {
	return fault.New(fault.NotFound, "member_not_found", "There is no such member.")
}

// member gives a tenant of this environment and a member of it.
func (s *Service) member(ctx context.Context, tenant, user string) (Tenant, Membership, error) {
	if _, err := principal.RequireService(ctx); err != nil {
		return Tenant{}, Membership{}, err
	}
	if !ValidID(tenant) {
		return Tenant{}, Membership{}, missing()
	}
	if !ValidID(user) {
		return Tenant{}, Membership{}, noMember()
	}
	t, m, err := s.Store.ReadMember(ctx, tenant, user)
	switch {
	case err != nil:
		return Tenant{}, Membership{}, err
	case t == nil || t.Environment != s.Environment:
		return Tenant{}, Membership{}, missing()
	case m == nil:
		return Tenant{}, Membership{}, noMember()
	}
	return *t, *m, nil
}

// Member gives a membership.
func (s *Service) Member(ctx context.Context, tenant, user string) (Membership, error) {
	_, m, err := s.member(ctx, tenant, user)
	return m, err
}

// MemberStanding tells what a member may do in a tenant now.
func (s *Service) MemberStanding(ctx context.Context, tenant, user string) (Tenant, principal.Permission, error) {
	t, m, err := s.member(ctx, tenant, user)
	return t, m.Permissions(), err
}

// Members gives a page of a tenant's people.
func (s *Service) Members(ctx context.Context, tenant string, part page.Request) (Members, error) {
	if _, err := s.Read(ctx, tenant); err != nil {
		return Members{}, err
	}
	return s.Store.ListMembers(ctx, tenant, part)
}

// Places gives the memberships of a user, the first MostPlaces of them.
func (s *Service) Places(ctx context.Context, user string) ([]Place, error) {
	if _, err := principal.RequireService(ctx); err != nil {
		return nil, err
	}
	if !ValidID(user) {
		return nil, noUser()
	}
	return s.Store.ListPlaces(ctx, user, s.Environment)
}

func noUser() error { return fault.New(fault.NotFound, "user_not_found", "There is no such user.") }

// PutMember makes a user a member with exactly the roles, which are named by id or name.
func (s *Service) PutMember(ctx context.Context, tenant, user string, roles []string) (Membership, error) {
	if _, err := s.Read(ctx, tenant); err != nil {
		return Membership{}, err
	}
	if !ValidID(user) {
		return Membership{}, noUser()
	}
	all, err := s.Store.Roles(ctx)
	if err != nil {
		return Membership{}, err
	}
	held, unknown := called(all, roles)
	if unknown {
		return Membership{}, fault.InvalidFields([]fault.Field{{Field: "roles", Code: "unknown_role", Message: "names a role that does not exist"}})
	}
	m, err := s.Store.PutMember(ctx, Membership{TenantID: tenant, UserID: user, Roles: held, CreatedAt: s.now()}, s.entry(ctx, tenant, MemberChange))
	if err != nil {
		return Membership{}, err
	}
	if m == nil {
		return Membership{}, missing()
	}
	s.Nudge()
	return *m, nil
}

// RemoveMember takes a user out of a tenant.
func (s *Service) RemoveMember(ctx context.Context, tenant, user string) error {
	if _, _, err := s.member(ctx, tenant, user); err != nil {
		return err
	}
	removed, err := s.Store.RemoveMember(ctx, tenant, user, s.entry(ctx, tenant, MemberRemove))
	if err != nil {
		return err
	}
	if !removed {
		return noMember()
	}
	s.Nudge()
	return nil
}
