package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// newTenant is a client as Owner of a tenant of its own, on the standard plan.
func newTenant(t *testing.T) *client {
	t.Helper()
	return tenantOn(t, "standard")
}

func tenantOn(t *testing.T, plan string) *client {
	t.Helper()
	var tenant struct{ ID string }
	inner(t, "tenant", http.MethodPost, "/internal/tenant", map[string]any{"name": t.Name(), "plan": plan}, &tenant)
	user := world.Demo().Tenants[0].User.ID
	inner(t, "tenant", http.MethodPut, "/internal/tenant/"+tenant.ID+"/member/"+user, map[string]any{"roles": []string{"Owner"}}, nil)
	var key struct{ Token string }
	inner(t, "identity", http.MethodPost, "/internal/key", map[string]any{
		"tenantId": tenant.ID, "userId": user, "name": t.Name(), "roles": []string{"Owner"},
	}, &key)
	return as(t, key.Token)
}

// inner calls an operation for programs of the mesh, past the gateway, as the operator's tools do.
func inner(t *testing.T, service, method, target string, body, answer any) {
	t.Helper()
	inside(t)
	keys, err := principal.ParseKeyring(world.MeshKey())
	if err != nil {
		t.Fatal(err)
	}
	me := principal.Encode(principal.Principal{Kind: principal.Service, ClientID: "e2e", Environment: "demo"})
	c := &client{t: t, base: "http://" + world.Address(service), header: http.Header{}}
	a := c.with(principal.AssertionHeader, keys.Sign(me, method, target, time.Now())).do(method, target, body)
	if a.status >= http.StatusBadRequest {
		t.Fatalf("%s %s answered %d: %s", service, target, a.status, a.raw)
	}
	if answer != nil {
		a.into(answer)
	}
}

func TestTenantsAreIsolated(t *testing.T) {
	mine, theirs := owner(t), other(t)
	path, _ := stored(mine, ana())
	for _, a := range []answer{
		theirs.get(path), theirs.patch(path, map[string]any{"firstName": "Eve"}), theirs.delete(path), theirs.post(path+"/restore", nil),
		theirs.get(path + "/deceased"), theirs.put(path+"/deceased", map[string]any{}), theirs.delete(path + "/deceased"), theirs.get(path + "/history"),
	} {
		a.refused(missing, "patient_not_found")
	}
	if mine.get(path).is(ok).object()["firstName"] != "Ana" {
		t.Error("another tenant changed the record")
	}
	fresh := newTenant(t)
	var l list
	fresh.get(patients).is(ok).into(&l)
	if l.TotalElements != 0 || len(l.Content) != 0 {
		t.Errorf("a new tenant sees %d patients", l.TotalElements)
	}
	next := nextOf(t, mine.get(patients+"?size=1").is(ok))
	fresh.get(next).is(ok).into(&l)
	if len(l.Content) != 0 {
		t.Error("a cursor of another tenant shows its patients")
	}
}

func TestTenantContext(t *testing.T) {
	demo := world.Demo().Tenants[0]
	got := owner(t).get("/v2/tenant").is(ok).object()
	for member, want := range map[string]any{"id": demo.ID, "name": demo.Name, "plan": "standard", "environment": "demo", "mfaRequired": false, "agreementAccepted": true} {
		if got[member] != want {
			t.Errorf("%s is %v, want %v", member, got[member], want)
		}
	}
	if _, err := time.Parse(time.RFC3339, fmt.Sprint(got["createdAt"])); err != nil {
		t.Error(err)
	}
}

func TestFreePlanEndsAtAThousandPatients(t *testing.T) {
	c := tenantOn(t, "free")
	const limit = 1000
	var made, refused atomic.Int64
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for made.Load()+refused.Load() < limit+20 {
				switch a := c.post(patients, ana()); a.status {
				case ok:
					made.Add(1)
				case http.StatusPaymentRequired:
					a.refused(http.StatusPaymentRequired, "plan_limit_reached")
					refused.Add(1)
				default:
					t.Errorf("answered %d: %s", a.status, a.raw)
					return
				}
			}
		})
	}
	wait.Wait()
	if made.Load() != limit || refused.Load() == 0 {
		t.Fatalf("made %d patients on the free plan, and %d were refused", made.Load(), refused.Load())
	}
	var l list
	c.get(patients + "?size=1").is(ok).into(&l)
	if l.TotalElements != limit {
		t.Errorf("%d patients are counted", l.TotalElements)
	}
	first := path(l.Content[0].ID)
	c.delete(first).is(ok)
	c.post(patients, ana()).is(ok)
	c.post(first+"/restore", nil).refused(http.StatusPaymentRequired, "plan_limit_reached")

	tenant := fmt.Sprint(c.get("/v2/tenant").is(ok).object()["id"])
	plan := "/v2/tenant/" + tenant + "/plan"
	c.put(plan, map[string]any{"plan": "standard"}).refused(http.StatusForbidden, "permission_denied")
	admin(t).put(plan, map[string]any{"plan": "gold"}).is(bad)
	admin(t).put("/v2/tenant/00000000-0000-0000-0000-000000000000/plan", map[string]any{"plan": "standard"}).is(missing)
	if got := admin(t).put(plan, map[string]any{"plan": "standard"}).is(ok).object()["plan"]; got != "standard" {
		t.Errorf("plan %v", got)
	}
	eventually(t, time.Second, func() bool { return c.post(patients, ana()).status == ok })
	c.post(first+"/restore", nil).is(ok)
}
