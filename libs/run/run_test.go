package run_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/run"
)

// server plays one that has a request under way for as long as it is let.
type server struct {
	stop     chan struct{}
	drained  time.Time
	shutdown time.Time
	given    time.Duration // for what is under way
}

func (s *server) Listen(string) error { <-s.stop; return nil }
func (s *server) Drain()              { s.drained = time.Now() }

func (s *server) ShutdownWithContext(ctx context.Context) error {
	s.shutdown = time.Now()
	deadline, _ := ctx.Deadline()
	s.given = time.Until(deadline)
	close(s.stop)
	return nil
}

// A registry that hangs takes nothing from the requests under way, and a program leaves it while it still serves.
func TestDrain(t *testing.T) {
	t.Parallel()
	answers := func(context.Context) error { return nil }
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, test := range map[string]struct {
		deregister func(context.Context) error
		delay      time.Duration
		shutdown   time.Duration // after the drain began
		fails      bool
	}{
		"a registry that answers":              {answers, 5 * time.Second, 5 * time.Second, false},
		"one that hangs":                       {hangs, 5 * time.Second, 5 * time.Second, true},
		"one that hangs longer than the delay": {hangs, time.Second, 2 * time.Second, true},
		"no delay":                             {answers, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &server{stop: make(chan struct{})}
				left := time.Time{}
				ctx, stop := context.WithCancel(t.Context())
				life := run.Life{
					Logger: slog.New(slog.DiscardHandler), Server: s, ShutdownDelay: test.delay, ShutdownLimit: 20 * time.Second,
					Register: func(context.Context) (func(context.Context) error, error) {
						return func(ctx context.Context) error {
							left = time.Now()
							return test.deregister(ctx)
						}, nil
					},
				}
				time.AfterFunc(time.Minute, stop)
				err := life.Run(ctx)
				if test.fails != errors.Is(err, context.DeadlineExceeded) || !test.fails && err != nil {
					t.Error(err)
				}
				if took := s.shutdown.Sub(s.drained); took != test.shutdown || left != s.drained {
					t.Errorf("it stopped accepting after %s, and left the registry after %s", took, left.Sub(s.drained))
				}
				if s.given != 20*time.Second {
					t.Errorf("what is under way has %s", s.given)
				}
			})
		})
	}
}
