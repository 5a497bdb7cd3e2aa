package outbox

import (
	"context"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// backlog is what waited at the last look.
type backlog struct {
	depth  atomic.Int64
	oldest atomic.Int64 // seconds
}

// backlogRow counts no further than is worth knowing, so that a look stays cheap when much waits.
type backlogRow struct {
	Depth  int64
	Oldest int64
}

const backlogQuery = `
	SELECT count(*) AS depth, coalesce(extract(epoch FROM now() - min(created_at)), 0)::bigint AS oldest
	FROM (SELECT created_at FROM outbox ORDER BY id LIMIT 10000) AS waiting`

// look queues the count of what waits and gives what to do once the batch has run.
func (l *backlog) look(b *pg.Batch) (done func()) {
	var row *backlogRow
	pg.Row(b, &row, backlogQuery)
	return func() {
		if row != nil {
			l.depth.Store(row.Depth)
			l.oldest.Store(row.Oldest)
		}
	}
}

func (r *Relay) measure(m metric.Meter) error {
	depth, err := m.Int64ObservableGauge("outbox.depth", metric.WithUnit("{message}"),
		metric.WithDescription("Messages that wait or are being handled, counted up to 10000."))
	if err != nil {
		return err
	}
	oldest, err := m.Int64ObservableGauge("outbox.oldest_age", metric.WithUnit("s"),
		metric.WithDescription("How long the oldest message has been waiting."))
	if err != nil {
		return err
	}
	if r.outcome, err = m.Int64Counter("outbox.handled", metric.WithUnit("{message}"),
		metric.WithDescription("Messages handled, by kind and outcome.")); err != nil {
		return err
	}
	_, err = m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(depth, r.backlog.depth.Load())
		o.ObserveInt64(oldest, r.backlog.oldest.Load())
		return nil
	}, depth, oldest)
	return err
}

func (r *Relay) count(ctx context.Context, kind string, err error) {
	outcome := "done"
	if err != nil {
		outcome = "failed"
	}
	r.outcome.Add(ctx, 1, metric.WithAttributes(attribute.String("kind", kind), attribute.String("outcome", outcome)))
}
