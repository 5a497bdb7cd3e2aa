package testkit

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// The roles of all test databases of a server: as in production, the owner migrates, and the service owns nothing and
// cannot pass row-level security by.
const (
	ownerRole   = "testkit_owner"
	serviceRole = "testkit_service"
)

const (
	advisoryLock = 0x746b6974 // "tkit": held while roles and templates are made
	patience     = 2 * time.Minute
)

// Database is a test's own database, migrated and empty.
type Database struct {
	URL      string // as the service's role
	OwnerURL string // as the owner
	AdminURL string // as a superuser, who sees past row-level security
}

// Postgres gives the test a database with the migrations in it, dropped when the test ends. The migrations run once for
// each version of them on a server, into a template that each test gets a clone of.
func Postgres(t testing.TB, migrations fs.FS) Database {
	t.Helper()
	admin := server(t, "TEST_DATABASE_URL")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	k, err := connect(ctx, admin)
	if err != nil {
		t.Fatalf("TEST_DATABASE_URL: %v", err)
	}
	defer k.close()
	name := "test_" + strings.ToLower(rand.Text())
	if err := k.clone(ctx, name, migrations); err != nil {
		t.Fatalf("make a test database: %v", err)
	}
	t.Cleanup(func() {
		if err := drop(admin, name); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	return Database{URL: k.url(name, serviceRole), OwnerURL: k.url(name, ownerRole), AdminURL: k.url(name, "")}
}

func drop(admin *url.URL, name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	k, err := connect(ctx, admin)
	if err != nil {
		return err
	}
	defer k.close()
	_, err = k.conn.Exec(ctx, `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`)
	return err
}

// keeper makes databases as the server's superuser.
type keeper struct {
	admin *url.URL
	conn  *pgx.Conn
}

func connect(ctx context.Context, admin *url.URL) (keeper, error) {
	conn, err := pgx.Connect(ctx, admin.String())
	return keeper{admin: admin, conn: conn}, err
}

func (k keeper) close() { _ = k.conn.Close(context.Background()) }

// url is the connection to a database as a role; "" is the superuser. The roles have the superuser's password, so that
// nothing needs to be told to the processes that share the server.
func (k keeper) url(database, role string) string {
	u := *k.admin
	u.Path = "/" + database
	if role != "" {
		password, _ := k.admin.User.Password()
		u.User = url.UserPassword(role, password)
	}
	return u.String()
}

func (k keeper) clone(ctx context.Context, name string, migrations fs.FS) error {
	template, err := nameOf(migrations)
	if err != nil {
		return err
	}
	if err := k.template(ctx, template, migrations); err != nil {
		return err
	}
	_, err = k.conn.Exec(ctx, `CREATE DATABASE `+name+` OWNER `+ownerRole+` TEMPLATE `+template)
	if err != nil {
		return err
	}
	// Privileges of the database itself are not cloned.
	_, err = k.conn.Exec(ctx, `REVOKE ALL ON DATABASE `+name+` FROM PUBLIC; GRANT CONNECT ON DATABASE `+name+` TO `+serviceRole)
	return err
}

// nameOf is a template's name: a hash of the names and contents of the migrations.
func nameOf(migrations fs.FS) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(migrations, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(migrations, path)
		_, _ = fmt.Fprintf(sum, "%d %s %d %s", len(path), path, len(content), content)
		return err
	})
	return "template_" + hex.EncodeToString(sum.Sum(nil)[:12]), err
}

// template makes the migrated database that is cloned, unless another test, maybe of another process, has made it. It
// gets its name only when it is complete.
func (k keeper) template(ctx context.Context, name string, migrations fs.FS) error {
	if _, err := k.conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, advisoryLock); err != nil {
		return err
	}
	defer func() { _, _ = k.conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, advisoryLock) }()
	var there bool
	if err := k.conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&there); err != nil || there {
		return err
	}
	if err := k.roles(ctx); err != nil {
		return err
	}
	partial := name + "_partial"
	for _, statement := range []string{
		`DROP DATABASE IF EXISTS ` + partial + ` WITH (FORCE)`,
		`CREATE DATABASE ` + partial + ` OWNER ` + ownerRole + ` TEMPLATE template0 ENCODING 'UTF8'`,
	} {
		if _, err := k.conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	if err := k.fill(ctx, partial, migrations); err != nil {
		return err
	}
	_, err := k.conn.Exec(ctx, `ALTER DATABASE `+partial+` RENAME TO `+name)
	return err
}

// fill does to the template what is done to a service's database in production.
func (k keeper) fill(ctx context.Context, database string, migrations fs.FS) error {
	conn, err := pgx.Connect(ctx, k.url(database, ownerRole))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO `+serviceRole)
	if closeErr := conn.Close(ctx); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return pg.Migrate(ctx, k.url(database, ownerRole), serviceRole, migrations)
}

func (k keeper) roles(ctx context.Context) error {
	password, _ := k.admin.User.Password()
	for _, role := range []string{ownerRole, serviceRole} {
		var statement *string
		err := k.conn.QueryRow(ctx, `
			SELECT format('CREATE ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD %L', $1::text, $2::text)
			WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)
			UNION ALL SELECT NULL LIMIT 1`, role, password).Scan(&statement)
		if err != nil {
			return err
		}
		if statement == nil {
			continue
		}
		if _, err := k.conn.Exec(ctx, *statement); err != nil {
			return err
		}
	}
	return nil
}
