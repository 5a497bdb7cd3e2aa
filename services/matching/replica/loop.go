package replica

import (
	"context"
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
	warming := make(chan struct{})
	go func() {
		defer close(warming)
		r.warmUp(ctx)
	}()
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	noted := r.o.Now()
	for {
		select {
		case <-ctx.Done():
			<-warming
			r.close()
			r.remember(context.WithoutCancel(ctx))
			return ctx.Err()
		case <-ticks.C:
		}
		r.pullDue()
		if now := r.o.Now(); now.Sub(noted) >= noteEvery {
			noted = now
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
		if !t.loaded && t.running == nil && !now.Before(t.full) {
			r.forget(t)
			delete(r.tenants, id)
		}
		if t.running != nil {
			free--
		}
	}
	for ; free > 0 && !r.ended; free-- {
		var first *tenant[P]
		for _, t := range r.tenants {
			if t.loaded && t.running == nil && !now.Before(t.due) && (first == nil || t.due.Before(first.due)) {
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
