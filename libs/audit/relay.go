package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// Deliver hands entries, a list in JSON, to where they are chained, all or none. One that was handed over before is not
// recorded again.
type Deliver func(ctx context.Context, entries json.RawMessage) error

// Path is where the tenant service takes entries.
const Path = "/internal/audit"

// Entries is the body that it takes.
type Entries[T json.RawMessage | []Entry] struct {
	Entries T `json:"entries"`
}

// ToTenant delivers to the tenant service.
func ToTenant(tenant *mesh.Caller) Deliver {
	return func(ctx context.Context, entries json.RawMessage) error {
		_, err := mesh.Ask[struct{}](ctx, tenant, mesh.Question{
			Method: http.MethodPost, Target: Path, Body: Entries[json.RawMessage]{entries}, Self: true, Repeat: mesh.RepeatAlways,
		})
		return err
	}
}

// To delivers within the program.
func To(take func(ctx context.Context, entries []Entry) error) Deliver {
	return func(ctx context.Context, raw json.RawMessage) error {
		var entries []Entry
		if err := json.Unmarshal(raw, &entries); err != nil {
			return fmt.Errorf("read audit entries: %w", err)
		}
		return take(ctx, entries)
	}
}

// Options are the bounds of a relay. Every zero value has a default.
type Options struct {
	Poll     time.Duration // look for entries so often; 200 ms, or four times as often while there are some
	Batch    int           // entries to a delivery, or some more that were kept with them; 500
	Lease    time.Duration // how long the queue belongs to the relay that looked last; 15 s
	FullLook time.Duration // look for entries that were passed over so often; 1 s
	Drain    time.Duration // the longest that a relay goes on at its end, while entries are there; 5 s
	// FirstPause and LongestPause bound the wait after a failed delivery; 100 ms and 10 s.
	FirstPause   time.Duration
	LongestPause time.Duration
	Meters       metric.MeterProvider
}

func (o Options) complete() Options {
	o.Poll = positive(o.Poll, 200*time.Millisecond)
	o.Batch = positive(o.Batch, 500)
	o.Lease = positive(o.Lease, 15*time.Second)
	o.FullLook = positive(o.FullLook, time.Second)
	o.Drain = positive(o.Drain, 5*time.Second)
	o.FirstPause = positive(o.FirstPause, 100*time.Millisecond)
	o.LongestPause = positive(o.LongestPause, 10*time.Second)
	if o.Meters == nil {
		o.Meters = otel.GetMeterProvider()
	}
	return o
}

func positive[T int | time.Duration](value, otherwise T) T {
	if value > 0 {
		return value
	}
	return otherwise
}

// Relay carries a queue's entries away in their order. Of several relays on one queue one works at a time. It polls:
// a notification at each commit would make all commits of the database wait for one another.
type Relay struct {
	db        *pg.DB
	log       *slog.Logger
	deliver   Deliver
	o         Options
	self      uuid.UUID
	meters    meters
	delivered []int64   // rows that are to be removed
	floor     int64     // below it nothing is looked for until the next full look
	looked    time.Time // the last full look
}

// NewRelay makes a relay; Run makes it work.
func NewRelay(db *pg.DB, log *slog.Logger, deliver Deliver, o Options) (*Relay, error) {
	self, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	r := &Relay{db: db, log: log, deliver: deliver, o: o.complete(), self: self}
	if err := r.meters.start(r.o.Meters.Meter("mesh/audit")); err != nil {
		return nil, fmt.Errorf("audit metrics: %w", err)
	}
	return r, nil
}

// Run relays until ctx ends; then it goes on, for Drain at most, while entries are there.
func (r *Relay) Run(ctx context.Context) error {
	pauses := &backoff.ExponentialBackOff{
		InitialInterval: r.o.FirstPause, MaxInterval: r.o.LongestPause, Multiplier: 2, RandomizationFactor: 0.5,
	}
	pauses.Reset()
	for {
		pause := r.o.Poll
		some, err := r.drain(ctx, false)
		if some {
			pause /= 4 // carried in small parts, what is much takes less from those who ask meanwhile
		}
		if err == nil {
			pauses.Reset()
		} else if ctx.Err() == nil {
			pause = pauses.NextBackOff()
			r.log.WarnContext(ctx, "audit: entries not carried away, and will be tried again", "pause", pause.String(), "error", err.Error())
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.o.Drain)
			defer cancel()
			r.looked = time.Time{}
			if _, err := r.drain(end, true); err != nil {
				r.log.WarnContext(end, "audit: entries wait for the next start", "error", err.Error())
			}
			r.leave(end)
			return ctx.Err()
		case <-timer.C:
		}
	}
}

// drain delivers what waits, and tells whether something did. A delivery costs as much as a hundred entries: while they keep
// coming, one that was not full is the last for now, unless all are to go. What was delivered is removed in the trip that
// takes what comes next.
func (r *Relay) drain(ctx context.Context, all bool) (some bool, err error) {
	for {
		waiting, err := r.next(ctx)
		if err != nil || len(waiting) == 0 {
			return some, err
		}
		some = true
		number, err := r.hand(ctx, waiting)
		if err != nil {
			r.looked = time.Time{}
			return some, err
		}
		for _, row := range waiting {
			r.delivered = append(r.delivered, row.Seq)
		}
		if number < r.o.Batch && !all {
			return some, nil
		}
	}
}

// leave lets another relay begin at once. Where it cannot, the lease ends by itself.
func (r *Relay) leave(ctx context.Context) {
	b := pg.Global()
	b.Exec(release, r.self)
	_ = r.db.Send(ctx, b)
}

// hand delivers within the lease, and counts what it delivered.
func (r *Relay) hand(ctx context.Context, waiting []row) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, r.o.Lease*2/3)
	defer cancel()
	list, number := []byte{'['}, 0
	for _, row := range waiting {
		if number > 0 {
			list = append(list, ',')
		}
		list = append(list, bytes.TrimSuffix(bytes.TrimPrefix(row.Entries, []byte{'['}), []byte{']'})...)
		number += int(row.Number)
	}
	err := r.deliver(ctx, append(list, ']'))
	r.meters.count(ctx, number, err)
	return number, err
}

// row is what was kept at once.
type row struct {
	Seq     int64
	Number  int32
	Entries []byte
}

const (
	// A queue looks empty to a planner who saw it so, and it would be read whole, with all that was removed from it. What
	// cannot but be read whole then looks as if it was worth compiling.
	byKey  = `SELECT set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`
	remove = `DELETE FROM audit_entry WHERE seq = ANY ($1)`
	// An idle queue is only looked at; the lease is written when there is something to do.
	take = `
	WITH mine AS (
		UPDATE audit_lease SET holder = $1, until = clock_timestamp() + $2::interval
		WHERE (holder = $1 OR until < clock_timestamp())
			AND (SELECT seq FROM audit_entry WHERE seq > $4 ORDER BY seq LIMIT 1) IS NOT NULL
		RETURNING 1
	)
	SELECT seq, number, entries FROM (
		SELECT seq, number, entries, sum(number) OVER (ORDER BY seq ROWS UNBOUNDED PRECEDING) - number AS before
		FROM (SELECT seq, number, entries FROM audit_entry WHERE seq > $4 AND EXISTS (SELECT FROM mine) ORDER BY seq LIMIT $3) AS first
	) AS counted WHERE before < $3 ORDER BY seq`
	release = `UPDATE audit_lease SET until = '-infinity' WHERE holder = $1 AND until > clock_timestamp()`
	// The backlog is counted no further than is worth knowing.
	backlog = `
	SELECT coalesce(sum(number), 0) AS depth, coalesce(extract(epoch FROM now() - min(at)), 0)::bigint AS oldest
	FROM (SELECT number, at FROM audit_entry ORDER BY seq LIMIT 10000) AS waiting`
)

// next removes what was delivered and gives what is next, none when another relay holds the lease.
func (r *Relay) next(ctx context.Context) ([]row, error) {
	var waiting []row
	var depth *waitingRow
	b := pg.Global()
	b.Exec(byKey)
	if len(r.delivered) > 0 {
		b.Exec(remove, r.delivered)
	}
	pg.Rows(b, &waiting, take, r.self, r.o.Lease, r.o.Batch, r.from())
	if r.meters.due() {
		pg.Row(b, &depth, backlog)
	}
	err := r.db.Send(ctx, b)
	r.meters.saw(depth)
	if err == nil {
		r.delivered = r.delivered[:0]
	}
	if len(waiting) > 0 {
		r.floor = waiting[len(waiting)-1].Seq
	}
	return waiting, err
}

// from is where to look. Until they are vacuumed away, removed entries stand in the way of whoever begins at the
// beginning; but seq is given before the commit, so that one behind may come late: for it, and for what could not be
// delivered, all is looked at now and then.
func (r *Relay) from() int64 {
	if time.Since(r.looked) >= r.o.FullLook {
		r.looked, r.floor = time.Now(), 0
	}
	return r.floor
}
