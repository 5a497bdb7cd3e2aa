package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

var _ identity.Organizations = (*Tenants)(nil)

type role struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Permissions []string `json:"permissions"`
}

func roles(list []role) []identity.Role {
	out := make([]identity.Role, 0, len(list))
	for _, r := range list {
		out = append(out, identity.Role{ID: r.ID, Name: r.Name, Permissions: principal.ParsePermissions(r.Permissions)})
	}
	return out
}

type membershipList struct {
	Content []struct {
		TenantID          string   `json:"tenantId"`
		Name              string   `json:"name"`
		Plan              string   `json:"plan"`
		Environment       string   `json:"environment"`
		MFARequired       bool     `json:"mfaRequired"`
		AgreementAccepted bool     `json:"agreementAccepted"`
		Roles             []role   `json:"roles"`
		Permissions       []string `json:"permissions"`
	} `json:"content"`
}

// Memberships is identity.Organizations'.
func (t *Tenants) Memberships(ctx context.Context, userID string) ([]identity.Membership, error) {
	target := "/internal/user/" + url.PathEscape(userID) + "/membership"
	found, err := mesh.Ask[membershipList](ctx, t.caller, mesh.Question{Method: http.MethodGet, Target: target, Self: true})
	if err != nil {
		return nil, err
	}
	list := make([]identity.Membership, 0, len(found.Content))
	for _, m := range found.Content {
		list = append(list, identity.Membership{
			TenantID: m.TenantID, Name: m.Name, Roles: roles(m.Roles), Permissions: principal.ParsePermissions(m.Permissions),
			Plan: m.Plan, Environment: m.Environment, MFARequired: m.MFARequired, AgreementAccepted: m.AgreementAccepted,
		})
	}
	return list, nil
}

type member struct {
	UserID    string    `json:"userId"`
	Roles     []role    `json:"roles"`
	CreatedAt time.Time `json:"createdAt"`
}

func (m member) noun() identity.Member {
	return identity.Member{UserID: m.UserID, Roles: roles(m.Roles), CreatedAt: m.CreatedAt}
}

type memberPage struct {
	Content       []member `json:"content"`
	TotalElements int64    `json:"totalElements"`
	More          bool     `json:"more"`
}

// Members is identity.Organizations'.
func (t *Tenants) Members(ctx context.Context, tenantID string, part page.Request) (identity.Members, error) {
	query := url.Values{"size": {strconv.Itoa(part.Size)}}
	if part.After != "" {
		query.Set("after", part.Cursor())
	} else {
		query.Set("page", strconv.Itoa(part.Page))
	}
	target := "/internal/tenant/" + url.PathEscape(tenantID) + "/member?" + query.Encode()
	found, err := mesh.Ask[memberPage](ctx, t.caller, mesh.Question{Method: http.MethodGet, Target: target, Self: true})
	if err != nil {
		return identity.Members{}, err
	}
	m := identity.Members{Total: found.TotalElements, More: found.More, List: make([]identity.Member, 0, len(found.Content))}
	for _, one := range found.Content {
		m.List = append(m.List, one.noun())
	}
	return m, nil
}

func memberTarget(tenantID, userID string) string {
	return "/internal/tenant/" + url.PathEscape(tenantID) + "/member/" + url.PathEscape(userID)
}

// Member is identity.Organizations'.
func (t *Tenants) Member(ctx context.Context, tenantID, userID string) (identity.Member, error) {
	m, err := mesh.Ask[member](ctx, t.caller, mesh.Question{Method: http.MethodGet, Target: memberTarget(tenantID, userID), Self: true})
	return m.noun(), err
}

// PutMember is identity.Organizations'.
func (t *Tenants) PutMember(ctx context.Context, tenantID, userID string, roleIDs []string) error {
	_, err := mesh.Ask[struct{}](ctx, t.caller, mesh.Question{
		Method: http.MethodPut, Target: memberTarget(tenantID, userID), Body: map[string][]string{"roles": roleIDs}, Self: true,
	})
	return err
}

// RemoveMember is identity.Organizations'.
func (t *Tenants) RemoveMember(ctx context.Context, tenantID, userID string) error {
	_, err := mesh.Ask[struct{}](ctx, t.caller, mesh.Question{Method: http.MethodDelete, Target: memberTarget(tenantID, userID), Self: true})
	return err
}

// TenantName is identity.Organizations'.
func (t *Tenants) TenantName(ctx context.Context, tenantID string) (string, error) {
	found, err := mesh.Ask[struct {
		Name string `json:"name"`
	}](ctx, t.caller, mesh.Question{Method: http.MethodGet, Target: "/internal/tenant/" + url.PathEscape(tenantID), Self: true})
	return found.Name, err
}

// CreateTenant handles identity.TenantEffect. The tenant service makes a tenant of an id once.
func (t *Tenants) CreateTenant(ctx context.Context, payload []byte) error {
	var n identity.NewTenant
	if err := json.Unmarshal(payload, &n); err != nil {
		return fmt.Errorf("read a new tenant: %w", err)
	}
	_, err := mesh.Ask[struct{}](ctx, t.caller, mesh.Question{Method: http.MethodPost, Target: "/internal/tenant", Body: n, Self: true, IdempotencyKey: n.ID})
	return err
}

// AddMember handles identity.MemberEffect.
func (t *Tenants) AddMember(ctx context.Context, payload []byte) error {
	var n identity.NewMember
	if err := json.Unmarshal(payload, &n); err != nil {
		return fmt.Errorf("read a new member: %w", err)
	}
	err := t.PutMember(ctx, n.TenantID, n.UserID, n.RoleIDs)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Conflict) {
		return nil // the tenant is gone, or keeps its last Owner: another try would be told the same
	}
	return err
}
