package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/tools/mesh/seed"
	"github.com/patient-mesh/patient-mesh/tools/smoke"
)

// What `helm test` does to a mesh in a cluster, done to this one, twice: the second visit finds the first one's tenant.
func TestSmoke(t *testing.T) {
	inside(t)
	t.Parallel()
	keys, err := principal.ParseKeyring(world.MeshKey())
	if err != nil {
		t.Fatal(err)
	}
	caller := func(service string) seed.Caller {
		return seed.Caller{Address: world.Address(service), Environment: "demo", Keys: keys, Client: http.DefaultClient, Now: time.Now}
	}
	seeder := seed.Seeder{Identity: caller("identity"), Tenant: caller("tenant")}
	visitor := seed.Visitor{
		UserID: "01900000-0000-7000-8000-0000e2e0ce01", TenantID: "01900000-0000-7000-8000-0000e2e0ce02",
		Email: "smoke@e2e.invalid", Name: "Smoke",
	}
	for range 2 {
		id, key, err := seeder.Visit(t.Context(), visitor)
		if err != nil {
			t.Fatal(err)
		}
		check := smoke.Check{Gateway: world.URL(), APIKey: key, Client: http.DefaultClient, Say: func(line string) { t.Log(line) }, Patience: time.Minute}
		if err := check.Run(t.Context()); err != nil {
			t.Error(err)
		}
		if soak, err := check.Soak(t.Context(), 2, time.Second); err != nil || soak.Failed > 0 || soak.Requests < 5 {
			t.Errorf("soak: %+v, %v", soak, err)
		}
		if err := check.Revoke(t.Context(), id); err != nil {
			t.Error(err)
		}
		if err := check.Run(t.Context()); err == nil {
			t.Error("a revoked key still works")
		}
	}
}
