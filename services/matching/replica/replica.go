// Package replica keeps the people of the tenants that are asked about in the memory of this process, and brings a
// tenant's up to date before each find. It knows where people come from and when they are fresh; it knows neither what
// they are compared by nor how they are kept.
package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/linkage/feed"
)

// People are those of one tenant. They are changed while they are asked.
type People interface {
	// Apply puts in who is new, replaces who is not, and removes who is deleted. Several may run at a time.
	Apply(people []linkage.Demographics)
	People() int
	Memory() int64 // in bytes
}

// Source tells who a tenant's people are, in pages that ascend by id: all, or those who changed since a position.
type Source interface {
	Page(ctx context.Context, tenant, since string, after int64, limit int) (feed.Page, error)
}

// Uses remembers which tenants are asked about, from one process to the next.
type Uses interface {
	Used(ctx context.Context, tenants []string) error
	Recent(ctx context.Context, most int) ([]string, error) // the latest first
}

// Options are the bounds of a replica. Every zero value has a default.
type Options struct {
	Memory int64         // bytes of all tenants together; 4 GiB
	Loads  int           // large tenants that are loaded at a time; 2
	WarmUp time.Duration // the longest that a process which starts is not ready for the sake of who is not loaded; 30 s
	Now    func() time.Time
	Meters metric.MeterProvider
}

func (o Options) complete() Options {
	o.Memory = positive(o.Memory, 4<<30)
	o.Loads = positive(o.Loads, 2)
	o.WarmUp = positive(o.WarmUp, 30*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Meters == nil {
		o.Meters = otel.GetMeterProvider()
	}
	return o
}

func positive[T int | int64 | time.Duration](value, otherwise T) T {
	if value > 0 {
		return value
	}
	return otherwise
}

// Replica holds the tenants. It is safe for concurrent use; its loop, Run, is run beside it.
type Replica[P People] struct {
	source Source
	uses   Uses
	empty  func() P
	log    *slog.Logger
	o      Options
	meters *meters
	short  chan struct{} // places for loads: see lane
	long   chan struct{}
	warm   chan struct{} // closed when the process has warmed up

	life    context.Context //nolint:containedctx // what the replica does for many callers ends with it, not with one of them
	end     context.CancelFunc
	flights sync.WaitGroup

	mu      sync.Mutex
	ended   bool
	tenants map[string]*tenant[P]
	memory  int64 // of all tenants together
}

// New makes a replica. Empty makes the people of a tenant who has none.
func New[P People](source Source, uses Uses, empty func() P, log *slog.Logger, o Options) (*Replica[P], error) {
	o = o.complete()
	r := &Replica[P]{
		source: source, uses: uses, empty: empty, log: log, o: o, warm: make(chan struct{}),
		short: make(chan struct{}, shortLoads), long: make(chan struct{}, o.Loads),
		tenants: map[string]*tenant[P]{},
	}
	r.life, r.end = context.WithCancel(context.Background()) //nolint:gosec // close calls it
	var err error
	if r.meters, err = newMeters(o.Meters.Meter("mesh/index"), r.state); err != nil {
		return nil, fmt.Errorf("index metrics: %w", err)
	}
	return r, nil
}

// Fresh gives a tenant's people with every change that was answered before it was called. It waits until ctx is done;
// what cannot be had by then is a fault of kind Unavailable.
func (r *Replica[P]) Fresh(ctx context.Context, id string) (P, error) { return r.fresh(ctx, id, false) }

// fresh is Fresh; remembered says that the use need not be written down.
func (r *Replica[P]) fresh(ctx context.Context, id string, remembered bool) (P, error) {
	var none P
	for {
		flight, err := r.board(ctx, id, remembered)
		if err != nil {
			return none, err
		}
		select {
		case <-flight.landed:
			switch {
			case flight.err == nil:
				return flight.people, nil
			case !errors.Is(flight.err, errGone):
				return none, refusal(flight.err)
			}
		case <-ctx.Done():
			if flight.loading.Load() {
				return none, unavailable(ctx.Err(), CodeLoading)
			}
			return none, unavailable(ctx.Err(), CodeBehind)
		}
	}
}

// Codes of what is told to those who cannot be answered now.
const (
	CodeBehind  = "index_behind"
	CodeLoading = "index_loading"
	CodeFull    = "index_full"
)

func unavailable(cause error, code string) *fault.Error {
	detail, after := "The index has not caught up with the latest changes; try again shortly.", time.Second
	switch code {
	case CodeLoading:
		detail, after = "The index of the tenant's patients is being loaded; try again shortly.", 2*time.Second
	case CodeFull:
		detail, after = "There is no room for the index of the tenant's patients just now.", fullFor
	}
	f := fault.Because(cause, fault.Unavailable, code, detail)
	f.RetryAfter = after
	return f
}

// refusal is what is told of a flight that failed: that it did, whatever the reason.
func refusal(err error) error {
	if f := fault.Of(err); f.Kind == fault.Unavailable && f.Code == CodeFull {
		return err
	}
	return unavailable(err, CodeBehind)
}
