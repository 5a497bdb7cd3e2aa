package testkit_test

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/patient-mesh/patient-mesh/libs/testkit"
)

var migrations = fstest.MapFS{"00001_note.sql": {Data: []byte(`-- +goose Up
CREATE TABLE note (tenant_id text NOT NULL, body text NOT NULL);
ALTER TABLE note ENABLE ROW LEVEL SECURITY;
ALTER TABLE note FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON note USING (tenant_id = current_setting('app.tenant_id', true));
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT SELECT, INSERT ON note TO %I', current_setting('app.service_role')); END $$;
-- +goose StatementEnd
`)}}

// run executes statements on one connection and gives what the last one failed with.
func run(t *testing.T, url string, statements ...string) error {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, s := range statements {
		_, err = conn.Exec(ctx, s)
	}
	return err
}

func count(t *testing.T, url string) (n int) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, `SELECT count(*) FROM note`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEachTestHasADatabaseOfItsOwn(t *testing.T) {
	t.Parallel()
	one, other := testkit.Postgres(t, migrations), testkit.Postgres(t, migrations)
	if err := run(t, one.AdminURL, `INSERT INTO note VALUES ('a', 'x')`); err != nil {
		t.Fatal(err)
	}
	if got := count(t, one.AdminURL); got != 1 {
		t.Errorf("its own row: count = %d, want 1", got)
	}
	if got := count(t, other.AdminURL); got != 0 {
		t.Errorf("another test's row: count = %d, want 0", got)
	}
}

func TestServiceRoleCannotPassRowSecurity(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, migrations)
	if err := run(t, db.AdminURL, `INSERT INTO note VALUES ('a', 'x')`); err != nil {
		t.Fatal(err)
	}
	if got := count(t, db.URL); got != 0 {
		t.Errorf("without a tenant the service sees %d rows, want 0", got)
	}
	if got := count(t, db.OwnerURL); got != 0 {
		t.Errorf("without a tenant the owner sees %d rows, want 0", got)
	}
	for _, forbidden := range []string{`ALTER TABLE note DISABLE ROW LEVEL SECURITY`, `CREATE TABLE mine ()`, `DELETE FROM note`, `SET ROLE testkit_owner`} {
		if err := run(t, db.URL, forbidden); err == nil {
			t.Errorf("the service's role may %q", forbidden)
		}
	}
}

func TestEachTestHasARedisOfItsOwn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	clients := make([]*redis.Client, 2)
	for i := range clients {
		options, err := redis.ParseURL(testkit.Redis(t))
		if err != nil {
			t.Fatal(err)
		}
		clients[i] = redis.NewClient(options)
		t.Cleanup(func() { _ = clients[i].Close() })
	}
	if err := clients[0].Set(ctx, "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := clients[1].Get(ctx, "k").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("another test's key: %v, want redis.Nil", err)
	}
}
