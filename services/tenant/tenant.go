// Package tenant is about organizations: their plan, who is a member of them, and what the roles permit. It does not
// know how anybody signs in, and no patient.
package tenant

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// PlanStandard is the plan without a limit of patients; principal.PlanFree is the one with it.
const PlanStandard = "standard"

// Tenant is an organization.
type Tenant struct {
	ID                  string
	Name                string
	Plan                string
	Environment         string
	MFARequired         bool
	AgreementAcceptedAt *time.Time // of the agreement in effect now
	CreatedAt           time.Time
}

// AgreementAccepted reports whether the tenant's patient data may be used. Demo data needs no agreement.
func (t Tenant) AgreementAccepted() bool {
	return t.Environment == config.Demo || t.AgreementAcceptedAt != nil
}

// Draft is what a new tenant is asked to be. A nil member was not given.
type Draft struct {
	ID   *string
	Name *string
	Plan *string
}

// Change is what a tenant's own people may change of it. A nil member stays as it is.
type Change struct {
	Name        *string
	MFARequired *bool
}

func (c Change) faults() []fault.Field {
	if c.Name != nil && *c.Name == "" {
		return []fault.Field{{Field: "name", Code: "blank", Message: "must not be blank"}}
	}
	return nil
}

// apply gives the changed tenant.
func (c Change) apply(t Tenant) Tenant {
	if c.Name != nil {
		t.Name = *c.Name
	}
	if c.MFARequired != nil {
		t.MFARequired = *c.MFARequired
	}
	return t
}

// New makes a tenant of a draft, or tells every rule that the draft breaks.
func New(d Draft, id, environment string, now time.Time) (Tenant, []fault.Field) {
	var faults []fault.Field
	t := Tenant{ID: id, Plan: principal.PlanFree, Environment: environment, CreatedAt: now}
	if d.ID != nil {
		t.ID = *d.ID
		if !ValidID(t.ID) {
			faults = append(faults, fault.Field{Field: "id", Code: "invalid_id", Message: "must be a UUID"})
		}
	}
	if d.Name == nil || *d.Name == "" {
		faults = append(faults, fault.Field{Field: "name", Code: "required", Message: "is required"})
	} else {
		t.Name = *d.Name
	}
	if d.Plan != nil {
		plan, f := ParsePlan(d.Plan)
		faults = append(faults, f...)
		t.Plan = plan
	}
	return t, faults
}

// ParsePlan reads a plan in any case.
func ParsePlan(text *string) (string, []fault.Field) {
	if text == nil {
		return "", []fault.Field{{Field: "plan", Code: "required", Message: "is required"}}
	}
	switch plan := strings.ToLower(*text); plan {
	case principal.PlanFree, PlanStandard:
		return plan, nil
	}
	return "", []fault.Field{{Field: "plan", Code: "not_allowed", Message: "must be free or standard"}}
}

// ValidID reports whether a text is an id as we write them.
func ValidID(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}
