package tenant

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Store keeps tenants, memberships and roles.
type Store interface {
	// Create stores the tenant unless its id is taken, and gives what then stands under the id.
	Create(ctx context.Context, t Tenant) (Tenant, error)
	// Read gives a tenant; nil when there is none.
	Read(ctx context.Context, id string) (*Tenant, error)
	// ChangePlan writes the plan, the entry and the effect that makes every gateway ask again. Nil when there is no such
	// tenant.
	ChangePlan(ctx context.Context, id, plan string, e audit.Entry) (*Tenant, error)
	// Roles gives all roles in a stable order.
	Roles(ctx context.Context) ([]Role, error)
	// ReadMember gives the ids of a member's roles; found is false when the user is no member.
	ReadMember(ctx context.Context, tenant, user string) (roleIDs []string, found bool, err error)
	// PutMember writes a member's roles, the entry and the effect that ends sessions which know the old ones. Found is
	// false when there is no such tenant.
	PutMember(ctx context.Context, tenant, user string, roleIDs []string, now time.Time, e audit.Entry) (found bool, err error)
}

// Service is the verbs. It is safe for concurrent use.
type Service struct {
	Store       Store
	Environment string
	Now         func() time.Time
	NewID       func() (uuid.UUID, error)
	Nudge       func() // called after a change that has effects outside
}

// The actions that the trail tells of.
const (
	PlanChange   = "plan.change"
	MemberChange = "member.change"
)

// entry tells of what is done to a tenant, in that tenant's own trail.
func (s *Service) entry(ctx context.Context, tenant, action string) audit.Entry {
	return audit.Of(ctx, s.Now(), s.NewID, action).In(tenant)
}

func missing() error {
	return fault.New(fault.NotFound, "tenant_not_found", "There is no such tenant.")
}

// read gives a tenant of this environment.
func (s *Service) read(ctx context.Context, id string) (Tenant, error) {
	if !ValidID(id) {
		return Tenant{}, missing()
	}
	t, err := s.Store.Read(ctx, id)
	if err != nil {
		return Tenant{}, err
	}
	if t == nil || t.Environment != s.Environment {
		return Tenant{}, missing()
	}
	return *t, nil
}

// Own gives the tenant of whoever asks. Any credential will do.
func (s *Service) Own(ctx context.Context) (Tenant, error) {
	by, err := principal.Require(ctx, 0)
	if err != nil {
		return Tenant{}, err
	}
	return s.read(ctx, by.TenantID)
}

// Roles lists the roles. Any credential will do, and so will a program.
func (s *Service) Roles(ctx context.Context) ([]Role, error) {
	if _, err := principal.Require(ctx, 0); err != nil {
		return nil, err
	}
	return s.Store.Roles(ctx)
}

// ChangePlan moves a tenant to a plan.
func (s *Service) ChangePlan(ctx context.Context, id, plan string) (Tenant, error) {
	if _, err := principal.Require(ctx, principal.ClientManage); err != nil {
		return Tenant{}, err
	}
	t, err := s.read(ctx, id)
	if err != nil || t.Plan == plan {
		return t, err
	}
	changed, err := s.Store.ChangePlan(ctx, id, plan, s.entry(ctx, id, PlanChange))
	if err != nil {
		return Tenant{}, err
	}
	if changed == nil {
		return Tenant{}, missing()
	}
	s.Nudge()
	return *changed, nil
}

// Create makes a tenant for a program of the mesh.
func (s *Service) Create(ctx context.Context, d Draft) (Tenant, error) {
	if _, err := principal.RequireService(ctx); err != nil {
		return Tenant{}, err
	}
	id, err := s.NewID()
	if err != nil {
		return Tenant{}, err
	}
	t, faults := New(d, id.String(), s.Environment, s.Now().UTC().Truncate(time.Millisecond))
	if len(faults) > 0 {
		return Tenant{}, fault.InvalidFields(faults)
	}
	return s.Store.Create(ctx, t)
}

// Read gives a tenant to a program of the mesh.
func (s *Service) Read(ctx context.Context, id string) (Tenant, error) {
	if _, err := principal.RequireService(ctx); err != nil {
		return Tenant{}, err
	}
	return s.read(ctx, id)
}

// Standing tells a program of the mesh what roles are worth in a tenant now.
func (s *Service) Standing(ctx context.Context, id string, roleIDs []string) (Tenant, principal.Permission, error) {
	t, err := s.Read(ctx, id)
	if err != nil {
		return Tenant{}, 0, err
	}
	roles, err := s.Store.Roles(ctx)
	return t, Permitted(identified(roles, roleIDs)), err
}

// Member gives a membership to a program of the mesh.
func (s *Service) Member(ctx context.Context, tenant, user string) (Membership, error) {
	if _, err := s.Read(ctx, tenant); err != nil {
		return Membership{}, err
	}
	none := fault.New(fault.NotFound, "member_not_found", "There is no such member.")
	if !ValidID(user) {
		return Membership{}, none
	}
	ids, found, err := s.Store.ReadMember(ctx, tenant, user)
	if err != nil {
		return Membership{}, err
	}
	if !found {
		return Membership{}, none
	}
	roles, err := s.Store.Roles(ctx)
	return Membership{TenantID: tenant, UserID: user, Roles: identified(roles, ids)}, err
}

// PutMember makes a user a member with exactly the roles named, for a program of the mesh.
func (s *Service) PutMember(ctx context.Context, tenant, user string, names []string) (Membership, error) {
	if _, err := s.Read(ctx, tenant); err != nil {
		return Membership{}, err
	}
	if !ValidID(user) {
		return Membership{}, fault.New(fault.NotFound, "user_not_found", "There is no such user.")
	}
	all, err := s.Store.Roles(ctx)
	if err != nil {
		return Membership{}, err
	}
	roles, unknown := named(all, names)
	if unknown {
		return Membership{}, fault.InvalidFields([]fault.Field{{Field: "roles", Code: "unknown_role", Message: "names a role that does not exist"}})
	}
	ids := make([]string, 0, len(roles))
	for _, r := range roles {
		ids = append(ids, r.ID)
	}
	found, err := s.Store.PutMember(ctx, tenant, user, ids, s.Now().UTC(), s.entry(ctx, tenant, MemberChange))
	if err != nil {
		return Membership{}, err
	}
	if !found {
		return Membership{}, missing()
	}
	s.Nudge()
	return Membership{TenantID: tenant, UserID: user, Roles: roles}, nil
}
