package pg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// Migrate brings a database to the newest of the migrations, as the owner of ownerURL. Replicas that start together
// take turns by an advisory lock. Migrations find the role to grant to in the setting app.service_role: they grant
// each table what the service needs of it, and nothing is granted by default.
func Migrate(ctx context.Context, ownerURL, serviceRole string, migrations fs.FS) error {
	config, err := pgx.ParseConfig(ownerURL)
	if err != nil {
		return errors.New("DATABASE_MIGRATE_URL cannot be read") // the parser's error would repeat the password
	}
	config.RuntimeParams["app.service_role"] = serviceRole
	if config.RuntimeParams["lock_timeout"] == "" { // one that the URL names stays
		config.RuntimeParams["lock_timeout"] = lockTimeout
	}
	return patiently(ctx, func() error { return up(ctx, *config, migrations) })
}

// up is one attempt, on connections of its own.
func up(ctx context.Context, config pgx.ConnConfig, migrations fs.FS) error {
	db := stdlib.OpenDB(config)
	defer db.Close()                                                           //nolint:errcheck // nothing is left to lose
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300)) // ask each second, for five minutes
	if err != nil {
		return fmt.Errorf("migration lock: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, migrations, goose.WithSessionLocker(locker))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// Migrate brings the configured database to the newest of the migrations and grants to the role of URL. Where it is asked
// to, it spreads the tables over the engine's nodes afterwards; on an engine that cannot, it does nothing at all.
func (c Config) Migrate(ctx context.Context, migrations fs.FS, d Distribution) error {
	if c.MigrateURL == "" {
		return errors.New("DATABASE_MIGRATE_URL is not set")
	}
	service, err := pgx.ParseConfig(c.URL)
	if err != nil {
		return errors.New("DATABASE_URL cannot be read")
	}
	distributes, err := c.distributes()
	if err != nil {
		return err
	}
	if distributes {
		if err := canDistribute(ctx, c.MigrateURL); err != nil {
			return err
		}
	}
	if err := Migrate(ctx, c.MigrateURL, service.User, migrations); err != nil || !distributes {
		return err
	}
	if err := d.distribute(ctx, c.MigrateURL); err != nil {
		return fmt.Errorf("distribute: %w", err)
	}
	return nil
}

// Start opens the pool, after the migrations where the configuration names a role for them.
func Start(ctx context.Context, c Config, migrations fs.FS, d Distribution) (*DB, error) {
	if c.MigrateURL != "" {
		if err := c.Migrate(ctx, migrations, d); err != nil {
			return nil, err
		}
	}
	return Open(c)
}
