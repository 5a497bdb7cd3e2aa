package pg_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// desk is where writes go to; the first waits until it is let.
type desk struct {
	mu     sync.Mutex
	sizes  []int
	first  sync.Once
	begun  chan struct{}
	let    chan struct{}
	refuse func(all []int) error
}

func newDesk(refuse func(all []int) error) *desk {
	return &desk{begun: make(chan struct{}), let: make(chan struct{}), refuse: refuse}
}

func sum(sizes []int) (all int) {
	for _, n := range sizes {
		all += n
	}
	return all
}

func (d *desk) write(_ context.Context, all []int) error {
	d.first.Do(func() {
		close(d.begun)
		<-d.let
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sizes = append(d.sizes, len(all))
	return d.refuse(all)
}

func TestWhatComesDuringACommitIsTheNext(t *testing.T) {
	t.Parallel()
	var together pg.Together[int]
	d := newDesk(func([]int) error { return nil })
	var all, others sync.WaitGroup
	all.Go(func() {
		if err := together.Write(t.Context(), 0, d.write); err != nil {
			t.Error(err)
		}
	})
	<-d.begun
	gone, leave := context.WithCancel(t.Context())
	leave()
	for n := range 250 { // who leaves stands in the queue already, and is written with the others
		others.Go(func() {
			if err := together.Write(gone, n, d.write); err != nil && !fault.Is(err, fault.Unavailable) {
				t.Error(err)
			}
		})
	}
	others.Wait()
	close(d.let)
	all.Wait()
	if err := together.Write(t.Context(), 0, d.write); err != nil {
		t.Error(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sizes[0] != 1 || d.sizes[1] != 100 || d.sizes[2] != 100 || sum(d.sizes) != 252 {
		t.Errorf("commits of %v", d.sizes)
	}
}

func TestNobodyFailsForANeighbour(t *testing.T) {
	t.Parallel()
	var together pg.Together[int]
	bad := errors.New("bad")
	d := newDesk(func(all []int) error {
		if slices.Contains(all, 7) {
			return bad
		}
		return nil
	})
	var all sync.WaitGroup
	all.Go(func() { _ = together.Write(t.Context(), 0, d.write) })
	<-d.begun
	gone, leave := context.WithCancel(t.Context())
	leave()
	_ = together.Write(gone, 7, d.write) // stands first in the next commit
	for n := range 5 {
		all.Go(func() {
			if err := together.Write(t.Context(), n, d.write); err != nil {
				t.Errorf("%d: %v", n, err)
			}
		})
	}
	close(d.let)
	all.Wait()
	if err := together.Write(t.Context(), 7, d.write); !errors.Is(err, bad) {
		t.Error(err)
	}
}

func TestWhoKnowsNotWhetherItWasWrittenDoesNotWriteAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, whoKnowsNot)
}

func whoKnowsNot(t *testing.T) {
	t.Helper()
	var together pg.Together[int]
	d := newDesk(func([]int) error { return fault.Away(nil, "away") })
	var all sync.WaitGroup
	all.Go(func() { _ = together.Write(t.Context(), 0, d.write) })
	<-d.begun
	gone, leave := context.WithCancel(t.Context())
	leave()
	for n := range 4096 {
		_ = together.Write(gone, n, d.write)
	}
	if err := together.Write(t.Context(), 1, d.write); !fault.Is(err, fault.Unavailable) {
		t.Errorf("one more than may wait: %v", err)
	}
	close(d.let)
	all.Wait()
	synctest.Wait() // until all who waited were written
	if err := together.Write(t.Context(), 1, d.write); !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if sum(d.sizes) != 1+4096+1 {
		t.Errorf("%d were written", sum(d.sizes))
	}
}
