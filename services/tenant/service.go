package tenant

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Store keeps tenants, memberships and roles.
type Store interface {
	// Create stores the tenant and, unless owner is empty, its Owner, and the entry, all unless the id is taken, and gives
	// what then stands under the id.
	Create(ctx context.Context, t Tenant, owner string, e audit.Entry) (Tenant, error)
	// CreateOnce stores a tenant under a new id and the entry, and under the key what it answered; or gives the record of
	// an earlier use of the key.
	CreateOnce(ctx context.Context, t Tenant, key idempotency.Key, answer []byte, e audit.Entry) (*idempotency.Record, error)
	// Read gives a tenant; nil when there is none.
	Read(ctx context.Context, id string) (*Tenant, error)
	// ChangePlan writes the plan, the entry and the effect that makes every gateway ask again. Nil when there is no such
	// tenant.
	ChangePlan(ctx context.Context, id, plan string, e audit.Entry) (*Tenant, error)
	// Change writes what is given, the entry and the effect that makes every gateway ask again. Nil when there is no such
	// tenant.
	Change(ctx context.Context, id string, c Change, e audit.Entry) (*Tenant, error)
	// Agreement gives the one in effect now; nil when there is none.
	Agreement(ctx context.Context) (*Agreement, error)
	// AgreementStatus tells where a tenant stands with the agreement in effect now; nil when there is none.
	AgreementStatus(ctx context.Context, tenant string) (*AgreementStatus, error)
	// Accept writes an acceptance of the agreement and the entry, if it is the one in effect now and not yet accepted, and
	// the effect that makes every gateway ask again, and gives what then stands.
	Accept(ctx context.Context, tenant, agreement string, a Acceptance, e audit.Entry) (*AgreementStatus, error)
	// Roles gives all roles in a stable order.
	Roles(ctx context.Context) ([]Role, error)
	// ReadMember gives a tenant and a member of it; nil is what there is not.
	ReadMember(ctx context.Context, tenant, user string) (*Tenant, *Membership, error)
	// ListMembers gives a page of a tenant's people by the ids of the users.
	ListMembers(ctx context.Context, tenant string, part page.Request) (Members, error)
	// ListPlaces gives up to MostPlaces memberships of a user in tenants of an environment, by the ids of the tenants.
	ListPlaces(ctx context.Context, user, environment string) ([]Place, error)
	// PutMember writes a member's roles, the entry and the effect that ends the user's sessions, which know the old
	// ones, and gives what then stands. Nil when there is no such tenant; ErrLastOwner when it would have no Owner any
	// more.
	PutMember(ctx context.Context, m Membership, e audit.Entry) (*Membership, error)
	// RemoveMember ends a membership and the user's sessions and writes the entry, or tells that there is none; or
	// ErrLastOwner.
	RemoveMember(ctx context.Context, tenant, user string, e audit.Entry) (removed bool, err error)
}

// Service is the verbs. It is safe for concurrent use.
type Service struct {
	Store       Store
	Environment string
	Now         func() time.Time
	NewID       func() (uuid.UUID, error)
	Nudge       func() // called after a change that has effects outside
}

func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

// The actions that the trail tells of.
const (
	TenantCreate    = "tenant.create"
	TenantChange    = "tenant.change"
	AgreementAccept = "agreement.accept"

	PlanChange   = "plan.change"
	MemberChange = "member.change"
	MemberRemove = "member.remove"
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

// Change changes the caller's tenant.
func (s *Service) Change(ctx context.Context, c Change, further func(...fault.Field) error) (Tenant, error) {
	by, err := principal.Require(ctx, principal.TenantAdmin)
	if err != nil {
		return Tenant{}, err
	}
	if err := further(c.faults()...); err != nil {
		return Tenant{}, err
	}
	t, err := s.read(ctx, by.TenantID)
	if err != nil || c.apply(t) == t {
		return t, err
	}
	changed, err := s.Store.Change(ctx, t.ID, c, s.entry(ctx, t.ID, TenantChange))
	if err != nil {
		return Tenant{}, err
	}
	if changed == nil {
		return Tenant{}, missing()
	}
	s.Nudge()
	return *changed, nil
}

// Roles lists the roles. Any credential will do.
func (s *Service) Roles(ctx context.Context) ([]Role, error) {
	if _, err := principal.Require(ctx, 0); err != nil {
		return nil, err
	}
	return s.Store.Roles(ctx)
}

// InternalRoles lists the roles for a program of the mesh.
func (s *Service) InternalRoles(ctx context.Context) ([]Role, error) {
	if _, err := principal.RequireService(ctx); err != nil {
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

// Create makes a tenant, and its Owner unless owner is empty, for a program of the mesh.
func (s *Service) Create(ctx context.Context, d Draft, owner string) (Tenant, error) {
	if _, err := principal.RequireService(ctx); err != nil {
		return Tenant{}, err
	}
	id, err := s.NewID()
	if err != nil {
		return Tenant{}, err
	}
	t, faults := New(d, id.String(), s.Environment, s.now())
	if owner != "" && !ValidID(owner) {
		faults = append(faults, fault.Field{Field: "ownerId", Code: "invalid_id", Message: "must be a UUID"})
	}
	if len(faults) > 0 {
		return Tenant{}, fault.InvalidFields(faults)
	}
	e := s.entry(ctx, t.ID, TenantCreate)
	if owner != "" { // who registered it, wherever the program that asks has it from
		e = e.By(principal.Actor{Type: "user", ID: owner}, "")
	}
	return s.Store.Create(ctx, t, owner, e)
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
	return t, Permitted(Identified(roles, roleIDs)), err
}
