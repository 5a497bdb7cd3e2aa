package pg

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Whoever waits for a lock on a table makes all wait who come after, readers too: a migration behind a backup that reads
// the whole night would stop the service. So it waits for three seconds at the most, lets the others pass, and tries again.
// Indexes made CONCURRENTLY stand in nobody's way and may wait: their migrations set lock_timeout to 0 themselves, and drop
// first what an attempt that failed has left.
const (
	lockTimeout = "3s"
	firstPause  = time.Second
	lastPause   = 15 * time.Second
	patience    = 10 * time.Minute
)

// SQLSTATEs of a statement that has changed nothing and may be tried again.
const (
	lockNotAvailable = "55P03"
	deadlockDetected = "40P01"
)

// patiently makes attempts until one is not stopped by a lock that others hold.
func patiently(ctx context.Context, attempt func() error) error {
	pauses := &backoff.ExponentialBackOff{InitialInterval: firstPause, RandomizationFactor: 0.5, Multiplier: 1.5, MaxInterval: lastPause}
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := attempt()
		var refused *pgconn.PgError
		if err != nil && (!errors.As(err, &refused) || refused.Code != lockNotAvailable && refused.Code != deadlockDetected) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(patience))
	return err
}
