package pg

import (
	"context"
	"sync"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Together lets writes that come at the same time share one commit, which one each would make several times as dear.
// One commit is under way at a time; what comes meanwhile is the next, so that nobody waits for company. The zero value
// is ready, and is safe for concurrent use.
type Together[T any] struct {
	mu      sync.Mutex
	waiting []waiter[T]
	writing bool
}

// waiter is who waits until one is written.
type waiter[T any] struct {
	one     T
	ctx     context.Context //nolint:containedctx // what is traced of the commit stands with the first who waits for it
	written chan<- error
}

const (
	mostTogether = 100  // in one commit
	mostWaiting  = 4096 // at a time; beyond it who comes is refused
	writeLimit   = 5 * time.Second
)

// Write returns when one is on disk. The function writes all in one batch, the same whoever calls. Where several fail
// together, each is tried alone: nobody fails for a neighbour. As with Send, after a fault of kind Unavailable nobody
// knows whether one was written.
func (t *Together[T]) Write(ctx context.Context, one T, write func(ctx context.Context, all []T) error) error {
	written := make(chan error, 1)
	if !t.add(waiter[T]{one, ctx, written}, write) {
		return fault.Away(nil, "Too much is being asked at once; try again shortly.")
	}
	select {
	case err := <-written:
		return err
	case <-ctx.Done():
		return fault.Away(ctx.Err(), "The request took too long; try again shortly.")
	}
}

func (t *Together[T]) add(one waiter[T], write func(ctx context.Context, all []T) error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) >= mostWaiting {
		return false
	}
	t.waiting = append(t.waiting, one)
	if !t.writing {
		t.writing = true
		go t.work(write)
	}
	return true
}

// work commits what waits until nothing does.
func (t *Together[T]) work(write func(ctx context.Context, all []T) error) {
	for list := t.take(); list != nil; list = t.take() {
		all := make([]T, len(list))
		for i, w := range list {
			all[i] = w.one
		}
		err := bounded(list[0].ctx, all, write)
		alone := err != nil && len(list) > 1 && !fault.Is(err, fault.Unavailable)
		for i, w := range list {
			if alone {
				err = bounded(w.ctx, all[i:i+1], write)
			}
			w.written <- err
		}
	}
}

// bounded writes for others than whose context it is, one of whom may give up: the others do not.
func bounded[T any](ctx context.Context, all []T, write func(ctx context.Context, all []T) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	return write(ctx, all)
}

func (t *Together[T]) take() []waiter[T] {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		t.writing = false
		return nil
	}
	n := min(len(t.waiting), mostTogether)
	list := t.waiting[:n:n]
	if t.waiting = t.waiting[n:]; len(t.waiting) == 0 {
		t.waiting = nil
	}
	return list
}
