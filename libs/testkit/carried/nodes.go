package carried

import (
	"context"
	_ "embed"
	"io/fs"
	"net/url"
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
func Nodes(t *testing.T, migrations fs.FS, d pg.Distribution) testkit.Database {
	t.Helper()
	database := testkit.Postgres(t, migrations)
	ctx := t.Context()
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
	owner, err := url.Parse(database.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	// What has a tenant and stays is partitioned as well, so that its statements are looked at too.
	for _, table := range d.Tables {
		if table.Tenant == "" || table.Spread {
			continue
		}
		if _, err := conn.Exec(ctx, `SELECT stand_in_partition($1::text::regclass, $2, $3)`, table.Name, table.Tenant, owner.User.Username()); err != nil {
			t.Fatalf("table %s: %v", table.Name, err)
		}
	}
	return database
}
