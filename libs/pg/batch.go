package pg

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// Batch is a list of statements that run as one transaction in one network trip: PostgreSQL takes all that comes
// before a Sync as one implicit transaction. A batch is used once, by one goroutine.
type Batch struct {
	statements pgx.Batch
	begun      bool // a transaction that is not the implicit one
}

// Tenant begins a batch that row-level security holds to one tenant.
func Tenant(id string) *Batch {
	b := &Batch{}
	b.Exec(setTenant, id)
	return b
}

// setTenant holds what follows to a tenant, and setTenantOfAll does so on every node.
const (
	setTenant      = `SELECT set_config('app.tenant_id', $1, true)`
	setTenantOfAll = `SELECT hold_tenant($1)`
)

// Snapshot begins a batch like Tenant's whose statements only read, and all see the same moment: those of Tenant's each
// see what is committed by then. It is still one trip.
func Snapshot(id string) *Batch {
	b := &Batch{begun: true}
	b.Exec(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`)
	b.Exec(setTenant, id)
	return b
}

// Global begins a batch that sees no tenant's rows, for tables that belong to no tenant.
func Global() *Batch { return &Batch{} }

// Exec queues a statement whose result does not matter.
func (b *Batch) Exec(sql string, args ...any) {
	b.statements.Queue(sql, args...)
}

// Affected queues a statement and tells how many rows it touched.
func (b *Batch) Affected(into *int64, sql string, args ...any) {
	b.statements.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		rows.Close()
		*into = rows.CommandTag().RowsAffected()
		return rows.Err()
	})
}

// Value queues a statement that gives one row of one column. No row leaves into as it is.
func Value[T any](b *Batch, into *T, sql string, args ...any) {
	b.statements.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		value, err := pgx.CollectOneRow(rows, pgx.RowTo[T])
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err == nil {
			*into = value
		}
		return err
	})
}

// Row queues a statement that gives one row or none, into the fields of T by column name. No row leaves into nil.
func Row[T any](b *Batch, into **T, sql string, args ...any) {
	b.statements.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		row, err := pgx.CollectOneRow(rows, pgx.RowToAddrOfStructByName[T])
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err == nil {
			*into = row
		}
		return err
	})
}

// Rows queues a statement and collects its rows, into the fields of T by column name.
func Rows[T any](b *Batch, into *[]T, sql string, args ...any) {
	b.statements.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		list, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
		if err == nil {
			*into = list
		}
		return err
	})
}

// Each queues a statement and hands its rows to each, one after the other, for results that are large or that are read
// by place. An error of each ends the batch.
func Each(b *Batch, each func(pgx.CollectableRow) error, sql string, args ...any) {
	b.statements.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := each(rows); err != nil {
				rows.Close()
				return err
			}
		}
		return rows.Err()
	})
}

// sendLimit is the deadline of a batch whose context has none, as those of loops have not: a connection that died
// without a word would hold one up for a quarter of an hour. It lets the statement timeout speak first.
const sendLimit = statementTimeout + 5*time.Second

// Send runs the batch. On an error nothing of it has happened, unless the error is a fault of kind Unavailable: then
// the connection broke off and nobody can tell.
func (db *DB) Send(ctx context.Context, b *Batch) error {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, sendLimit)
		defer cancel()
	}
	return b.over(ctx, db.pool, db.spread)
}

// sender is a pool, or a connection of one.
type sender interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

func (b *Batch) over(ctx context.Context, to sender, spread bool) error {
	if spread {
		b.onNodes()
	}
	if b.begun {
		b.Exec(`COMMIT`) // a batch that fails before it leaves a connection that the pool throws away
	}
	return decided(to.SendBatch(ctx, &b.statements).Close())
}

// onNodes makes of an implicit transaction one that begins and ends with words. Citus does not know the implicit one of
// a pipeline for one: it would have the nodes commit each statement by itself.
func (b *Batch) onNodes() {
	list := b.statements.QueuedQueries
	for _, q := range list {
		if q.SQL == setTenant {
			q.SQL = setTenantOfAll
		}
	}
	if !b.begun && len(list) > 1 {
		b.statements.QueuedQueries = append([]*pgx.QueuedQuery{{SQL: `BEGIN`}}, list...)
		b.begun = true
	}
}
