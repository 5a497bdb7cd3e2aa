package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/gateway/route"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// In production no operation on patients lets anybody through whose tenant has not accepted the agreement, whatever else
// they may do; and all that leads to accepting stays open.
func TestNothingOfPatientsWithoutTheAgreement(t *testing.T) {
	w := start(t, func(_ *Settings, p *Parts) { p.Environment = "production" })
	p := everyone()
	p.Environment = "production"
	w.know("without", p)
	p.AgreementAccepted = true
	w.know("with", p)
	for _, r := range route.Table() {
		if r.Public {
			continue
		}
		target, body := strings.NewReplacer("{", "", "}", "").Replace(r.Pattern), ""
		if r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
			body = "{}"
		}
		calls := w.calls.Load()
		a := w.do(r.Method, target, headers{"Authorization": "Bearer without", "Content-Type": "application/json"}, body)
		switch {
		case r.Patient && (a.status != http.StatusForbidden || a.code != "agreement_required" || w.calls.Load() != calls):
			t.Errorf("%s %s goes through: %v", r.Method, r.Pattern, a)
		case !r.Patient && a.status != http.StatusOK:
			t.Errorf("%s %s does not go through: %v", r.Method, r.Pattern, a)
		}
		if a := w.do(r.Method, target, headers{"Authorization": "Bearer with", "Content-Type": "application/json"}, body); a.status != http.StatusOK {
			t.Errorf("%s %s with the agreement: %v", r.Method, r.Pattern, a)
		}
	}
}

// Whatever needs a permission on patient data is marked as touching it.
func TestPatientRoutesAreMarked(t *testing.T) {
	const data = principal.PatientRead | principal.PatientWrite | principal.PatientDelete | principal.PatientRestore |
		principal.DocumentRead | principal.DocumentWrite | principal.MatchRead
	for _, r := range route.Table() {
		touches := r.Need&data != 0 || r.Service == "patient" || r.Service == "matching" || r.Service == "attachment"
		if touches != r.Patient {
			t.Errorf("%s %s: touches patient data %v, marked %v", r.Method, r.Pattern, touches, r.Patient)
		}
	}
}
