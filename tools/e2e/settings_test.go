package e2e

import (
	"net/http"
	"testing"
)

// A tenant's own administrators change it; the others of its people read of it.
func TestTenantSettings(t *testing.T) {
	c := newTenant(t)
	clinician := c.mint("Clinician")
	clinician.patch("/v2/tenant", map[string]any{"name": "x"}).refused(http.StatusForbidden, "permission_denied")
	c.patch("/v2/tenant", map[string]any{"name": " ", "mfaRequired": 1}).is(bad)
	before := c.get("/v2/tenant").is(ok).object()
	after := c.patch("/v2/tenant", map[string]any{"name": "Harbour & Sons", "mfaRequired": true}).is(ok).object()
	if after["name"] != "Harbour & Sons" || after["mfaRequired"] != true || after["id"] != before["id"] || after["plan"] != before["plan"] {
		t.Errorf("changed %v", after)
	}
	if got := clinician.get("/v2/tenant").is(ok).object(); got["name"] != "Harbour & Sons" || got["mfaRequired"] != true {
		t.Errorf("read %v", got)
	}
	c.patch("/v2/tenant", map[string]any{"mfaRequired": false}).is(ok) // its Owner signs in in other tests
}

// In the demo environment nothing waits for the agreement; it can be accepted all the same.
func TestTheAgreementInTheDemo(t *testing.T) {
	c := newTenant(t)
	c.get(patients).is(ok)
	if c.get("/v2/agreement/status").is(ok).object()["accepted"] != false || c.get("/v2/tenant").is(ok).object()["agreementAccepted"] != true {
		t.Error("a demo tenant has accepted, or must")
	}
	if c.accept().object()["accepted"] != true || c.get("/v2/agreement/status").is(ok).object()["accepted"] != true {
		t.Error("not accepted")
	}
}
