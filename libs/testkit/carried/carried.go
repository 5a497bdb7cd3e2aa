// Package carried proves that every statement of a service carries the column that names its tenant, so that an engine of
// many nodes has each answered by one. It finds the statements in the source, where none can hide for want of a test, and
// has PostgreSQL plan them against tables that are partitioned by tenant: a statement that does not say whose rows it is
// about is planned for more than one partition. Row-level security does not help it, since a superuser plans.
package carried

import (
	"context"
	"io/fs"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// Service is what is proved of.
type Service struct {
	Migrations   fs.FS
	Distribution pg.Distribution
	// Built is what the statements can be that are put together while the program runs, by the function and the expression
	// that are sent: "Create: query".
	Built map[string][]string
	// Across is the statements that are about several tenants on purpose, by the name of their function, with the reason.
	Across map[string]string
	// Functions is those of the database that touch tables which have a tenant, with how they answer for it.
	Functions map[string]string
}

// Check is the proof for the service whose store is the package under test.
func Check(t *testing.T, s Service) {
	t.Helper()
	list, err := find(t.Context(), "..", s.Built)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("no statement was found")
	}
	database := Nodes(t, s.Migrations, s.Distribution)
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	complete(t, conn, s.Distribution)
	functions(t, conn, s)
	others(t, conn, database.OwnerURL, s.Distribution)
	p := planner{conn: conn, distribution: s.Distribution}
	if err := p.open(ctx); err != nil {
		t.Fatal(err)
	}
	unused := maps.Clone(s.Across)
	for _, one := range list {
		fault, err := p.fault(ctx, one)
		if err != nil {
			t.Errorf("%s: %v\n%s", one.where, err, one.sql)
		}
		_, across := s.Across[one.function]
		if across {
			delete(unused, one.function)
		}
		if fault != "" && !across {
			t.Errorf("%s: %s: %s\n%s", one.where, one.function, fault, one.sql)
		}
	}
	for name := range unused {
		t.Errorf("%s is excepted and sends nothing", name)
	}
	t.Logf("%d statements, of which %d are about tables of tenants", len(list), p.about)
}

// others partitions what has a tenant and stays, so that its statements are looked at too.
func others(t *testing.T, conn *pgx.Conn, ownerURL string, d pg.Distribution) {
	t.Helper()
	owner, err := url.Parse(ownerURL)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range d.Tables {
		if table.Tenant == "" || table.Spread {
			continue
		}
		if _, err := conn.Exec(t.Context(), `SELECT stand_in_partition($1::text::regclass, $2, $3)`, table.Name, table.Tenant, owner.User.Username()); err != nil {
			t.Fatalf("table %s: %v", table.Name, err)
		}
	}
}

// tenants is the tables that have a tenant, with the column that names it.
func tenants(d pg.Distribution) map[string]string {
	list := map[string]string{}
	for _, t := range d.Tables {
		if t.Tenant != "" {
			list[t.Name] = t.Tenant
		}
	}
	return list
}

// complete checks that the distribution speaks of every table, and gives a reason for each that stays.
func complete(t testing.TB, conn *pgx.Conn, d pg.Distribution) {
	t.Helper()
	const query = `
	SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
		AND relname NOT IN ('goose_db_version', 'pg_dist_partition') ORDER BY relname`
	rows, err := conn.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	there, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	named := make([]string, 0, len(d.Tables))
	for _, table := range d.Tables {
		named = append(named, table.Name)
		if !table.Spread && table.Why == "" || table.Spread && table.Tenant == "" {
			t.Errorf("table %s stays without a reason, or is spread without a column", table.Name)
		}
	}
	slices.Sort(named)
	if !slices.Equal(there, named) {
		t.Errorf("the distribution speaks of %v, and there are %v", named, there)
	}
}

// functions checks that each function that touches a table of tenants is known to.
func functions(t testing.TB, conn *pgx.Conn, s Service) {
	t.Helper()
	rows, err := conn.Query(t.Context(), `
	SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname NOT LIKE 'stand\_in\_%'
		AND proname <> 'create_distributed_table'`)
	if err != nil {
		t.Fatal(err)
	}
	type function struct{ Name, Source string }
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[function])
	if err != nil {
		t.Fatal(err)
	}
	unused := maps.Clone(s.Functions)
	for _, f := range list {
		delete(unused, f.Name)
		for table := range tenants(s.Distribution) {
			if names(f.Source, table) && s.Functions[f.Name] == "" {
				t.Errorf("the function %s touches %s, and nobody says how", f.Name, table)
			}
		}
	}
	if len(unused) > 0 {
		t.Errorf("functions that are not there: %v", unused)
	}
}

// names reports whether SQL names a table, outside of texts.
func names(sql, table string) bool {
	sql = regexp.MustCompile(`'[^']*'`).ReplaceAllString(sql, "''")
	return slices.Contains(strings.FieldsFunc(strings.ToLower(sql), func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), table)
}
