package replica

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/patient-mesh/patient-mesh/libs/run"
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
	pause    time.Duration
	due      time.Time // for the next pull that nobody asks for
	wanted   time.Time // since then no pull that was due or asked for has succeeded; later than now while none is wanted
	failing  bool
	full     time.Time // until then there is no room for it

	flying bool       // somebody flies for it
	next   *flight[P] // has not left yet
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
	if now.Before(t.wanted) {
		t.wanted = now
	}
	if remembered {
		t.noted = now
	}
	if now.Before(t.full) {
		return nil, unavailable(nil, CodeFull)
	}
	return r.seat(ctx, t), nil
}

var errEnded = errors.New("the replica has ended")

// seat gives the flight that a tenant's next passengers take, and sees to it that it leaves. The lock is held.
func (r *Replica[P]) seat(ctx context.Context, t *tenant[P]) *flight[P] {
	if t.next == nil {
		t.next = &flight[P]{span: trace.SpanContextFromContext(ctx), landed: make(chan struct{})}
		t.next.loading.Store(!t.loaded)
		if !t.flying {
			t.flying = true
			r.flights.Go(func() { r.fly(t) })
		}
	}
	return t.next
}

// fly goes on while somebody waits.
func (r *Replica[P]) fly(t *tenant[P]) {
	for f := r.leave(t); f != nil; f = r.leave(t) {
		ctx := trace.ContextWithSpanContext(r.life, f.span)
		// Whoever's record cannot be taken in takes nobody else along.
		if err := run.Safely(func() (err error) {
			f.people, err = r.refresh(ctx, t, f)
			f.err = err
			return nil
		}); err != nil {
			r.drop(t) // in the middle of a change
			f.err = r.note(ctx, t, "change", err)
		}
		close(f.landed)
	}
}

// leave shuts the doors of the next flight; nil: nobody waits for one.
func (r *Replica[P]) leave(t *tenant[P]) *flight[P] {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := t.next
	t.flying, t.next = f != nil, nil
	if f != nil {
		f.loading.Store(!t.loaded)
	}
	return f
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
	if first && ctx.Err() == nil && !errors.Is(err, errGone) {
		r.log.WarnContext(ctx, "index: not brought up to date", "tenant", t.id, "by", what, "error", err.Error())
	}
	return err
}
