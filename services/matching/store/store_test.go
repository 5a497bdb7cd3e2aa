package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/services/matching/store"
)

// open gives a store on a database of the test's own, and a connection of the superuser's.
func open(t *testing.T) (*store.Store, *pgx.Conn) {
	t.Helper()
	database := testkit.Postgres(t, store.Migrations())
	db, err := pg.Open(pg.Config{URL: database.URL, MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	admin, err := pgx.Connect(t.Context(), database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(t.Context()) })
	return store.New(db), admin
}

func TestTheLatestUsedTenantsComeFirst(t *testing.T) {
	s, admin := open(t)
	a, b, old := uuid.NewString(), uuid.NewString(), uuid.NewString()
	for _, tenant := range []string{a, b, old} {
		if err := s.Used(t.Context(), []string{tenant}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := admin.Exec(t.Context(), `UPDATE index_use SET used_at = now() - CASE WHEN tenant_id = $1 THEN interval '1 hour' ELSE interval '8 days' END WHERE tenant_id = ANY ($2)`,
		a, []string{a, old}); err != nil {
		t.Fatal(err)
	}
	at := func(want ...string) {
		t.Helper()
		got, err := s.Recent(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	at(b, a)
	if err := s.Used(t.Context(), []string{a}); err != nil {
		t.Fatal(err)
	}
	at(a, b)
	var rows int
	if err := admin.QueryRow(t.Context(), `SELECT count(*) FROM index_use`).Scan(&rows); err != nil || rows != 2 {
		t.Errorf("%d rows, %v: who was not asked about for long is still there", rows, err)
	}
}

func TestAFindsEntryWaitsToBeCarriedAway(t *testing.T) {
	s, admin := open(t)
	e := audit.Entry{ID: uuid.NewString(), At: time.Now(), TenantID: uuid.NewString(), Action: "patient.find", Outcome: audit.Success}
	if err := s.Keep(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	var kept string
	if err := admin.QueryRow(t.Context(), `SELECT entries->0->>'id' FROM audit_entry`).Scan(&kept); err != nil || kept != e.ID {
		t.Errorf("kept %q, %v", kept, err)
	}
}
