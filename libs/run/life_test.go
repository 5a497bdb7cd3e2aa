package run_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/run"
)

// steps is a server that writes down what is done to it.
type steps struct {
	mu   sync.Mutex
	done []string
	stop chan struct{}
}

func (s *steps) add(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = append(s.done, step)
}

func (s *steps) Listen(string) error { <-s.stop; return nil }
func (s *steps) Drain()              { s.add("unready") }
func (s *steps) ShutdownWithContext(ctx context.Context) error {
	s.add("shut down")
	close(s.stop)
	return ctx.Err()
}

// Nobody may be sent to a program that has stopped: it is unready and out of the registry first, and its loops, which serve
// what is under way, end last.
func TestLifeEndsInOrder(t *testing.T) {
	s := &steps{stop: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	errLeave := errors.New("the registry is away")
	err := run.Life{
		Logger: slog.New(slog.DiscardHandler), Server: s,
		Register: func(context.Context) (func(context.Context) error, error) {
			cancel()
			return func(ctx context.Context) error { s.add("left"); return errors.Join(ctx.Err(), errLeave) }, nil
		},
		Background: []func(context.Context) error{func(ctx context.Context) error {
			<-ctx.Done()
			s.add("loop ended")
			return ctx.Err()
		}},
	}.Run(ctx)
	if !errors.Is(err, errLeave) {
		t.Errorf("the fault is lost: %v", err)
	}
	if want := []string{"unready", "left", "shut down", "loop ended"}; !slices.Equal(s.done, want) {
		t.Errorf("%v, want %v", s.done, want)
	}
}
