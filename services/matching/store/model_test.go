package store_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/matching"
	"github.com/patient-mesh/patient-mesh/services/matching/store"
)

var at = time.Date(2026, 3, 14, 9, 26, 53, 589e6, time.UTC)

func some[T any](v T) *T { return &v }

func entry(tenant, action string) audit.Entry {
	return audit.Entry{ID: uuid.NewString(), At: at, TenantID: tenant, Action: action, Outcome: audit.Success}
}

func model(version int64) matching.Model {
	return matching.Model{
		Version: version, Name: "n", Description: "d", Training: json.RawMessage(`{"ece":0.006}`), Weights: linkage.Default(),
		CreatedAt: at, CreatedBy: principal.Actor{Type: "user", ID: "u"},
	}
}

func create(t *testing.T, s *store.Store, tenant string, m matching.Model, key idempotency.Key) (*idempotency.Record, bool) {
	t.Helper()
	repeat, saved, err := s.CreateModel(t.Context(), tenant, m, key, 201, []byte("body"), entry(tenant, "model.create"))
	if err != nil {
		t.Fatal(err)
	}
	return repeat, saved
}

func activate(t *testing.T, s *store.Store, tenant string, a matching.Activation) bool {
	t.Helper()
	a.At, a.By = at, principal.Actor{Type: "client", ID: "c"}
	_, saved, err := s.Activate(t.Context(), tenant, a, idempotency.Key{}, 0, nil, entry(tenant, "model.activate"))
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

// entries is how many wait in the audit queue.
func entries(t *testing.T, admin *pgx.Conn) (n int) {
	t.Helper()
	if err := admin.QueryRow(t.Context(), `SELECT coalesce(sum(number), 0) FROM audit_entry`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAModelReadsBackAsItWasStored(t *testing.T) {
	s, admin := open(t)
	tenant := uuid.NewString()
	first := model(1)
	second := model(2)
	second.Parent, second.Weights.Prior.Matches = some(int64(1)), 0.25
	for _, m := range []matching.Model{first, second} {
		if _, saved := create(t, s, tenant, m, idempotency.Key{}); !saved {
			t.Fatal("not saved")
		}
	}
	if n := entries(t, admin); n != 2 {
		t.Errorf("%d entries of two changes", n)
	}
	got, standing, err := s.ReadModel(t.Context(), tenant, 2)
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(second.Weights)
	if err != nil {
		t.Fatal(err)
	}
	weights, err := json.Marshal(got.Weights)
	if err != nil || string(weights) != string(want) {
		t.Errorf("%s, %v", weights, err)
	}
	got.Weights, second.Weights = nil, nil
	if diff := cmp.Diff(second, *got); diff != "" {
		t.Error(diff)
	}
	if standing.Latest != 2 || standing.Current != nil || standing.Active() != matching.DefaultVersion {
		t.Errorf("%+v", standing)
	}
	for _, version := range []int64{0, 3, -1} {
		if m, _, err := s.ReadModel(t.Context(), tenant, version); m != nil || err != nil {
			t.Errorf("version %d: %v, %v", version, m, err)
		}
	}
}

func TestAVersionIsTakenOnce(t *testing.T) {
	s, admin := open(t)
	tenant := uuid.NewString()
	create(t, s, tenant, model(1), idempotency.Key{})
	if _, saved := create(t, s, tenant, model(1), idempotency.Key{}); saved {
		t.Error("version 1 was made twice")
	}
	if n := entries(t, admin); n != 1 {
		t.Errorf("%d entries of one change", n)
	}
	if _, saved := create(t, s, uuid.NewString(), model(1), idempotency.Key{}); !saved {
		t.Error("another tenant has no version 1")
	}
}

func TestAKeyMakesOneVersion(t *testing.T) {
	s, _ := open(t)
	tenant := uuid.NewString()
	key := idempotency.Key{Tenant: tenant, Credential: "c", Value: "k", Hash: []byte{1}}
	if repeat, saved := create(t, s, tenant, model(1), key); repeat != nil || !saved {
		t.Fatal(repeat, saved)
	}
	repeat, saved := create(t, s, tenant, model(2), key)
	if saved || repeat == nil || string(repeat.Body) != "body" || repeat.ResourceID != "1" {
		t.Errorf("%+v, %v", repeat, saved)
	}
	if found, err := s.Earlier(t.Context(), key); err != nil || found == nil || found.Status != 201 {
		t.Errorf("%+v, %v", found, err)
	}
	key.Hash = []byte{2}
	if _, _, err := s.CreateModel(t.Context(), tenant, model(2), key, 201, []byte("x"), entry(tenant, "model.create")); !fault.Is(err, fault.IdempotencyMismatch) {
		t.Error(err)
	}
	if standing, err := s.Standing(t.Context(), tenant); err != nil || standing.Latest != 1 {
		t.Errorf("%+v, %v", standing, err)
	}
}

func TestTheLogTellsWhatIsActiveAndWhatWasBelow(t *testing.T) {
	s, admin := open(t)
	tenant, other := uuid.NewString(), uuid.NewString()
	for _, tenant := range []string{tenant, other} {
		create(t, s, tenant, model(1), idempotency.Key{})
		create(t, s, tenant, model(2), idempotency.Key{})
	}
	for _, a := range []matching.Activation{
		{Number: 1, Version: 1, Below: some(int64(0))},
		{Number: 2, Version: 2, Below: some(int64(1))},
		{Number: 3, Version: 0, Below: some(int64(2))},
		{Number: 4, Version: 2, Below: some(int64(1))},
	} {
		if !activate(t, s, tenant, a) {
			t.Fatal("not saved")
		}
	}
	before := entries(t, admin)
	if activate(t, s, tenant, matching.Activation{Number: 4, Version: 1, Below: some(int64(1))}) {
		t.Error("number 4 is taken twice")
	}
	if n := entries(t, admin); n != before {
		t.Error("what was not saved is in the trail")
	}
	standing, err := s.Standing(t.Context(), tenant)
	if err != nil {
		t.Fatal(err)
	}
	by := principal.Actor{Type: "client", ID: "c"}
	want := matching.Standing{
		Latest:  2,
		Current: &matching.Activation{Number: 4, Version: 2, Below: some(int64(1)), At: at, By: by},
		Below:   &matching.Activation{Number: 1, Version: 1, Below: some(int64(0)), At: at, By: by},
	}
	if diff := cmp.Diff(want, standing); diff != "" {
		t.Error(diff)
	}
	activated := func(version int64) int64 {
		m, _, err := s.ReadModel(t.Context(), tenant, version)
		if err != nil || m == nil || m.Activated == nil || m.Activated.Version != version {
			t.Fatalf("version %d: %+v, %v", version, m, err)
		}
		return m.Activated.Number
	}
	if a, b, c := activated(0), activated(1), activated(2); a != 3 || b != 1 || c != 4 {
		t.Errorf("activated last by %d, %d, %d", a, b, c)
	}
	list, total, _, err := s.ListModels(t.Context(), tenant, 0, 1, 5)
	if err != nil || total != 2 || len(list) != 1 || list[0].Version != 2 || list[0].Activated.Number != 4 || list[0].Weights != nil {
		t.Errorf("%+v, %d, %v", list, total, err)
	}
	if standing, err := s.Standing(t.Context(), other); err != nil || standing.Current != nil || standing.Latest != 2 {
		t.Errorf("another tenant: %+v, %v", standing, err)
	}
	choices, err := s.Choices(t.Context(), []string{tenant, other, uuid.NewString()})
	if diff := cmp.Diff(map[string]int64{tenant: 4}, choices); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// What a service says wrongly of a tenant, PostgreSQL holds it to.
func TestATenantSeesItsModelsAlone(t *testing.T) {
	s, admin := open(t)
	mine, theirs := uuid.NewString(), uuid.NewString()
	create(t, s, mine, model(1), idempotency.Key{})
	activate(t, s, mine, matching.Activation{Number: 1, Version: 1, Below: some(int64(0))})
	var owner string
	if err := admin.QueryRow(t.Context(), `SELECT tableowner FROM pg_tables WHERE tablename = 'model'`).Scan(&owner); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"model", "model_activation", "idempotency_key"} {
		var enabled, forced bool
		if err := admin.QueryRow(t.Context(), `SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE relname = $1`, table).Scan(&enabled, &forced); err != nil || !enabled || !forced {
			t.Errorf("%s: row-level security %v, forced %v, %v", table, enabled, forced, err)
		}
	}
	for role, want := range map[string]int{service(t, admin): 0, owner: 0} {
		seen := -1
		tx, err := admin.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{`SET LOCAL ROLE "` + role + `"`, `SELECT set_config('app.tenant_id', '` + theirs + `', true)`} {
			if _, err := tx.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.QueryRow(t.Context(), `SELECT count(*) FROM model WHERE tenant_id = $1`, mine).Scan(&seen); err != nil || seen != want {
			t.Errorf("%s sees %d of another tenant's models, %v", role, seen, err)
		}
		_ = tx.Rollback(context.Background())
	}
}

// service is the role as which the service is connected.
func service(t *testing.T, admin *pgx.Conn) (role string) {
	t.Helper()
	err := admin.QueryRow(t.Context(), `
		SELECT grantee FROM information_schema.role_table_grants
		WHERE table_name = 'model' AND privilege_type = 'INSERT' AND grantee <> (SELECT tableowner FROM pg_tables WHERE tablename = 'model')`).Scan(&role)
	if err != nil {
		t.Fatal(err)
	}
	return role
}
