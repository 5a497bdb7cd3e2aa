package replica

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// tenant is one of those who are asked about.
type tenant[P People] struct {
	id     string
	people P
	loaded bool
	memory int64 // as it was last counted
	gone   bool  // made room for others: what is still done for it is nobody's memory

	position string    // up to where people are told of
	used     time.Time // asked about last
	noted    time.Time // the use that was remembered last
	pulled   time.Time // when the last pull that succeeded began
	pause    time.Duration
	due      time.Time // for the next pull that nobody asks for
	failing  bool
	full     time.Time // until then there is no room for it

	running, next *flight[P] // what is under way, and who waits for it to end
}

// flight is one way to the source and back, for all who boarded it before it left.
type flight[P People] struct {
	span    trace.SpanContext // of who boarded first
	loading atomic.Bool       // it loads, or waits for a load
	landed  chan struct{}
	people  P
	err     error
}

// board gives the next flight that leaves, never the one under way: what that one was told may be from before a change
// which the caller knows of.
func (r *Replica[P]) board(ctx context.Context, id string, remembered bool) (*flight[P], error) {
	now := r.o.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return nil, unavailable(errEnded, CodeBehind)
	}
	t := r.tenants[id]
	if t == nil {
		t = &tenant[P]{id: id}
		r.tenants[id] = t
	}
	t.used = now
	if remembered {
		t.noted = now
	}
	if now.Before(t.full) {
		return nil, unavailable(nil, CodeFull)
	}
	return r.seat(ctx, t), nil
}

var errEnded = errors.New("the replica has ended")

// seat gives the flight that a tenant's next passengers take, and lets it leave if none is under way. The lock is held.
func (r *Replica[P]) seat(ctx context.Context, t *tenant[P]) *flight[P] {
	f := t.next
	if f == nil {
		f = &flight[P]{span: trace.SpanContextFromContext(ctx), landed: make(chan struct{})}
		f.loading.Store(!t.loaded)
		if t.running != nil {
			t.next = f
			return f
		}
		t.running = f
		r.flights.Go(func() { r.fly(t, f) })
	}
	return f
}

// fly goes on while somebody waits.
func (r *Replica[P]) fly(t *tenant[P], f *flight[P]) {
	for f != nil {
		f.people, f.err = r.refresh(trace.ContextWithSpanContext(r.life, f.span), t, f)
		r.mu.Lock()
		landed := f.landed
		f, t.next = t.next, nil
		t.running = f
		if f != nil {
			f.loading.Store(!t.loaded)
		}
		r.mu.Unlock()
		close(landed)
	}
}

// refresh loads the tenant, or pulls what changed. Where it is not known any more what changed, all is loaded anew.
func (r *Replica[P]) refresh(ctx context.Context, t *tenant[P], f *flight[P]) (P, error) {
	r.mu.Lock()
	people, loaded, since := t.people, t.loaded, t.position
	r.mu.Unlock()
	if loaded {
		err := r.pull(ctx, t, people, since)
		if !lost(err) {
			return people, r.note(ctx, t, "pull", err)
		}
		r.drop(t)
		f.loading.Store(true)
		r.log.InfoContext(ctx, "index: what changed is not known any more, all is loaded anew", "tenant", t.id)
	}
	people, err := r.load(ctx, t)
	return people, r.note(ctx, t, "load", err)
}

// note logs the first of a row of failures.
func (r *Replica[P]) note(ctx context.Context, t *tenant[P], what string, err error) error {
	r.mu.Lock()
	first := err != nil && !t.failing
	t.failing = err != nil
	r.mu.Unlock()
	if first && ctx.Err() == nil {
		r.log.WarnContext(ctx, "index: not brought up to date", "tenant", t.id, "by", what, "error", err.Error())
	}
	return err
}
