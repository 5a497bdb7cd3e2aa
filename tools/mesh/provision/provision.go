// Package provision makes the databases and roles that the services expect on a PostgreSQL server: for each service
// one database, a role that owns it and runs migrations, and a role that the service works as, which owns nothing and
// cannot pass row-level security by. It can be repeated at any time. It knows no table.
package provision

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"
)

// Services are those that have a database.
func Services() []string { return []string{"identity", "tenant", "patient", "attachment", "matching"} }

// advisoryLock is held while databases are made, so that two who provision the same server take turns.
const advisoryLock = 0x6d657368 // "mesh"

// Options say what to make and where.
type Options struct {
	AdminURL string   // of a role that may create databases and roles
	Prefix   string   // put before every name, for many meshes on one server; usually empty
	Services []string // names as in prs_<name>

	// Password gives the password of a role; the role is set to it if it had another.
	Password func(role string) string
	// BeforeFirst runs before databases are made where none of them was there; not when a service gets its first one beside
	// those of others. May be nil.
	BeforeFirst func() error
}

// Access is how a service reaches its database.
type Access struct {
	URL        string // as the role that the service works as
	MigrateURL string // as the owner
}

// Run makes what is missing and gives the access of each service by its name.
func Run(ctx context.Context, o Options) (map[string]Access, error) {
	admin, err := pgx.Connect(ctx, o.AdminURL)
	if err != nil {
		return nil, fmt.Errorf("provision: %w", err) // pgx leaves the password out of its errors
	}
	defer func() { _ = admin.Close(context.WithoutCancel(ctx)) }()
	if _, err := admin.Exec(ctx, `SELECT pg_advisory_lock($1)`, advisoryLock); err != nil {
		return nil, fmt.Errorf("provision: %w", err)
	}
	if err := o.announce(ctx, admin); err != nil {
		return nil, err
	}
	access := map[string]Access{}
	for _, service := range o.Services {
		a, err := o.service(ctx, admin, service)
		if err != nil {
			return nil, fmt.Errorf("provision %s: %w", service, err)
		}
		access[service] = a
	}
	return access, nil
}

// announce calls BeforeFirst when no database is there.
func (o Options) announce(ctx context.Context, admin *pgx.Conn) error {
	if o.BeforeFirst == nil {
		return nil
	}
	names := make([]string, 0, len(o.Services))
	for _, service := range o.Services {
		names = append(names, o.database(service))
	}
	var there int
	if err := admin.QueryRow(ctx, `SELECT count(*) FROM pg_database WHERE datname = ANY($1)`, names).Scan(&there); err != nil {
		return fmt.Errorf("provision: %w", err)
	}
	if there > 0 {
		return nil
	}
	return o.BeforeFirst()
}

func (o Options) database(service string) string { return o.Prefix + "prs_" + service }

func (o Options) service(ctx context.Context, admin *pgx.Conn, service string) (Access, error) {
	database := o.database(service)
	worker, owner := database, database+"_owner"
	for _, role := range []string{worker, owner} {
		if err := o.role(ctx, admin, role); err != nil {
			return Access{}, err
		}
	}
	if err := createDatabase(ctx, admin, database, owner); err != nil {
		return Access{}, err
	}
	if err := o.open(ctx, database, worker); err != nil {
		return Access{}, err
	}
	workerURL, workerErr := connection(o.AdminURL, database, worker, o.Password(worker))
	ownerURL, ownerErr := connection(o.AdminURL, database, owner, o.Password(owner))
	return Access{URL: workerURL, MigrateURL: ownerURL}, errors.Join(workerErr, ownerErr)
}

// role makes a role without any privilege, gives it its password, and refuses one that could pass row security by.
func (o Options) role(ctx context.Context, admin *pgx.Conn, name string) error {
	quoted := pgx.Identifier{name}.Sanitize()
	var exists, dangerous bool
	err := admin.QueryRow(ctx, `
		SELECT count(*) > 0, coalesce(bool_or(rolsuper OR rolbypassrls OR rolcreatedb OR rolcreaterole), false)
		FROM pg_roles WHERE rolname = $1`, name).Scan(&exists, &dangerous)
	if err != nil {
		return err
	}
	if dangerous {
		return fmt.Errorf("the role %s exists and may do more than a service must (superuser, bypassrls, createdb or createrole)", name)
	}
	if !exists {
		if _, err := admin.Exec(ctx, `CREATE ROLE `+quoted+` LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS`); err != nil {
			return err
		}
	}
	// A utility statement takes no parameters: the server quotes the literal for us.
	var statement string
	if err := admin.QueryRow(ctx, `SELECT format('ALTER ROLE %I PASSWORD %L', $1::text, $2::text)`, name, o.Password(name)).Scan(&statement); err != nil {
		return err
	}
	_, err = admin.Exec(ctx, statement)
	return err
}

func createDatabase(ctx context.Context, admin *pgx.Conn, name, owner string) error {
	var exists, super bool
	err := admin.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1), (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)`, name).Scan(&exists, &super)
	if err != nil || exists {
		return err
	}
	if !super {
		// Only a member may give a database to a role.
		if _, err := admin.Exec(ctx, `GRANT `+pgx.Identifier{owner}.Sanitize()+` TO CURRENT_USER`); err != nil {
			return err
		}
	}
	_, err = admin.Exec(ctx, `CREATE DATABASE `+pgx.Identifier{name}.Sanitize()+
		` OWNER `+pgx.Identifier{owner}.Sanitize()+` TEMPLATE template0 ENCODING 'UTF8'`)
	return err
}

// open lets the service's role, and nobody else, into the database. Privileges on tables are the migrations' matter.
func (o Options) open(ctx context.Context, database, worker string) error {
	owner := database + "_owner"
	ownerURL, err := connection(o.AdminURL, database, owner, o.Password(owner))
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, ownerURL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	quoted, role := pgx.Identifier{database}.Sanitize(), pgx.Identifier{worker}.Sanitize()
	_, err = conn.Exec(ctx, `
		REVOKE ALL ON DATABASE `+quoted+` FROM PUBLIC;
		GRANT CONNECT ON DATABASE `+quoted+` TO `+role+`;
		REVOKE ALL ON SCHEMA public FROM PUBLIC;
		GRANT USAGE ON SCHEMA public TO `+role)
	return err
}

// connection is the admin's URL with another database and role.
func connection(adminURL, database, role, password string) (string, error) {
	u, err := url.Parse(adminURL)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		return "", errors.New("DATABASE_URL must be a URL: postgres://user:password@host:port/database")
	}
	u.Path, u.User = "/"+database, url.UserPassword(role, password)
	return u.String(), nil
}

// Drop removes the databases and roles again. It is for tests that made them under a prefix of their own.
func Drop(ctx context.Context, o Options) error {
	admin, err := pgx.Connect(ctx, o.AdminURL)
	if err != nil {
		return fmt.Errorf("drop: %w", err)
	}
	defer func() { _ = admin.Close(context.WithoutCancel(ctx)) }()
	for _, service := range o.Services {
		database := o.database(service)
		for _, statement := range []string{
			`DROP DATABASE IF EXISTS ` + pgx.Identifier{database}.Sanitize() + ` WITH (FORCE)`,
			`DROP ROLE IF EXISTS ` + pgx.Identifier{database}.Sanitize(),
			`DROP ROLE IF EXISTS ` + pgx.Identifier{database + "_owner"}.Sanitize(),
		} {
			if _, err := admin.Exec(ctx, statement); err != nil {
				return fmt.Errorf("drop %s: %w", database, err)
			}
		}
	}
	return nil
}
