package identity

import (
	"context"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// The verbs of this file are for programs of the mesh.

// CreateUser makes a user.
func (s *Service) CreateUser(ctx context.Context, d UserDraft) (User, error) {
	if _, err := principal.RequireService(ctx); err != nil {
		return User{}, err
	}
	if faults := d.faults(); len(faults) > 0 {
		return User{}, fault.InvalidFields(faults)
	}
	id, err := s.NewID()
	if err != nil {
		return User{}, err
	}
	u := User{ID: id.String(), Environment: s.Environment, Email: *d.Email, FirstName: *d.FirstName, LastName: *d.LastName, CreatedAt: s.now()}
	if d.ID != nil {
		u.ID = *d.ID
	}
	if d.EmailVerified {
		u.EmailVerifiedAt = &u.CreatedAt
	}
	if u.PasswordHash, err = s.Passwords.Hash(ctx, *d.Password); err != nil {
		return User{}, err
	}
	return s.Users.CreateUser(ctx, u)
}

// Grant is a client or key that a program asks for: roles by name, whatever they stand for.
type Grant struct {
	TenantID   string
	UserID     string
	Name       string
	RoleNames  []string
	GrantTypes []string
}

// roles finds the grant's roles, and checks the tenant.
func (s *Service) roles(ctx context.Context, g Grant) ([]Role, error) {
	if _, err := principal.RequireService(ctx); err != nil {
		return nil, err
	}
	all, err := s.Tenants.Roles(ctx)
	if err != nil {
		return nil, err
	}
	var faults []fault.Field
	var held []Role
	for _, name := range g.RoleNames {
		before := len(held)
		for _, r := range all {
			if strings.EqualFold(r.Name, name) {
				held = append(held, r)
			}
		}
		if len(held) == before {
			faults = append(faults, wrong("roles", "unknown_role", "names a role that does not exist"))
		}
	}
	if len(g.RoleNames) == 0 {
		faults = append(faults, wrong("roles", "required", "must name at least one role"))
	}
	if g.UserID != "" && !ValidID(g.UserID) {
		faults = append(faults, wrong("userId", "invalid_id", "must be a UUID"))
	}
	tenantFaults, err := s.tenantFaults(ctx, g.TenantID)
	if err != nil {
		return nil, err
	}
	if faults = append(faults, tenantFaults...); len(faults) > 0 {
		return nil, fault.InvalidFields(faults)
	}
	return held, nil
}

func (s *Service) tenantFaults(ctx context.Context, tenant string) ([]fault.Field, error) {
	none := []fault.Field{wrong("tenantId", "unknown_tenant", "is no tenant")}
	if !ValidID(tenant) {
		return none, nil
	}
	_, err := s.Tenants.Standing(ctx, tenant, nil)
	if fault.Is(err, fault.NotFound) {
		return none, nil
	}
	return nil, err
}

// GrantClient makes a client that holds roles.
func (s *Service) GrantClient(ctx context.Context, g Grant) (Registered, error) {
	roles, err := s.roles(ctx, g)
	if err != nil {
		return Registered{}, err
	}
	c, faults := ClientDraft{TenantID: g.TenantID, Name: g.Name, GrantTypes: g.GrantTypes}.client()
	if len(faults) > 0 {
		return Registered{}, fault.InvalidFields(faults)
	}
	c.RoleIDs, c.Scope = roleIDs(roles), []string{} // what the roles permit, and nothing to narrow it
	return s.register(ctx, c, idempotency.Key{})
}

// GrantKey makes a key that holds roles, in the name of a user.
func (s *Service) GrantKey(ctx context.Context, g Grant) (Minted, error) {
	roles, err := s.roles(ctx, g)
	if err != nil {
		return Minted{}, err
	}
	minted, err := s.newKey(g.Name, roles, s.now())
	if err != nil {
		return Minted{}, err
	}
	minted.TenantID, minted.UserID = g.TenantID, given(g.UserID)
	_, err = s.Keys.CreateKey(ctx, minted.APIKey, idempotency.Key{}, s.entry(ctx, g.TenantID, auditTokenMint))
	return minted, err
}
