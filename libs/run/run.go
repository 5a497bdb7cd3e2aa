// Package run is the life of a program: its verbs, its start, its drain and its end. It does not know what it runs.
package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"
)

// Version is set by the linker.
var Version = "development" //nolint:gochecknoglobals // the linker can set nothing else

// Program is what a main has to offer. Migrate is nil for a program without a database.
type Program struct {
	Name    string
	Serve   func(ctx context.Context) error
	Migrate func(ctx context.Context) error
}

// gcPercent lets the garbage of many small requests grow to four times what lives, which is little: some ten MiB more
// for about a tenth less work on each request. GOGC overrides it.
const gcPercent = 400

// Main runs the verb that the command line names (serve when it names none) and ends the process. The context of a
// verb ends at SIGTERM or SIGINT.
func Main(p Program) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	verb := "serve"
	if len(os.Args) > 1 {
		verb = os.Args[1]
	}
	err := p.do(ctx, verb)
	stop()
	if err != nil {
		slog.New(slog.NewJSONHandler(os.Stderr, nil)).Error("stopped", "service", p.Name, "error", err.Error())
		os.Exit(1)
	}
}

func (p Program) do(ctx context.Context, verb string) error {
	switch {
	case verb == "serve":
		return p.Serve(ctx)
	case verb == "migrate" && p.Migrate != nil:
		return p.Migrate(ctx)
	case verb == "healthy":
		return healthy(ctx, os.Getenv("LISTEN_ADDR"))
	case verb == "version":
		info, _ := debug.ReadBuildInfo()
		fmt.Println(p.Name, Version, info.GoVersion) //nolint:forbidigo // what was asked for
		return nil
	}
	return fmt.Errorf("unknown command %q: serve, migrate, healthy or version", verb)
}

// Server is what takes requests: a Fiber app, or anything that starts and stops alike.
type Server interface {
	// Listen serves until Shutdown.
	Listen(addr string) error
	// Drain makes readiness fail, so that nobody sends more.
	Drain()
	// ShutdownWithContext stops accepting and waits for what is under way until ctx ends.
	ShutdownWithContext(ctx context.Context) error
}

// Life is one serving program from start to end. Background loops run until their context ends.
type Life struct {
	Logger     *slog.Logger
	Server     Server
	Addr       string
	Register   func(ctx context.Context) (deregister func(context.Context) error, err error) // nil: nobody to tell
	Background []func(ctx context.Context) error
	// ShutdownDelay is how long a draining program still takes requests, while others learn that it leaves.
	ShutdownDelay time.Duration
	// ShutdownLimit is the longest wait for requests under way.
	ShutdownLimit time.Duration
}

// leaveLimit is how long the registry may take to let a program go. It runs beside the delay: a registry that hangs takes
// no time from requests.
const leaveLimit = 2 * time.Second

// Run serves until ctx ends or a part fails, then drains: unready, out of the registry and wait, stop accepting, finish
// what is under way, end the loops.
func (l Life) Run(ctx context.Context) error {
	loops, stopLoops := context.WithCancel(context.WithoutCancel(ctx))
	defer stopLoops()
	failed := make(chan error, len(l.Background)+1)
	var running sync.WaitGroup
	for _, loop := range l.Background {
		running.Go(func() {
			if err := loop(loops); err != nil && !errors.Is(err, context.Canceled) {
				failed <- err
			}
		})
	}
	go func() { failed <- l.Server.Listen(l.Addr) }()

	deregister := func(context.Context) error { return nil }
	if l.Register != nil {
		var err error
		if deregister, err = l.Register(ctx); err != nil {
			return fmt.Errorf("register: %w", err)
		}
	}
	l.Logger.Info("serving", "addr", l.Addr)
	var cause error
	select {
	case <-ctx.Done():
	case cause = <-failed:
	}

	l.Server.Drain()
	left := make(chan error, 1)
	go func() { left <- leave(context.WithoutCancel(ctx), deregister) }()
	time.Sleep(l.ShutdownDelay)
	faults := []error{cause, <-left}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(l.ShutdownLimit, time.Second))
	defer cancel()
	faults = append(faults, l.Server.ShutdownWithContext(end))
	stopLoops()
	running.Wait()
	l.Logger.Info("drained")
	return errors.Join(faults...)
}

// leave gives up where the registry does not let go in time: it will find out by itself.
func leave(ctx context.Context, deregister func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, leaveLimit)
	defer cancel()
	if err := deregister(ctx); err != nil {
		return fmt.Errorf("deregister: %w", err)
	}
	return nil
}
