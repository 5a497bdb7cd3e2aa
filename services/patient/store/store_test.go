package store_test

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/libs/testkit/carried"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/store"
)

var now = time.Date(2026, 3, 14, 9, 26, 53, 589e6, time.UTC)

// open gives a store on a database of the test's own.
func open(t *testing.T) (*store.Store, testkit.Database) {
	t.Helper()
	database, distribute := carried.Postgres(t, store.Migrations(), store.Distribution())
	db, err := pg.Open(pg.Config{URL: database.URL, MaxConns: 8, Distribute: distribute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return store.New(db, slog.New(slog.DiscardHandler)), database
}

func somebody() principal.Principal {
	return principal.Principal{TenantID: uuid.NewString(), Kind: principal.APIKey, CredentialID: "key", Plan: "standard", Permissions: principal.All}
}

func ana() patient.Patient {
	name, birth := "Ana", "1980-02-29"
	p, _ := patient.New(patient.Input{FirstName: &name, LastName: &name, DOB: &birth}, now)
	return p
}

// entry is one of somebody's actions.
func entry(by principal.Principal, action string) audit.Entry {
	return audit.Of(principal.With(context.Background(), by), now, uuid.NewV7, action)
}

func create(t *testing.T, s *store.Store, by principal.Principal) patient.Patient {
	t.Helper()
	p := ana()
	id, _, err := s.Create(t.Context(), p, by, 0, idempotency.Key{}, nil, entry(by, "patient.create"))
	if err != nil {
		t.Fatal(err)
	}
	p.ID = id
	return p
}

func TestWhatIsCreatedReadsBack(t *testing.T) {
	s, _ := open(t)
	by := somebody()
	want := create(t, s, by)
	got, err := s.Read(t.Context(), by.TenantID, want.ID, entry(by, "patient.read"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Error(diff)
	}
	changes, total, found, err := s.History(t.Context(), by.TenantID, want.ID, page.Request{Size: 50}, entry(by, "history.read"))
	if err != nil || !found || total != 1 || len(changes) != 1 || changes[0].Change != patient.Created {
		t.Errorf("history %v, %d, %v, %v", changes, total, found, err)
	}
}

func TestSaveIsOverTheVersionRead(t *testing.T) {
	s, _ := open(t)
	by := somebody()
	p := create(t, s, by)
	p.MiddleName, p.Version = "Maria", 2
	change := patient.Change{By: by, Entry: entry(by, "patient.update"), What: patient.Updated, Fields: []string{"middleName"}}
	for i, want := range []bool{true, false} {
		if saved, err := s.Save(t.Context(), p, change, 0); err != nil || saved != want {
			t.Errorf("save %d: %v, %v", i, saved, err)
		}
	}
	p.ID++
	if saved, err := s.Save(t.Context(), p, change, 0); err != nil || saved {
		t.Errorf("saved who is not there: %v", err)
	}
}

func TestAnotherTenantSeesNothing(t *testing.T) {
	s, database := open(t)
	by, stranger := somebody(), somebody()
	p := create(t, s, by)
	if got, err := s.Read(t.Context(), stranger.TenantID, p.ID, entry(stranger, "patient.read")); err != nil || got != nil {
		t.Errorf("read %v, %v", got, err)
	}
	p.Version = 2
	if saved, err := s.Save(t.Context(), p, patient.Change{By: stranger, Entry: entry(stranger, "patient.update")}, 0); err != nil || saved {
		t.Errorf("saved %v, %v", saved, err)
	}
	if list, total, err := s.List(t.Context(), stranger.TenantID, page.Request{Size: 50}, entry(stranger, "patient.list")); err != nil || len(list) != 0 || total != 0 {
		t.Errorf("listed %v, %d, %v", list, total, err)
	}

	// The second wall: the service's role, with queries that forget the tenant.
	conn, err := pgx.Connect(t.Context(), database.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, table := range []string{"patient", "patient_history", "patient_count", "idempotency_key"} {
		for setting, want := range map[string]bool{"": false, stranger.TenantID: false, by.TenantID: table != "idempotency_key"} {
			if _, err := conn.Exec(t.Context(), `SELECT set_config('app.tenant_id', $1, false)`, setting); err != nil {
				t.Fatal(err)
			}
			var sees bool
			if err := conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM `+table+`)`).Scan(&sees); err != nil {
				t.Fatal(err)
			}
			if sees != want {
				t.Errorf("as %q: sees rows of %s: %v", setting, table, sees)
			}
		}
	}
	if _, err := conn.Exec(t.Context(), `SELECT set_config('app.tenant_id', $1, false)`, stranger.TenantID); err != nil {
		t.Fatal(err)
	}
	if tag, err := conn.Exec(t.Context(), `UPDATE patient SET first_name = 'Eve'`); err != nil || tag.RowsAffected() != 0 {
		t.Errorf("updated %d rows of another tenant, %v", tag.RowsAffected(), err)
	}
	if _, err := conn.Exec(t.Context(), `INSERT INTO patient_count (tenant_id, delta) VALUES ($1, 1)`, by.TenantID); err == nil {
		t.Error("wrote into another tenant")
	}
	for _, forbidden := range []string{
		`DELETE FROM patient`, `DELETE FROM patient_history`, `UPDATE patient_history SET fields = '{}'`, `TRUNCATE patient`,
		`ALTER TABLE patient NO FORCE ROW LEVEL SECURITY`, `SET ROLE testkit_owner`,
	} {
		if _, err := conn.Exec(t.Context(), forbidden); err == nil {
			t.Errorf("the service's role may %s", forbidden)
		}
	}
}

func TestARoleThatCanPassRowLevelSecurityIsRefused(t *testing.T) {
	_, database := open(t)
	for _, url := range []string{database.OwnerURL, database.AdminURL} {
		db, err := pg.Open(pg.Config{URL: url, MaxConns: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Ready(t.Context()); err == nil {
			t.Error("a powerful role may serve")
		}
		db.Close()
	}
}

func TestTheCountIsExactWhileItIsRolledUp(t *testing.T) {
	s, database := open(t)
	by := somebody()
	const writers, each = 4, 60
	ctx, stop := context.WithCancel(t.Context())
	var loops, writing sync.WaitGroup
	for range 2 {
		loops.Go(func() { _ = s.RollUp(ctx) })
	}
	for range writers {
		writing.Go(func() {
			for range each {
				create(t, s, by)
				s.RollUpSoon(by.TenantID)
			}
		})
	}
	for i := range 50 {
		if _, total, err := s.List(t.Context(), by.TenantID, page.Request{Size: 500}, entry(by, "patient.list")); err != nil || total > writers*each {
			t.Fatalf("list %d: %d patients, %v", i, total, err)
		}
	}
	writing.Wait()
	stop()
	loops.Wait()
	list, total, err := s.List(t.Context(), by.TenantID, page.Request{Size: 500}, entry(by, "patient.list"))
	if err != nil || total != writers*each || len(list) != writers*each {
		t.Errorf("%d listed, %d counted, want %d; %v", len(list), total, writers*each, err)
	}
	conn, err := pgx.Connect(t.Context(), database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var rows int
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM patient_count`).Scan(&rows); err != nil || rows >= writers*each {
		t.Errorf("nothing was rolled up: %d rows, %v", rows, err)
	}
}

func TestExpiredKeysAreSweptAndOthersStay(t *testing.T) {
	s, database := open(t)
	by := somebody()
	header := "old"
	old, _ := idempotency.Parse(by, &header)
	header = "new"
	fresh, _ := idempotency.Parse(by, &header)
	for _, key := range []idempotency.Key{old, fresh} {
		if _, _, err := s.Create(t.Context(), ana(), by, 0, key, []byte("{}"), entry(by, "patient.create")); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := pgx.Connect(t.Context(), database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `UPDATE idempotency_key SET created_at = now() - interval '25 hours' WHERE key = 'old'`); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	go func() { _ = s.Sweep(ctx) }()
	for {
		var keys []string
		rows, err := conn.Query(ctx, `SELECT key FROM idempotency_key ORDER BY key`)
		if err == nil {
			keys, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if err != nil {
			t.Fatalf("still there: %v, %v", keys, err)
		}
		if cmp.Equal(keys, []string{"new"}) {
			return
		}
	}
}

func TestThePlanLimitHoldsAmongManyAtOnce(t *testing.T) {
	s, _ := open(t)
	const limit = 10
	for range 8 { // tenants, since what goes wrong goes wrong by chance
		by := somebody()
		var wait sync.WaitGroup
		made := make(chan int64, 40)
		for range 8 {
			wait.Go(func() {
				for range 5 {
					id, _, err := s.Create(t.Context(), ana(), by, limit, idempotency.Key{}, nil, entry(by, "patient.create"))
					if err == nil {
						made <- id
					} else if !fault.Is(err, fault.PlanLimit) {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		if len(made) != limit {
			t.Errorf("made %d patients of %d", len(made), limit)
		}
	}
}

func TestARepeatOnAFullPlanIsStillARepeat(t *testing.T) {
	s, _ := open(t)
	by, header := somebody(), "lost answer"
	key, _ := idempotency.Parse(by, &header, []byte("one"))
	first, _, err := s.Create(t.Context(), ana(), by, 1, key, []byte("{}"), entry(by, "patient.create"))
	if err != nil {
		t.Fatal(err)
	}
	if again, repeat, err := s.Create(t.Context(), ana(), by, 1, key, []byte("{}"), entry(by, "patient.create")); err != nil || repeat == nil || again != first {
		t.Errorf("repeat %+v of patient %d, want %d, %v", repeat, again, first, err)
	}
	other, _ := idempotency.Parse(by, &header, []byte("two"))
	if _, _, err := s.Create(t.Context(), ana(), by, 1, other, []byte("{}"), entry(by, "patient.create")); !fault.Is(err, fault.IdempotencyMismatch) {
		t.Errorf("another request under the key: %v", err)
	}
	if _, _, err := s.Create(t.Context(), ana(), by, 1, idempotency.Key{}, nil, entry(by, "patient.create")); !fault.Is(err, fault.PlanLimit) {
		t.Errorf("another patient: %v", err)
	}
}

func TestOfTwoWhoRestoreAtTheLimitTheSecondStartsOver(t *testing.T) {
	s, _ := open(t)
	by := somebody()
	deleted := create(t, s, by)
	deleted.Version, deleted.DeletedAt = 2, &now
	if saved, err := s.Save(t.Context(), deleted, patient.Change{By: by, Entry: entry(by, "patient.delete"), What: patient.Deleted, Fields: []string{}, Count: -1}, 0); err != nil || !saved {
		t.Fatal(saved, err)
	}
	restored := deleted
	restored.Version, restored.DeletedAt = 3, nil
	change := patient.Change{By: by, Entry: entry(by, "patient.update"), What: patient.Restored, Fields: []string{}, Count: 1}
	for _, want := range []bool{true, false} { // both read version 2
		if saved, err := s.Save(t.Context(), restored, change, 1); err != nil || saved != want {
			t.Errorf("saved %v, want %v, %v", saved, want, err)
		}
	}
}

func TestPagesByNumberAndByCursorAgree(t *testing.T) {
	s, _ := open(t)
	by := somebody()
	for range 9 {
		create(t, s, by)
	}
	byNumber, total, err := s.List(t.Context(), by.TenantID, page.Request{Page: 1, Size: 3}, entry(by, "patient.list"))
	if err != nil || total != 9 || len(byNumber) != 4 {
		t.Fatalf("%d entries of %d, %v", len(byNumber), total, err)
	}
	first, _, err := s.List(t.Context(), by.TenantID, page.Request{Size: 3}, entry(by, "patient.list"))
	if err != nil {
		t.Fatal(err)
	}
	byCursor, _, err := s.List(t.Context(), by.TenantID, page.Request{Size: 3, Page: 1, After: strconv.FormatInt(first[2].ID, 10)}, entry(by, "patient.list"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(byNumber, byCursor); diff != "" {
		t.Error(diff)
	}
}
