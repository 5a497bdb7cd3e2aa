package pg

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// replica is a copy of the database that lags a little behind, and that we can do without.
type replica struct {
	pool *pgxpool.Pool
	away atomic.Int64 // when it is tried again, in nanoseconds; nobody is kept waiting by it until then
}

// How long a replica may keep a read waiting for a connection, and how long it is left alone after it did.
const (
	replicaPatience = 300 * time.Millisecond
	replicaPause    = 5 * time.Second
)

// SendLate is Send for a batch that only reads and whose answer may be a little old. It goes to the read replica where
// there is one that can be reached, else to the database itself. It is not for what callers may have written themselves
// just now, nor for two batches that must agree.
func (db *DB) SendLate(ctx context.Context, b *Batch) error {
	conn := db.replica.acquire(ctx)
	if conn == nil {
		return db.Send(ctx, b)
	}
	defer conn.Release()
	ctx, cancel := context.WithTimeout(ctx, sendLimit)
	defer cancel()
	return b.over(ctx, conn, db.spread)
}

// acquire gives a connection, or nil where there is none to be had.
func (r *replica) acquire(ctx context.Context) *pgxpool.Conn {
	now := time.Now()
	if r == nil || now.UnixNano() < r.away.Load() {
		return nil
	}
	waiting, cancel := context.WithTimeout(ctx, replicaPatience)
	defer cancel()
	conn, err := r.pool.Acquire(waiting)
	if err == nil {
		return conn
	}
	if ctx.Err() == nil { // it was not the caller who left
		r.away.Store(now.Add(replicaPause).UnixNano())
	}
	return nil
}
