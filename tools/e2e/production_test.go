package e2e

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// accept accepts the agreement in effect for a client's tenant.
func (c *client) accept() answer {
	c.t.Helper()
	id := c.get("/v2/agreement/current").is(ok).object()["id"]
	return c.post("/v2/agreement/accept", map[string]any{"agreementId": id}).is(ok)
}

// mint is a client of the same mesh with a new key that holds a role.
func (c *client) mint(role string) *client {
	c.t.Helper()
	var roles struct{ Content []struct{ ID, Name string } }
	c.get("/v2/access-control/role/all").is(ok).into(&roles)
	for _, r := range roles.Content {
		if r.Name == role {
			var made struct{ Token string }
			c.post("/v2/token", map[string]any{"acRoleIds": []string{r.ID}, "name": role}).is(http.StatusCreated).into(&made)
			return &client{t: c.t, base: c.base, header: http.Header{"Authorization": {"Bearer " + made.Token}}}
		}
	}
	c.t.Fatalf("no role %q", role)
	return nil
}

// administrator is a client of a mesh as its multi-tenant administrator.
func administrator(t *testing.T, m *mesh.Mesh) *client {
	t.Helper()
	demo := m.Demo()
	config := clientcredentials.Config{ClientID: demo.Admin.ClientID, ClientSecret: demo.Admin.ClientSecret, TokenURL: demo.Gateway + "/oauth2/token"}
	got, err := config.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at(t, m, got.AccessToken)
}

// strictSignIns is at how many accounts an address may fail in the mesh in production.
const strictSignIns = 5

// TestProduction has a mesh in production beside the demo mesh of the other tests.
func TestProduction(t *testing.T) {
	m := private(t, mesh.Options{
		Environment: "production", EnvOf: map[string]map[string]string{"identity": {"SIGN_IN_PER_ADDRESS": strconv.Itoa(strictSignIns)}},
	})
	demo := m.Demo()
	if demo.Environment != "production" || !strings.HasPrefix(demo.Tenants[0].APIKey, "prs_prod_") {
		t.Fatalf("demo.json is of %q with a key %.9s", demo.Environment, demo.Tenants[0].APIKey)
	}
	t.Run("environments are apart", func(t *testing.T) { apart(t, m) })
	t.Run("patients wait for the agreement", func(t *testing.T) { agreement(t, m) })
	t.Run("a new version is to be accepted anew", func(t *testing.T) { newVersion(t, m) })
	t.Run("administrators make tenants", func(t *testing.T) { establish(t, m) })
	t.Run("registration is closed", func(t *testing.T) { closed(t, m) })
	t.Run("people of environments are apart", func(t *testing.T) { peopleApart(t, m) })
	t.Run("addresses within", func(t *testing.T) { within(t, m) })
	t.Run("spraying", func(t *testing.T) { spraying(t, m) }) // last: this address signs nobody in any more
}

func apart(t *testing.T, m *mesh.Mesh) {
	for _, theirs := range world.Demo().Tenants {
		at(t, m, theirs.APIKey).get("/v2/tenant").refused(unauthorized, "invalid_token")
	}
	theirs := administrator(t, world).header.Get("Authorization")
	at(t, m, strings.TrimPrefix(theirs, "Bearer ")).get("/v2/tenant").refused(unauthorized, "invalid_token")
	for _, ours := range m.Demo().Tenants {
		as(t, ours.APIKey).get("/v2/tenant").refused(unauthorized, "invalid_token")
		if got := at(t, m, ours.APIKey).get("/v2/tenant").is(ok).object(); got["environment"] != "production" || got["agreementAccepted"] != false {
			t.Errorf("a tenant in production: %v", got)
		}
	}
}

func agreement(t *testing.T, m *mesh.Mesh) {
	c, theirs := at(t, m, m.Demo().Tenants[0].APIKey), at(t, m, m.Demo().Tenants[1].APIKey)
	for _, a := range []answer{
		c.get(patients), c.post(patients, ana()), c.get(patients + "/value-sets"), c.get(path(1)), c.patch(path(1), map[string]any{}),
		c.delete(path(1)), c.post(path(1)+"/restore", nil), c.get(path(1) + "/deceased"), c.put(path(1)+"/deceased", map[string]any{}),
		c.delete(path(1) + "/deceased"), c.get(path(1) + "/history"), c.get(path(1) + "/attach"), c.post(of2(path(1)+"/attach"), map[string]any{}),
		c.get(path(1) + "/attach/x/content"), c.put(of2(path(1)+"/attach/x")+"/content", "bytes"), c.get(in2(path(1))),
		c.get(findV2 + "?lastName=Lima"), c.get(findV3), c.post(findV3, map[string]any{"lastName": "Lima"}),
	} {
		a.refused(http.StatusForbidden, "agreement_required")
	}
	clinician := c.mint("Clinician") // nothing but patients waits
	var current struct {
		ID, Title, Text string
		Version         int
	}
	clinician.get("/v2/agreement/current").is(ok).into(&current)
	if current.ID == "" || current.Version < 1 || current.Title == "" || len(current.Text) < 1000 {
		t.Errorf("agreement %+v", current)
	}
	status := clinician.get("/v2/agreement/status").is(ok).object()
	if status["accepted"] != false || status["agreementId"] != current.ID || status["acceptedAt"] != nil || status["acceptedBy"] != nil {
		t.Errorf("before: %v", status)
	}
	given := map[string]any{"agreementId": current.ID}
	clinician.post("/v2/agreement/accept", given).refused(http.StatusForbidden, "permission_denied")
	clinician.get(patients).refused(http.StatusForbidden, "agreement_required")
	c.post("/v2/agreement/accept", map[string]any{"agreementId": "0190"}).refused(http.StatusConflict, "agreement_superseded")
	c.post("/v2/agreement/accept", map[string]any{}).is(bad)

	status = c.post("/v2/agreement/accept", given).is(ok).object()
	by, _ := status["acceptedBy"].(map[string]any)
	if status["accepted"] != true || status["acceptedAt"] == nil || by["type"] != "user" || by["id"] != m.Demo().Tenants[0].User.ID {
		t.Errorf("after: %v", status)
	}
	eventually(t, time.Second, func() bool { return c.get(patients).status == ok && clinician.get(patients).status == ok })
	created, _ := stored(c, ana())
	c.get(created).is(ok)
	if again := c.post("/v2/agreement/accept", given).is(ok).object(); again["acceptedAt"] != status["acceptedAt"] {
		t.Errorf("accepted again: %v", again)
	}
	if c.get("/v2/tenant").is(ok).object()["agreementAccepted"] != true {
		t.Error("the tenant does not know that it accepted")
	}
	theirs.get(patients).refused(http.StatusForbidden, "agreement_required")
}

func newVersion(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	c.accept()
	eventually(t, time.Second, func() bool { return c.get(patients).status == ok })
	first := c.get("/v2/agreement/current").is(ok).object()["id"]
	conn, err := pgx.Connect(t.Context(), m.Database("tenant").MigrateURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), `
		INSERT INTO agreement (id, version, title, text, effective_at)
		VALUES ('01900000-0000-7000-8000-000000000102', 2, 'Business Associate Agreement', 'The second version.', now())`)
	if err != nil {
		t.Fatal(err)
	}
	if status := c.get("/v2/agreement/status").is(ok).object(); status["accepted"] != false || status["version"] != 2.0 {
		t.Errorf("status %v", status)
	}
	fresh := c.mint("Owner") // whom no gateway knows from before
	fresh.get(patients).refused(http.StatusForbidden, "agreement_required")
	c.post("/v2/agreement/accept", map[string]any{"agreementId": first}).refused(http.StatusConflict, "agreement_superseded")
	c.accept()
	eventually(t, time.Second, func() bool { return fresh.get(patients).status == ok })
}

func establish(t *testing.T, m *mesh.Mesh) {
	admin := administrator(t, m)
	at(t, m, m.Demo().Tenants[0].APIKey).post("/v2/tenant", map[string]any{"name": "x"}).refused(http.StatusForbidden, "permission_denied")
	admin.post("/v2/tenant", map[string]any{"plan": "gold"}).is(bad)
	once := admin.with("Idempotency-Key", "clinic")
	made := once.post("/v2/tenant", map[string]any{"name": "Lakeside Clinic", "plan": "standard"}).is(http.StatusCreated)
	tenant := made.object()
	if tenant["name"] != "Lakeside Clinic" || tenant["plan"] != "standard" || tenant["environment"] != "production" || tenant["agreementAccepted"] != false {
		t.Errorf("made %v", tenant)
	}
	again := once.post("/v2/tenant", map[string]any{"name": "Lakeside Clinic", "plan": "standard"}).is(http.StatusCreated)
	if again.header.Get("Idempotent-Replayed") != "true" || again.object()["id"] != tenant["id"] {
		t.Errorf("a repeat made %s", again.raw)
	}
	once.post("/v2/tenant", map[string]any{"name": "Riverside Clinic"}).refused(http.StatusUnprocessableEntity, "idempotency_key_reused")
	admin.put("/v2/tenant/"+fmt.Sprint(tenant["id"])+"/plan", map[string]any{"plan": "free"}).is(ok)
}
