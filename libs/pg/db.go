// Package pg is a service's way to PostgreSQL: a pool under a role that row-level security binds, batches that run as
// one transaction in one network trip on behalf of a tenant, and migrations. It knows no table.
package pg

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Config is where the database is and as whom to use it.
type Config struct {
	URL        string `env:"DATABASE_URL,required,notEmpty"` // a role that owns nothing and cannot bypass row-level security
	MigrateURL string `env:"DATABASE_MIGRATE_URL"`           // the owner's role; empty: serve does not migrate
	ReadURL    string `env:"DATABASE_READ_URL"`              // a read replica, for what may be a little old; empty: none
	MaxConns   int32  `env:"DATABASE_MAX_CONNS" envDefault:"16"`
	Distribute string `env:"DATABASE_DISTRIBUTE"` // Citus: tables are spread over nodes; empty: they are not
}

const (
	connectTimeout = 3 * time.Second
	// A statement that a client no longer waits for ends by its context; this ends one that nobody watches.
	statementTimeout = 30 * time.Second
)

// DB is a pool of connections. It is safe for concurrent use.
type DB struct {
	pool    *pgxpool.Pool
	replica *replica // nil: there is none
	spread  bool     // over nodes
}

// Open makes the pool. It does not connect yet: a database that is away makes a service unready, not dead.
func Open(c Config) (*DB, error) {
	distributes, err := c.distributes()
	if err != nil {
		return nil, err
	}
	pool, err := newPool("DATABASE_URL", c.URL, c)
	if err != nil {
		return nil, err
	}
	db := &DB{pool: pool, spread: distributes}
	if c.ReadURL != "" {
		late, err := newPool("DATABASE_READ_URL", c.ReadURL, c)
		if err != nil {
			pool.Close()
			return nil, err
		}
		db.replica = &replica{pool: late}
	}
	if err := otelpgx.RecordStats(pool); err != nil {
		db.Close()
		return nil, fmt.Errorf("pool metrics: %w", err)
	}
	return db, nil
}

func newPool(name, url string, c Config) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read", name) //nolint:err113 // the parser's error would repeat the password
	}
	config.MaxConns = c.MaxConns
	config.MinIdleConns = 1
	config.MaxConnIdleTime = 5 * time.Minute
	config.HealthCheckPeriod = 5 * time.Second
	config.ConnConfig.ConnectTimeout = connectTimeout
	config.ConnConfig.RuntimeParams["statement_timeout"] = strconv.FormatInt(statementTimeout.Milliseconds(), 10)
	config.ConnConfig.RuntimeParams["timezone"] = "UTC"
	if c.Distribute != "" {
		config.ConnConfig.RuntimeParams["citus.propagate_set_commands"] = "local"
	}
	config.ConnConfig.Tracer = tracer{otelpgx.NewTracer(otelpgx.WithDisableConnectionDetailsInAttributes())}
	config.AfterConnect = refusePower
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, fmt.Errorf("open pool: %w", err)
	}
	return pool, nil
}

// ErrPower is the refusal to serve under a role that row-level security does not bind.
var ErrPower = errors.New("the role of DATABASE_URL can bypass row-level security: use one without SUPERUSER and BYPASSRLS that owns no table")

// refusePower looks at the role of each new connection.
func refusePower(ctx context.Context, conn *pgx.Conn) error {
	var power bool
	err := conn.QueryRow(ctx, `
		SELECT rolsuper OR rolbypassrls OR EXISTS (
			SELECT FROM pg_class WHERE relowner = pg_roles.oid AND relkind IN ('r', 'p'))
		FROM pg_roles WHERE rolname = current_user`).Scan(&power)
	if err != nil {
		return err
	}
	if power {
		return ErrPower
	}
	return nil
}

// Spread reports whether tables are spread over nodes. Each node numbers its transactions for itself, so nothing may be
// made of such numbers then.
func (db *DB) Spread() bool { return db.spread }

// Ready is nil when the database answers.
func (db *DB) Ready(ctx context.Context) error { return db.pool.Ping(ctx) }

// Close waits for connections in use and closes all.
func (db *DB) Close() {
	db.pool.Close()
	if db.replica != nil {
		db.replica.pool.Close()
	}
}

// Listen holds one connection and calls heard for each notification on the channel, and once at every (re)connect,
// until ctx ends.
func (db *DB) Listen(ctx context.Context, channel string, heard func()) error {
	for ctx.Err() == nil {
		_ = db.listen(ctx, channel, heard) // whatever it was, the answer is to connect again
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return ctx.Err()
}

func (db *DB) listen(ctx context.Context, channel string, heard func()) error {
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	// The connection is not handed back: it listens, which the next user of it would not expect.
	own := conn.Hijack()
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = own.Close(end)
	}()
	if _, err := own.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
		return err
	}
	for {
		heard()
		if _, err := own.WaitForNotification(ctx); err != nil {
			return err
		}
	}
}
