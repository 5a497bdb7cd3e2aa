package pg_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
)

// session is a connection of a test's own.
func session(ctx context.Context, t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func exec(ctx context.Context, t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// untilWaiting returns when somebody waits for a lock with a statement that begins so.
func untilWaiting(ctx context.Context, t *testing.T, conn *pgx.Conn, statement string) {
	t.Helper()
	const waits = `SELECT EXISTS (SELECT FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1 || '%'), pg_stat_clear_snapshot()::text, pg_sleep(0.01)::text`
	for waiting := false; !waiting; {
		if err := conn.QueryRow(ctx, waits, statement).Scan(&waiting, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// A backup reads a table for hours. A migration that has to change it does not stop those who read meanwhile, and comes
// through once the backup has ended.
func TestMigratingWaitsInNobodysWay(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	database := testkit.Postgres(t, migrations)
	backup, reader := session(ctx, t, database.AdminURL), session(ctx, t, database.AdminURL)
	exec(ctx, t, backup, `BEGIN`, `LOCK TABLE note IN ACCESS SHARE MODE`)
	more := fstest.MapFS{
		"00001_note.sql": migrations["00001_note.sql"],
		"00002_more.sql": {Data: []byte("-- +goose Up\nALTER TABLE note ADD COLUMN more text;\n")},
	}
	done := make(chan error, 1)
	go func() { done <- pg.Migrate(ctx, database.OwnerURL, "testkit_service", more) }()
	untilWaiting(ctx, t, reader, `ALTER TABLE note`)
	exec(ctx, t, reader, `SELECT FROM note`) // stands in line behind it
	untilWaiting(ctx, t, reader, `ALTER TABLE note`)
	exec(ctx, t, backup, `COMMIT`)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	exec(ctx, t, reader, `SELECT more FROM note`)
}

// An index that is made while others write waits for them as long as it takes, and one that broke off is made anew.
func TestIndexesMadeConcurrentlyWait(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	database := testkit.Postgres(t, migrations)
	writer, reader := session(ctx, t, database.AdminURL), session(ctx, t, database.AdminURL)
	exec(ctx, t, writer, `BEGIN`, `LOCK TABLE note IN ROW EXCLUSIVE MODE`)
	index := "-- +goose NO TRANSACTION\n-- +goose Up\nSET lock_timeout = 0;\nDROP INDEX CONCURRENTLY IF EXISTS note_text;\n" +
		"CREATE INDEX CONCURRENTLY note_text ON note (text);\nRESET lock_timeout;\n"
	more := fstest.MapFS{
		"00001_note.sql":  migrations["00001_note.sql"],
		"00002_index.sql": {Data: []byte(index)},
		"00003_reset.sql": {Data: []byte("-- +goose Up\nCREATE TABLE setting AS SELECT current_setting('lock_timeout') AS lock_timeout;\n")},
	}
	broken, breakOff := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- pg.Migrate(broken, database.OwnerURL, "testkit_service", more) }()
	untilWaiting(ctx, t, reader, `CREATE INDEX`)
	breakOff()
	if err := <-done; err == nil {
		t.Fatal("it was broken off")
	}
	const valid = `SELECT indisvalid FROM pg_index WHERE indexrelid = 'note_text'::regclass`
	var is bool
	if err := reader.QueryRow(ctx, valid).Scan(&is); err != nil || is {
		t.Fatalf("what is left of it: %v, %v", is, err)
	}
	exec(ctx, t, writer, `COMMIT`)
	if err := pg.Migrate(ctx, database.OwnerURL, "testkit_service", more); err != nil {
		t.Fatal(err)
	}
	if err := reader.QueryRow(ctx, valid).Scan(&is); err != nil || !is {
		t.Errorf("it was not made anew: %v, %v", is, err)
	}
	var after string
	if err := reader.QueryRow(ctx, `SELECT lock_timeout FROM setting`).Scan(&after); err != nil || after != "3s" {
		t.Errorf("those after it wait for %s: %v", after, err)
	}
}

var concurrently = regexp.MustCompile(`(?s)^-- \+goose NO TRANSACTION\n.*?\nSET lock_timeout = 0;\n(?:DROP INDEX CONCURRENTLY IF EXISTS \w+;\nCREATE (?:UNIQUE )?INDEX CONCURRENTLY [^;]+;\n)+RESET lock_timeout;\n$`)

// Every migration of the tree that makes an index concurrently does it so.
func TestMigrationsThatMakeIndexesConcurrently(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../services/*/store/migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal("no migrations", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), " CONCURRENTLY") && !concurrently.Match(raw) {
			t.Errorf("%s: it waits for no longer than %s, or trips over what it left", file, "lock_timeout")
		}
	}
}
