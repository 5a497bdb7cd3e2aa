package audit

import (
	"context"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// meters are a relay's own.
type meters struct {
	depth, oldest atomic.Int64
	looked        time.Time
	relayed       metric.Int64Counter
}

type waitingRow struct{ Depth, Oldest int64 }

func (m *meters) start(meter metric.Meter) error {
	depth, err := meter.Int64ObservableGauge("audit.depth", metric.WithUnit("{entry}"),
		metric.WithDescription("Audit entries that wait to be chained, counted up to 10000 commits."))
	if err != nil {
		return err
	}
	oldest, err := meter.Int64ObservableGauge("audit.oldest_age", metric.WithUnit("s"),
		metric.WithDescription("How long the oldest audit entry has been waiting."))
	if err != nil {
		return err
	}
	if m.relayed, err = meter.Int64Counter("audit.relayed", metric.WithUnit("{entry}"),
		metric.WithDescription("Audit entries carried to the tenant service, by outcome.")); err != nil {
		return err
	}
	_, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(depth, m.depth.Load())
		o.ObserveInt64(oldest, m.oldest.Load())
		return nil
	}, depth, oldest)
	return err
}

const lookEvery = 5 * time.Second

// due reports, once in a while, that the backlog should be counted. The relay's own goroutine asks.
func (m *meters) due() bool {
	if time.Since(m.looked) < lookEvery {
		return false
	}
	m.looked = time.Now()
	return true
}

func (m *meters) saw(row *waitingRow) {
	if row != nil {
		m.depth.Store(row.Depth)
		m.oldest.Store(row.Oldest)
	}
}

func (m *meters) count(ctx context.Context, entries int, err error) {
	outcome := "done"
	if err != nil {
		outcome = "failed"
	}
	m.relayed.Add(ctx, int64(entries), metric.WithAttributes(attribute.String("outcome", outcome)))
}
