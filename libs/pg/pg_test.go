package pg_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
)

var migrations = fstest.MapFS{"00001_note.sql": {Data: []byte(`-- +goose Up
CREATE TABLE note (tenant_id uuid NOT NULL, id int NOT NULL, text text NOT NULL, CONSTRAINT note_pkey PRIMARY KEY (tenant_id, id));
ALTER TABLE note ENABLE ROW LEVEL SECURITY;
ALTER TABLE note FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON note USING (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
-- +goose StatementBegin
DO $$ BEGIN
    EXECUTE format('GRANT SELECT, INSERT ON note TO %I', current_setting('app.service_role'));
END $$;
-- +goose StatementEnd
`)}}

const (
	tenant   = "00000000-0000-7000-8000-000000000001"
	stranger = "00000000-0000-7000-8000-000000000002"
)

func open(t *testing.T, url string) *pg.DB {
	t.Helper()
	db, err := pg.Open(pg.Config{URL: url, MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

type note struct {
	ID   int    `db:"id"`
	Text string `db:"text"`
}

func TestABatchIsOneTransactionOfOneTenant(t *testing.T) {
	db := open(t, testkit.Postgres(t, migrations).URL)
	const insert = `INSERT INTO note (tenant_id, id, text) VALUES ($1, $2, $3)`
	b := pg.Tenant(tenant)
	b.Exec(insert, tenant, 1, "first")
	b.Exec(insert, tenant, 1, "Qxz again")
	err := db.Send(t.Context(), b)
	if !pg.Violates(err, "note_pkey") || !pg.HasCode(err, pg.UniqueViolation) {
		t.Fatalf("a broken constraint: %v", err)
	}
	if strings.Contains(err.Error(), "Qxz") || strings.Contains(err.Error(), tenant) {
		t.Errorf("the error repeats values: %v", err)
	}

	b = pg.Tenant(tenant)
	var affected, count int64
	var found, none *note
	var list []note
	pg.Value(b, &count, `SELECT count(*) FROM note`)
	b.Affected(&affected, insert, tenant, 2, "second")
	pg.Row(b, &found, `SELECT id, text FROM note WHERE id = $1`, 2)
	pg.Row(b, &none, `SELECT id, text FROM note WHERE id = $1`, 3)
	pg.Rows(b, &list, `SELECT id, text FROM note ORDER BY id`)
	if err := db.Send(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if count != 0 || affected != 1 || found == nil || found.Text != "second" || none != nil || len(list) != 1 {
		t.Errorf("count %d, affected %d, found %v, none %v, list %v", count, affected, found, none, list)
	}

	for _, b := range []*pg.Batch{pg.Tenant(stranger), pg.Global()} {
		pg.Value(b, &count, `SELECT count(*) FROM note`)
		if err := db.Send(t.Context(), b); err != nil || count != 0 {
			t.Errorf("the tenant of a batch before is still set: %d, %v", count, err)
		}
	}
}

// What is committed between the statements of a snapshot is not seen by the later ones.
func TestASnapshotIsOfOneMoment(t *testing.T) {
	db := open(t, testkit.Postgres(t, migrations).URL)
	const count, lock = `SELECT count(*) FROM note`, 7
	var before, after int64
	b := pg.Snapshot(tenant)
	pg.Value(b, &before, count)
	b.Exec(`SELECT pg_advisory_xact_lock_shared($1)`, lock)
	pg.Value(b, &after, count)

	hold := pg.Tenant(tenant) // until the snapshot waits for it, and then writes
	hold.Exec(`SELECT pg_advisory_xact_lock($1)`, lock)
	hold.Exec(`DO $$ BEGIN
		LOOP EXIT WHEN EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted); END LOOP;
		INSERT INTO note (tenant_id, id, text) VALUES ('` + tenant + `', 1, 'first');
	END $$`)
	held := make(chan error, 1)
	go func() { held <- db.Send(t.Context(), hold) }()
	for held := false; !held; {
		b := pg.Global()
		pg.Value(b, &held, `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory')`)
		if err := db.Send(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Send(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := <-held; err != nil {
		t.Fatal(err)
	}
	if before != 0 || after != 0 {
		t.Errorf("counted %d, then %d", before, after)
	}

	for what, query := range map[string]string{"writes": `INSERT INTO note (tenant_id, id, text) VALUES ('` + tenant + `', 2, '')`, "fails": `SELECT 1/0`} {
		b = pg.Snapshot(tenant)
		b.Exec(query)
		if err := db.Send(t.Context(), b); err == nil {
			t.Errorf("a snapshot that %s", what)
		}
		b = pg.Tenant(tenant) // nothing of it is left
		pg.Value(b, &after, count)
		b.Exec(`INSERT INTO note (tenant_id, id, text) VALUES ('` + tenant + `', 3, '') ON CONFLICT DO NOTHING`)
		if err := db.Send(t.Context(), b); err != nil {
			t.Errorf("after one that %s: %v", what, err)
		}
	}
}

func TestDefectsDoNotShowTheValueTheyAreAbout(t *testing.T) {
	db := open(t, testkit.Postgres(t, migrations).URL)
	var number int16
	for what, query := range map[string]func(*pg.Batch){
		"an argument of the wrong type": func(b *pg.Batch) { b.Exec(`SELECT $1::int`, []string{"83617"}) },
		"a column of the wrong type":    func(b *pg.Batch) { pg.Value(b, &number, `SELECT 83617`) },
		"a value that is refused":       func(b *pg.Batch) { b.Exec(`SELECT $1::int2`, "83617") },
	} {
		b := pg.Global()
		query(b)
		if err := db.Send(t.Context(), b); err == nil || strings.Contains(err.Error(), "83617") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestWhatPassesByIsUnavailable(t *testing.T) {
	database := testkit.Postgres(t, migrations)
	db := open(t, database.URL)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	b := pg.Global()
	b.Exec(`SELECT pg_sleep(10)`)
	if err := db.Send(ctx, b); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a deadline: %v", err)
	}
	b = pg.Global()
	b.Exec(`SELECT pg_terminate_backend(pg_backend_pid())`)
	if err := db.Send(t.Context(), b); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a connection that is cut: %v", err)
	}
	if err := db.Ready(t.Context()); err != nil {
		t.Errorf("it does not recover: %v", err)
	}
	away := open(t, "postgres://nobody@127.0.0.1:1/nothing")
	b = pg.Global()
	b.Exec(`SELECT 1`)
	if err := away.Send(t.Context(), b); !fault.Is(err, fault.Unavailable) {
		t.Errorf("nobody listens: %v", err)
	}
}

func TestMigratingTogetherIsSafe(t *testing.T) {
	database := testkit.Postgres(t, fstest.MapFS{"00001_nothing.sql": {Data: []byte("-- +goose Up\nSELECT 1;\n")}})
	more := fstest.MapFS{
		"00001_nothing.sql": {Data: []byte("-- +goose Up\nSELECT 1;\n")},
		"00002_note.sql":    migrations["00001_note.sql"],
	}
	done := make(chan error, 4)
	for range cap(done) {
		go func() { done <- pg.Migrate(t.Context(), database.OwnerURL, "testkit_service", more) }()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	b := pg.Tenant(tenant)
	b.Exec(`INSERT INTO note (tenant_id, id, text) VALUES ($1, 1, '')`, tenant)
	if err := open(t, database.URL).Send(t.Context(), b); err != nil {
		t.Error(err)
	}
}

func TestURLsAreNotRepeated(t *testing.T) {
	const url = "postgres://user:Qxz@[::1/db"
	_, openErr := pg.Open(pg.Config{URL: url})
	for _, err := range []error{openErr, pg.Migrate(t.Context(), url, "x", migrations), pg.Config{URL: url, MigrateURL: url}.Migrate(t.Context(), migrations, pg.Distribution{})} {
		if err == nil || strings.Contains(err.Error(), "Qxz") {
			t.Errorf("%v", err)
		}
	}
	if errors.Is(openErr, pg.ErrPower) {
		t.Error("the wrong error")
	}
}

func TestListenHearsAndComesBack(t *testing.T) {
	database := testkit.Postgres(t, migrations)
	db := open(t, database.URL)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	heard := make(chan struct{}, 16)
	go func() { _ = db.Listen(ctx, "news", func() { heard <- struct{}{} }) }()
	await := func() {
		t.Helper()
		select {
		case <-heard:
		case <-ctx.Done():
			t.Fatal("nothing was heard")
		}
	}
	await() // connected
	tell := func(sql string) {
		t.Helper()
		b := pg.Global()
		b.Exec(sql)
		if err := db.Send(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	tell(`NOTIFY news`)
	await()
	tell(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND usename = current_user AND datname = current_database()`)
	await() // connected again
	tell(`NOTIFY news`)
	await()
}
