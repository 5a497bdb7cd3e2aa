package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// Options are the bounds of a relay. Every zero value but Handlers has a default.
type Options struct {
	Handlers map[string]Handler // by kind; messages of other kinds wait for a release that knows them
	Poll     time.Duration      // look for due messages at least so often; 5 s
	Lease    time.Duration      // how long a message belongs to the relay that took it; 30 s
	Batch    int                // messages taken, and handled at the same time; 16
	Drain    time.Duration      // the longest that a relay goes on at its end, while messages are due; 5 s
	// FirstPause and LongestPause bound the wait before a failed message is tried again; 100 ms and 1 min.
	FirstPause   time.Duration
	LongestPause time.Duration
	Meters       metric.MeterProvider
}

// Relay hands messages to their handlers. Any number of relays may share a table.
type Relay struct {
	db      *pg.DB
	log     *slog.Logger
	o       Options
	kinds   []string
	nudge   chan struct{}
	backlog backlog
	outcome metric.Int64Counter
}

// NewRelay makes a relay; Run makes it work.
func NewRelay(db *pg.DB, log *slog.Logger, o Options) (*Relay, error) {
	o.Poll = positive(o.Poll, 5*time.Second)
	o.Lease = positive(o.Lease, 30*time.Second)
	o.Batch = positive(o.Batch, 16)
	o.Drain = positive(o.Drain, 5*time.Second)
	o.FirstPause = positive(o.FirstPause, 100*time.Millisecond)
	o.LongestPause = positive(o.LongestPause, time.Minute)
	if o.Meters == nil {
		o.Meters = otel.GetMeterProvider()
	}
	r := &Relay{db: db, log: log, o: o, nudge: make(chan struct{}, 1)}
	for kind := range o.Handlers {
		r.kinds = append(r.kinds, kind)
	}
	slices.Sort(r.kinds)
	if err := r.measure(o.Meters.Meter("mesh/outbox")); err != nil {
		return nil, fmt.Errorf("outbox metrics: %w", err)
	}
	return r, nil
}

func positive[T int | time.Duration](value, otherwise T) T {
	if value > 0 {
		return value
	}
	return otherwise
}

// Nudge makes the relay look now. Whoever has just committed a message calls it, so that the effect does not even wait
// for PostgreSQL's notification. It never blocks.
func (r *Relay) Nudge() {
	select {
	case r.nudge <- struct{}{}:
	default:
	}
}

// Run relays until ctx ends; then it goes on, for Drain at most, while messages are due.
func (r *Relay) Run(ctx context.Context) error {
	var listening sync.WaitGroup
	listening.Go(func() { _ = r.db.Listen(ctx, channel, r.Nudge) })
	defer listening.Wait()
	ticker := time.NewTicker(r.o.Poll)
	defer ticker.Stop()
	for {
		r.relay(ctx)
		retry, stop := r.nextDue(ctx)
		select {
		case <-ctx.Done():
			stop()
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.o.Drain)
			defer cancel()
			r.relay(end)
			return ctx.Err()
		case <-r.nudge:
		case <-retry:
		case <-ticker.C:
		}
		stop()
	}
}

// relay takes and handles messages until none is due.
func (r *Relay) relay(ctx context.Context) {
	for ctx.Err() == nil {
		taken, err := r.take(ctx)
		if err != nil {
			if ctx.Err() == nil {
				r.log.WarnContext(ctx, "outbox: cannot look for messages", "error", err.Error())
			}
			return
		}
		if len(taken) == 0 {
			return
		}
		// What has been taken is finished even when the relay is told to end: nobody else may touch it before the
		// lease is over.
		work, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.o.Lease*9/10)
		var group sync.WaitGroup
		for _, m := range taken {
			group.Go(func() { r.handle(work, m) })
		}
		group.Wait()
		cancel()
	}
}

// message is one taken message. Attempts counts this try.
type message struct {
	ID       int64
	Kind     string
	Payload  []byte
	Attempts int32
}

// takeQuery moves the messages' due time past the lease. Of a key only the oldest message can be taken, whether it
// waits, is being handled or has failed. The ids are gathered into an array, once: as a plain subquery they could be
// looked for again for each row, and more be taken than the limit.
const takeQuery = `
	UPDATE outbox SET due_at = now() + $2::interval, attempts = attempts + 1
	WHERE id = ANY (ARRAY(
		SELECT id FROM outbox o
		WHERE due_at <= now() AND kind = ANY ($1)
		  AND (key = '' OR NOT EXISTS (SELECT FROM outbox e WHERE e.key = o.key AND e.key <> '' AND e.id < o.id))
		ORDER BY due_at
		LIMIT $3
		FOR UPDATE SKIP LOCKED))
	RETURNING id, kind, payload, attempts`

func (r *Relay) take(ctx context.Context) ([]message, error) {
	var taken []message
	b := pg.Global()
	pg.Rows(b, &taken, takeQuery, r.kinds, r.o.Lease, r.o.Batch)
	counted := r.backlog.look(b)
	if err := r.db.Send(ctx, b); err != nil {
		return nil, err
	}
	counted()
	return taken, nil
}

// handle runs one message's handler and writes down what became of it. Attempts stands for the lease: when somebody
// else has taken the message since, their count is the one that holds.
func (r *Relay) handle(ctx context.Context, m message) {
	err := r.call(ctx, m)
	b := pg.Global()
	if err == nil {
		b.Exec(`DELETE FROM outbox WHERE id = $1`, m.ID)
	} else {
		pause := r.pause(m.Attempts)
		r.log.WarnContext(ctx, "outbox: message failed and will be tried again",
			"id", m.ID, "kind", m.Kind, "attempts", m.Attempts, "pause", pause.String(), "error", err.Error())
		b.Exec(`UPDATE outbox SET due_at = now() + $3::interval WHERE id = $1 AND attempts = $2`, m.ID, m.Attempts, pause)
	}
	r.count(ctx, m.Kind, err)
	// A message that is not acknowledged comes again after its lease.
	if err := r.db.Send(context.WithoutCancel(ctx), b); err != nil {
		r.log.WarnContext(ctx, "outbox: message not acknowledged", "id", m.ID, "kind", m.Kind, "error", err.Error())
	}
}

func (r *Relay) call(ctx context.Context, m message) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic of type %T", p) //nolint:err113 // the value may hold anything, so its type must do
		}
	}()
	return r.o.Handlers[m.Kind](ctx, m.Payload)
}

// pause grows with each failed attempt, with jitter.
func (r *Relay) pause(attempts int32) time.Duration {
	policy := backoff.NewExponentialBackOff()
	policy.InitialInterval, policy.MaxInterval, policy.Multiplier = r.o.FirstPause, r.o.LongestPause, 2
	pause := policy.NextBackOff()
	for range min(attempts-1, 30) {
		pause = policy.NextBackOff()
	}
	return pause
}

// nextDue fires when the next message that waits for its time is due, if that is before the next poll.
func (r *Relay) nextDue(ctx context.Context) (<-chan time.Time, func()) {
	var seconds *float64
	b := pg.Global()
	pg.Value(b, &seconds, `SELECT extract(epoch FROM min(due_at) - now())::float8 FROM outbox WHERE due_at > now() AND kind = ANY ($1)`, r.kinds)
	if err := r.db.Send(ctx, b); err != nil || seconds == nil {
		return nil, func() {}
	}
	wait := time.Duration(*seconds * float64(time.Second))
	if wait >= r.o.Poll {
		return nil, func() {}
	}
	timer := time.NewTimer(max(wait, time.Millisecond))
	return timer.C, func() { timer.Stop() }
}
