// Package peer asks the neighbours of identity. It knows what to ask them and no rule of a credential.
package peer

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// rolesFresh is how long the list of roles is kept. Roles change by migration alone.
const rolesFresh = time.Minute

const rolesPatience = 5 * time.Second

// Tenants asks the tenant service. It is safe for concurrent use.
type Tenants struct {
	caller *mesh.Caller
	now    func() time.Time
	flight singleflight.Group
	mu     sync.RWMutex
	roles  []identity.Role
	read   time.Time
}

var _ identity.Tenants = (*Tenants)(nil)

// NewTenants makes a Tenants that asks through the caller.
func NewTenants(caller *mesh.Caller, now func() time.Time) *Tenants {
	return &Tenants{caller: caller, now: now}
}

type roleList struct {
	Content []struct {
		ID          string   `json:"id"`
		Name        string   `json:"name"`
		Permissions []string `json:"permissions"`
	} `json:"content"`
}

// Roles is identity.Tenants'.
func (t *Tenants) Roles(ctx context.Context) ([]identity.Role, error) {
	t.mu.RLock()
	roles, fresh := t.roles, t.now().Sub(t.read) < rolesFresh
	t.mu.RUnlock()
	if fresh && roles != nil {
		return roles, nil
	}
	found, err, _ := t.flight.Do("roles", func() (any, error) {
		// One asks for all who wait, so it must not end with the first of them.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rolesPatience)
		defer cancel()
		return t.fetch(ctx)
	})
	if err != nil {
		return nil, err
	}
	return found.([]identity.Role), nil //nolint:forcetypeassert // what fetch gives
}

func (t *Tenants) fetch(ctx context.Context) ([]identity.Role, error) {
	list, err := mesh.Ask[roleList](ctx, t.caller, mesh.Question{Method: http.MethodGet, Target: "/internal/role", Self: true})
	if err != nil {
		return nil, err
	}
	roles := make([]identity.Role, 0, len(list.Content))
	for _, r := range list.Content {
		roles = append(roles, identity.Role{ID: r.ID, Name: r.Name, Permissions: principal.ParsePermissions(r.Permissions)})
	}
	t.mu.Lock()
	t.roles, t.read = roles, t.now()
	t.mu.Unlock()
	return roles, nil
}

type standing struct {
	Tenant struct {
		Plan              string `json:"plan"`
		Environment       string `json:"environment"`
		MFARequired       bool   `json:"mfaRequired"`
		AgreementAccepted bool   `json:"agreementAccepted"`
	} `json:"tenant"`
	Permissions []string `json:"permissions"`
}

// Standing is identity.Tenants'.
func (t *Tenants) Standing(ctx context.Context, tenant string, roleIDs []string) (identity.Standing, error) {
	return t.standing(ctx, tenant, url.Values{"role": roleIDs})
}

// MemberStanding is identity.Tenants'.
func (t *Tenants) MemberStanding(ctx context.Context, tenant, user string) (identity.Standing, error) {
	return t.standing(ctx, tenant, url.Values{"user": {user}})
}

func (t *Tenants) standing(ctx context.Context, tenant string, of url.Values) (identity.Standing, error) {
	target := "/internal/tenant/" + url.PathEscape(tenant) + "/standing"
	if query := of.Encode(); query != "" {
		target += "?" + query
	}
	s, err := mesh.Ask[standing](ctx, t.caller, mesh.Question{Method: http.MethodGet, Target: target, Self: true})
	if err != nil {
		return identity.Standing{}, err
	}
	return identity.Standing{
		Plan: s.Tenant.Plan, Environment: s.Tenant.Environment, AgreementAccepted: s.Tenant.AgreementAccepted,
		MFARequired: s.Tenant.MFARequired, Permissions: principal.ParsePermissions(s.Permissions),
	}, nil
}
