package replica

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// meters are the replica's own. None tells of one tenant.
type meters struct {
	pulls, loads     metric.Float64Histogram
	changes, removed metric.Int64Counter
}

// state is what is held.
type state struct {
	tenants, people int
	memory          int64
	lag             time.Duration // of the tenant that waits for longest to be brought up to date; those that rest do not
}

func newMeters(meter metric.Meter, now func() state) (*meters, error) {
	m := &meters{}
	var faults [8]error
	m.pulls, faults[0] = meter.Float64Histogram("index.pull.duration", metric.WithUnit("s"),
		metric.WithDescription("How long it took to bring a tenant's index up to date, by outcome."),
		metric.WithExplicitBucketBoundaries(.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10))
	m.loads, faults[1] = meter.Float64Histogram("index.load.duration", metric.WithUnit("s"),
		metric.WithDescription("How long it took to load a tenant's index, by outcome."),
		metric.WithExplicitBucketBoundaries(.005, .01, .05, .1, .5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500))
	m.changes, faults[2] = meter.Int64Counter("index.changes", metric.WithUnit("{patient}"),
		metric.WithDescription("Patients who were told of as changed."))
	m.removed, faults[3] = meter.Int64Counter("index.dropped", metric.WithUnit("{tenant}"),
		metric.WithDescription("Tenants whose index made room for others."))
	tenants, err := meter.Int64ObservableGauge("index.tenants", metric.WithUnit("{tenant}"), metric.WithDescription("Tenants whose index is held."))
	faults[4] = err
	people, err := meter.Int64ObservableGauge("index.people", metric.WithUnit("{patient}"), metric.WithDescription("Patients who are held, of all tenants."))
	faults[5] = err
	memory, err := meter.Int64ObservableGauge("index.memory", metric.WithUnit("By"), metric.WithDescription("Memory of all indexes, as they estimate it."))
	faults[6] = err
	lag, err := meter.Float64ObservableGauge("index.lag", metric.WithUnit("s"),
		metric.WithDescription("For how long the index that waits for longest was to be brought up to date, and was not."))
	faults[7] = err
	if err := errors.Join(faults[:]...); err != nil {
		return nil, err
	}
	_, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := now()
		o.ObserveInt64(tenants, int64(s.tenants))
		o.ObserveInt64(people, int64(s.people))
		o.ObserveInt64(memory, s.memory)
		o.ObserveFloat64(lag, s.lag.Seconds())
		return nil
	}, tenants, people, memory, lag)
	return m, err
}

func (r *Replica[P]) state() state {
	r.mu.Lock()
	s := state{memory: r.memory}
	now := r.o.Now()
	var held []P
	for _, t := range r.tenants {
		if t.loaded {
			held = append(held, t.people)
			s.lag = max(s.lag, now.Sub(t.wanted))
		}
	}
	r.mu.Unlock()
	s.tenants = len(held)
	for _, people := range held {
		s.people += people.People()
	}
	return s
}

func (m *meters) pulled(ctx context.Context, took time.Duration, changed int, err error) {
	m.pulls.Record(ctx, took.Seconds(), outcome(err))
	if changed > 0 {
		m.changes.Add(ctx, int64(changed))
	}
}

func (m *meters) loaded(ctx context.Context, took time.Duration, err error) {
	m.loads.Record(ctx, took.Seconds(), outcome(err))
}

func (m *meters) dropped(ctx context.Context) { m.removed.Add(ctx, 1) }

func outcome(err error) metric.MeasurementOption {
	if err != nil {
		return metric.WithAttributes(attribute.String("outcome", "failed"))
	}
	return metric.WithAttributes(attribute.String("outcome", "done"))
}
