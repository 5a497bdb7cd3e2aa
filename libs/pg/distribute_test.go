package pg_test

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/libs/testkit/carried"
)

func notes() pg.Distribution {
	return pg.Distribution{
		Tables: []pg.Table{{Name: "note", Tenant: "tenant_id", Spread: true}, {Name: "more", Tenant: "tenant_id", Spread: true}},
		Before: `COMMENT ON TABLE note IS 'before'`,
		After:  `CREATE OR REPLACE FUNCTION after() RETURNS int LANGUAGE sql AS 'SELECT 1'`,
	}
}

func more() fstest.MapFS {
	return fstest.MapFS{"00001_note.sql": migrations["00001_note.sql"], "00002_more.sql": {Data: []byte(`-- +goose Up
CREATE TABLE more (tenant_id uuid PRIMARY KEY);
`)}}
}

// shape is all that there is of relations and functions, to tell whether anything was changed.
func shape(t *testing.T, url string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var all string
	err = conn.QueryRow(t.Context(), `
		SELECT (SELECT string_agg(oid || relname || relkind::text, ',' ORDER BY oid) FROM pg_class WHERE relnamespace = 'public'::regnamespace)
			|| coalesce((SELECT string_agg(oid || proname || prosrc, ',' ORDER BY oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace), '')
	`).Scan(&all)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAnEngineThatCannotSpreadIsLeftAlone(t *testing.T) {
	database := testkit.Postgres(t, migrations)
	before := shape(t, database.AdminURL)
	c := pg.Config{URL: database.URL, MigrateURL: database.OwnerURL, Distribute: pg.Citus}
	if err := c.Migrate(t.Context(), more(), notes()); !errors.Is(err, pg.ErrNotDistributed) {
		t.Errorf("%v", err)
	}
	if _, err := pg.Start(t.Context(), c, more(), notes()); !errors.Is(err, pg.ErrNotDistributed) {
		t.Errorf("%v", err)
	}
	if shape(t, database.AdminURL) != before {
		t.Error("something was changed")
	}
	c.Distribute = "yugabyte"
	if err := c.Migrate(t.Context(), more(), notes()); err == nil {
		t.Error("an engine that nobody knows was taken")
	}
	if _, err := pg.Open(c); err == nil {
		t.Error("an engine that nobody knows was opened")
	}
	if shape(t, database.AdminURL) != before {
		t.Error("something was changed")
	}
}

func TestWhatIsSpreadStaysSo(t *testing.T) {
	database := carried.Nodes(t, more(), notes())
	spread := shape(t, database.AdminURL)
	c := pg.Config{URL: database.URL, MigrateURL: database.OwnerURL, Distribute: pg.Citus}
	for range 2 {
		if err := c.Migrate(t.Context(), more(), notes()); err != nil {
			t.Fatal(err)
		}
	}
	if shape(t, database.AdminURL) != spread {
		t.Error("a repeat changed something")
	}
}

func TestABatchOnNodesIsOneTransactionThatSaysSo(t *testing.T) {
	database := carried.Nodes(t, more(), notes())
	db, err := pg.Open(pg.Config{URL: database.URL, MaxConns: 2, Distribute: pg.Citus})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	const insert = `INSERT INTO note (tenant_id, id, text) VALUES ($1, $2, 'x')`
	const count = `SELECT count(*) FROM note WHERE tenant_id = $1`
	var same, propagates bool
	var setting string
	var number int64
	b := pg.Tenant(tenant)
	b.Exec(`SAVEPOINT only_where_a_transaction_was_begun`)
	b.Exec(insert, tenant, 1)
	pg.Value(b, &number, count, tenant)
	pg.Value(b, &same, `SELECT current_setting('app.tenant_id') = $1`, tenant)
	pg.Value(b, &propagates, `SELECT current_setting('citus.propagate_set_commands') = 'local'`)
	if err := db.Send(t.Context(), b); err != nil || !same || !propagates || number != 1 {
		t.Fatalf("%v %v %v %d", err, same, propagates, number)
	}
	b = pg.Tenant(tenant) // whole, or not at all
	b.Exec(insert, tenant, 2)
	b.Exec(insert, tenant, 1)
	if err := db.Send(t.Context(), b); !pg.Violates(err, "note_pkey") {
		t.Fatalf("a broken constraint: %v", err)
	}
	b = pg.Snapshot(tenant)
	pg.Value(b, &number, count, tenant)
	pg.Value(b, &setting, `SELECT current_setting('app.tenant_id')`)
	if err := db.Send(t.Context(), b); err != nil || number != 1 || setting != tenant {
		t.Errorf("%v: %d, of %q", err, number, setting)
	}
	b = pg.Global()
	pg.Value(b, &number, count, tenant)
	pg.Value(b, &setting, `SELECT coalesce(current_setting('app.tenant_id', true), '')`)
	if err := db.Send(t.Context(), b); err != nil || number != 0 || setting != "" {
		t.Errorf("what was said outlived its transaction: %v: %d, of %q", err, number, setting)
	}
}
