package store_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/libs/testkit/carried"
	"github.com/patient-mesh/patient-mesh/services/tenant"
	"github.com/patient-mesh/patient-mesh/services/tenant/store"
)

const (
	one   = "01900000-0000-7000-8000-0000000000a1"
	two   = "01900000-0000-7000-8000-0000000000a2"
	user  = "01900000-0000-7000-8000-0000000000b1"
	owner = "01900000-0000-7000-8000-000000000001"
)

func open(t testing.TB) (*store.Store, testkit.Database) {
	t.Helper()
	database, distribute := carried.Postgres(t, store.Migrations(), store.Distribution())
	db, err := pg.Open(pg.Config{URL: database.URL, MaxConns: 4, Distribute: distribute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return &store.Store{DB: db}, database
}

func create(t *testing.T, s *store.Store, id, name string) tenant.Tenant {
	t.Helper()
	made, err := s.Create(t.Context(), tenant.Tenant{
		ID: id, Name: name, Plan: "free", Environment: "demo", CreatedAt: time.Now().UTC().Truncate(time.Millisecond),
	}, "", entry(id, tenant.TenantCreate))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestCreateIsIdempotentByID(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	first := create(t, s, one, "Harbour")
	if again := create(t, s, one, "Another name"); again.Name != "Harbour" || !again.CreatedAt.Equal(first.CreatedAt) {
		t.Errorf("again %+v", again)
	}
	read, err := s.Read(t.Context(), one)
	if err != nil || read == nil || read.Name != "Harbour" {
		t.Errorf("read %+v, %v", read, err)
	}
	if none, err := s.Read(t.Context(), two); err != nil || none != nil {
		t.Errorf("read what is not there: %+v, %v", none, err)
	}
}

func TestChangePlanEndsTheTenantsSessions(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	create(t, s, one, "Harbour")
	changed, err := s.ChangePlan(t.Context(), one, tenant.PlanStandard, entry(one, tenant.PlanChange))
	if err != nil || changed == nil || changed.Plan != tenant.PlanStandard {
		t.Fatalf("changed %+v, %v", changed, err)
	}
	conn, err := pgx.Connect(t.Context(), database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var kind string
	var payload []byte
	if err := conn.QueryRow(t.Context(), `SELECT kind, payload FROM outbox`).Scan(&kind, &payload); err != nil {
		t.Fatal(err)
	}
	var said struct{ Tenant string }
	if err := json.Unmarshal(payload, &said); err != nil || kind != "session.revoke" || said.Tenant != one {
		t.Errorf("effect %s %s", kind, payload)
	}
	if none, err := s.ChangePlan(t.Context(), two, tenant.PlanStandard, entry(two, tenant.PlanChange)); err != nil || none != nil {
		t.Errorf("changed what is not there: %+v, %v", none, err)
	}
}

func TestRoles(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	roles, err := s.Roles(t.Context())
	if err != nil || len(roles) != 7 {
		t.Fatalf("%d roles, %v", len(roles), err)
	}
	for _, r := range roles {
		if got := principal.ParsePermissions(r.Permissions); len(got.Names()) != len(r.Permissions) {
			t.Errorf("%s names a permission that there is not: %v", r.Name, r.Permissions)
		}
	}
	if got := tenant.Permitted(roles[:1]); roles[0].Name != "Owner" || got != principal.All&^principal.ClientManage {
		t.Errorf("%s may %v", roles[0].Name, got)
	}
	if got := tenant.Permitted(roles[6:]); !got.Has(principal.ClientManage) || got&(principal.PatientRead|principal.PatientWrite|principal.MatchRead) != 0 {
		t.Errorf("%s may %v", roles[6].Name, got)
	}
}

// The queries of this test forget the tenant on purpose: row-level security has to hold without them.
func TestRowsOfAnotherTenantAreInvisible(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	create(t, s, one, "Harbour")
	create(t, s, two, "Hillside")
	for _, id := range []string{one, two} {
		put(t, s, id, user, owner)
	}
	conn, err := pgx.Connect(t.Context(), database.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for setting, want := range map[string]int{one: 1, two: 1, "": 0} {
		for _, table := range []string{"tenant", "membership"} {
			var n int
			err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
				if _, err := tx.Exec(t.Context(), `SELECT set_config('app.tenant_id', $1, true)`, setting); err != nil {
					return err
				}
				return tx.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n)
			})
			if err != nil || n != want {
				t.Errorf("as %q, %s shows %d rows, %v", setting, table, n, err)
			}
		}
	}
	err = pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `SELECT set_config('app.tenant_id', $1, true)`, one); err != nil {
			return err
		}
		tag, err := tx.Exec(t.Context(), `UPDATE tenant SET plan = 'standard' WHERE id = $1`, two)
		if tag.RowsAffected() != 0 {
			t.Error("another tenant's row was written")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := conn.Exec(t.Context(), `UPDATE role SET permissions = '{}'`); err == nil {
		t.Error("the service may change roles")
	}
}
