package carried

import (
	"context"
	_ "embed"
	"io/fs"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
)

//go:embed standin.sql
var standIn string

// Nodes gives a database that says it could spread tables, with the tables of the distribution spread by the step that
// does so in production. It is a stand-in: PostgreSQL itself, where create_distributed_table partitions the table by the
// hash of the column and refuses what Citus refuses. It shows what a statement is about. How Citus runs it, it does not.
func Nodes(t testing.TB, migrations fs.FS, d pg.Distribution) testkit.Database {
	t.Helper()
	database := testkit.Postgres(t, migrations)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	if _, err := conn.Exec(ctx, standIn); err != nil {
		t.Fatal(err)
	}
	config := pg.Config{URL: database.URL, MigrateURL: database.OwnerURL, Distribute: pg.Citus}
	if err := config.Migrate(ctx, migrations, d); err != nil {
		t.Fatal(err)
	}
	return database
}

// Postgres is testkit's, or, where TEST_DISTRIBUTE says so, Nodes, with what DATABASE_DISTRIBUTE is then: the tests of a
// store are also those of a store on nodes.
func Postgres(t testing.TB, migrations fs.FS, d pg.Distribution) (database testkit.Database, distribute string) {
	t.Helper()
	if distribute = os.Getenv("TEST_DISTRIBUTE"); distribute != "" {
		return Nodes(t, migrations, d), distribute
	}
	return testkit.Postgres(t, migrations), ""
}
