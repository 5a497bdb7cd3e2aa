package replica

import (
	"context"
	"sync"
	"time"
)

const (
	tick      = 200 * time.Millisecond
	noteEvery = 10 * time.Second
	noteLimit = 3 * time.Second
	unasked   = 4 // flights at a time that nobody asked for
)

// Run warms up, pulls what nobody asks for, so that finds have little to wait for, and remembers who is asked about,
// until ctx ends. Then it ends what is under way.
func (r *Replica[P]) Run(ctx context.Context) error {
	var beside sync.WaitGroup
	beside.Go(func() { r.warmUp(ctx) })
	beside.Go(func() { r.rememberAll(ctx) })
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			beside.Wait()
			r.close()
			r.remember(context.WithoutCancel(ctx))
			return ctx.Err()
		case <-ticks.C:
			r.pullDue()
		}
	}
}

// rememberAll goes on beside the pulls, since the database may be slow.
func (r *Replica[P]) rememberAll(ctx context.Context) {
	ticks := time.NewTicker(noteEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			r.remember(ctx)
		}
	}
}

// close ends what is under way.
func (r *Replica[P]) close() {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	r.end()
	r.flights.Wait()
}

// pullDue lets flights leave without passengers, those first that are due for longest. It also clears away who was asked
// about once and is not held.
func (r *Replica[P]) pullDue() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, free := r.o.Now(), unasked
	for id, t := range r.tenants {
		if !t.loaded && !t.flying && !now.Before(t.full) {
			r.forget(t)
			delete(r.tenants, id)
		}
		if t.flying {
			free--
		}
	}
	for ; free > 0 && !r.ended; free-- {
		var first *tenant[P]
		for _, t := range r.tenants {
			if t.loaded && !t.flying && !now.Before(t.due) && (first == nil || t.due.Before(first.due)) {
				first = t
			}
		}
		if first == nil {
			return
		}
		r.seat(r.life, first)
	}
}

// remember writes down who was asked about since the last time.
func (r *Replica[P]) remember(ctx context.Context) {
	r.mu.Lock()
	var ids []string
	for id, t := range r.tenants {
		if t.used.After(t.noted) {
			ids = append(ids, id)
			t.noted = t.used
		}
	}
	r.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, noteLimit)
	defer cancel()
	if err := r.uses.Used(ctx, ids); err != nil {
		r.log.WarnContext(ctx, "index: who is asked about is not remembered", "error", err.Error())
	}
}
