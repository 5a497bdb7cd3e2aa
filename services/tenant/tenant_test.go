package tenant_test

import (
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/services/tenant"
)

func pointer(s string) *string { return &s }

func TestNewTellsAllFaults(t *testing.T) {
	t.Parallel()
	_, faults := tenant.New(tenant.Draft{ID: pointer("x"), Plan: pointer("gold")}, "", "demo", time.Now())
	var fields []string
	for _, f := range faults {
		fields = append(fields, f.Field)
	}
	if len(fields) != 3 || fields[0] != "id" || fields[1] != "name" || fields[2] != "plan" {
		t.Errorf("faults %v", fields)
	}
}

func TestNewTenantIsOnTheFreePlan(t *testing.T) {
	t.Parallel()
	made, faults := tenant.New(tenant.Draft{Name: pointer("Clinic")}, "01900000-0000-7000-8000-00000000000a", "demo", time.Now())
	if len(faults) != 0 || made.Plan != "free" || made.Environment != "demo" {
		t.Errorf("made %+v, faults %v", made, faults)
	}
}

func TestPlanInAnyCase(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"free": "free", "Standard": "standard", "STANDARD": "standard", "": "", "gold": ""} {
		if got, faults := tenant.ParsePlan(&text); got != want || (len(faults) == 0) != (want != "") {
			t.Errorf("%q became %q with %v", text, got, faults)
		}
	}
}

func TestAgreement(t *testing.T) {
	t.Parallel()
	accepted := time.Now()
	for _, c := range []struct {
		environment string
		at          *time.Time
		want        bool
	}{{"demo", nil, true}, {"production", nil, false}, {"production", &accepted, true}} {
		if got := (tenant.Tenant{Environment: c.environment, AgreementAcceptedAt: c.at}).AgreementAccepted(); got != c.want {
			t.Errorf("%s, accepted %v: %v", c.environment, c.at != nil, got)
		}
	}
}

func TestValidID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"01900000-0000-7000-8000-000000000001": true, "": false, "1": false,
		"{01900000-0000-7000-8000-000000000001}": false, "01900000-0000-7000-8000-00000000000A": false,
	} {
		if tenant.ValidID(text) != want {
			t.Errorf("%q is not %v", text, want)
		}
	}
}
