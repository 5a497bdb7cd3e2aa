package rest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/tenant"
	"github.com/patient-mesh/patient-mesh/services/tenant/api"
)

// CreateTenant makes a tenant, or answers a repeat with the first answer.
func (s *Server) CreateTenant(ctx context.Context, r api.CreateTenantRequestObject) (api.CreateTenantResponseObject, error) {
	by, _ := principal.From(ctx) // the verb refuses a request without one
	key, keyFaults := idempotency.Parse(by, r.Params.IdempotencyKey, []byte("createTenant"), r.Body.Raw())
	draft := tenant.Draft{
		Name: r.Body.Text("name", body.NameLength).Pointer(),
		Plan: r.Body.Text("plan", body.TextLength).Pointer(),
	}
	if r.Body.Text("ownerEmail", body.TextLength).Given() {
		r.Body.Fault("ownerEmail", "not_supported", "is not taken here: invite the first Owner with POST /v2/tenant/invitation")
	}
	t, repeat, err := s.Tenants.Establish(ctx, draft, key, func(rules ...fault.Field) error {
		return r.Body.Err(append(rules, keyFaults...)...)
	}, func(t tenant.Tenant) ([]byte, error) { return json.Marshal(shown(t)) })
	if err != nil {
		return nil, err
	}
	answer := api.CreateTenant201JSONResponse{Body: shown(t)}
	if repeat != nil {
		replayed := "true"
		answer.Headers.IdempotentReplayed = &replayed
		answer.Body = api.Tenant{}
		if err := json.Unmarshal(repeat.Body, &answer.Body); err != nil {
			return nil, fmt.Errorf("read the recorded answer: %w", err)
		}
	}
	return answer, nil
}

// UpdateTenant changes the caller's own tenant.
func (s *Server) UpdateTenant(ctx context.Context, r api.UpdateTenantRequestObject) (api.UpdateTenantResponseObject, error) {
	change := tenant.Change{Name: r.Body.Text("name", body.NameLength).Pointer()}
	if required := r.Body.Bool("mfaRequired"); required.Given() {
		change.MFARequired = &required.Value
	}
	t, err := s.Tenants.Change(ctx, change, r.Body.Err)
	if err != nil {
		return nil, err
	}
	return api.UpdateTenant200JSONResponse(shown(t)), nil
}

// ReadTenant gives the caller's own tenant.
func (s *Server) ReadTenant(ctx context.Context, _ api.ReadTenantRequestObject) (api.ReadTenantResponseObject, error) {
	t, err := s.Tenants.Own(ctx)
	if err != nil {
		return nil, err
	}
	return api.ReadTenant200JSONResponse(shown(t)), nil
}

// ChangePlan moves a tenant to another plan.
func (s *Server) ChangePlan(ctx context.Context, r api.ChangePlanRequestObject) (api.ChangePlanResponseObject, error) {
	if _, err := principal.Require(ctx, principal.ClientManage); err != nil {
		return nil, err // before the body's faults
	}
	plan, faults := tenant.ParsePlan(r.Body.Text("plan", body.TextLength).Pointer())
	if err := r.Body.Err(faults...); err != nil {
		return nil, err
	}
	t, err := s.Tenants.ChangePlan(ctx, r.TenantId, plan)
	if err != nil {
		return nil, err
	}
	return api.ChangePlan200JSONResponse(shown(t)), nil
}
