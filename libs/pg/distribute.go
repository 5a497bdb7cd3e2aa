package pg

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Distribution is how an engine of many nodes spreads a service's tables. All that it spreads lies together by tenant, so
// that a tenant is whole on one node and whatever is done for it is done there.
type Distribution struct {
	Tables []Table
	Before string // statements, before the first table is spread
	After  string // statements that may be repeated: functions as they have to be where a table is spread
}

// Table is one table. A table that is not spread stays on the node that programs connect to.
type Table struct {
	Name   string
	Tenant string // the column of the tenant, which every statement constrains; empty: rows are not a tenant's, or are looked up otherwise
	Spread bool
	Why    string // it stays, or stands in no tenant
}

// Citus is the value of DATABASE_DISTRIBUTE that there is.
const Citus = "citus"

var (
	errDistribute = errors.New("DATABASE_DISTRIBUTE must be citus or empty")
	// ErrNotDistributed is the refusal to spread what the engine cannot.
	ErrNotDistributed = errors.New("DATABASE_DISTRIBUTE is citus, and the database has no extension of that name: nothing was changed")
)

func (c Config) distributes() (bool, error) {
	if c.Distribute != "" && c.Distribute != Citus {
		return false, errDistribute
	}
	return c.Distribute == Citus, nil
}

// canDistribute looks whether the engine can, before anything is migrated.
func canDistribute(ctx context.Context, ownerURL string) error {
	return asOwner(ctx, ownerURL, func(conn *pgx.Conn) error {
		var can bool
		err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = $1)`, Citus).Scan(&can)
		if err == nil && !can {
			return ErrNotDistributed
		}
		return err
	})
}

func asOwner(ctx context.Context, ownerURL string, do func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, ownerURL)
	if err != nil {
		return decided(err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	return do(conn)
}

const (
	// holdTenant is what set_config does where the nodes are to know of it: Citus tells them what is SET LOCAL between
	// BEGIN and COMMIT, and knows nothing of what set_config sets (citusdata/citus#2689).
	holdTenant = `
	CREATE OR REPLACE FUNCTION hold_tenant(id text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		EXECUTE format('SET LOCAL app.tenant_id TO %L', id);
	END $$`
	// Several replicas that start together take turns.
	lockDistribution = `SELECT pg_advisory_xact_lock(hashtextextended('distribute', 0))`
	isSpread         = `SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = $1::text::regclass)`
	spread           = `SELECT create_distributed_table($1::text::regclass, $2, colocate_with => $3)`
)

// distribute spreads what is not spread yet, in one transaction. What is stays as it is.
func (d Distribution) distribute(ctx context.Context, ownerURL string) error {
	return asOwner(ctx, ownerURL, func(conn *pgx.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, lockDistribution); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, holdTenant); err != nil {
				return err
			}
			if err := d.spread(ctx, tx); err != nil || d.After == "" {
				return err
			}
			_, err := tx.Exec(ctx, d.After)
			return err
		})
	})
}

// spread lays each table beside the first.
func (d Distribution) spread(ctx context.Context, tx pgx.Tx) error {
	beside, before := "none", d.Before
	for _, t := range d.Tables {
		if !t.Spread {
			continue
		}
		var done bool
		if err := tx.QueryRow(ctx, isSpread, t.Name).Scan(&done); err != nil {
			return err
		}
		if !done {
			if before != "" {
				if _, err := tx.Exec(ctx, before); err != nil {
					return err
				}
				before = ""
			}
			if _, err := tx.Exec(ctx, spread, t.Name, t.Tenant, beside); err != nil {
				return fmt.Errorf("table %s: %w", t.Name, err)
			}
		}
		if beside == "none" {
			beside = t.Name
		}
	}
	return nil
}
