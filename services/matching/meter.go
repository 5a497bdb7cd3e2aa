package matching

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Meters are what is counted of finds. Nothing that was asked or answered is among it.
type Meters struct {
	duration metric.Float64Histogram
	scored   metric.Int64Histogram
}

// NewMeters makes them.
func NewMeters(meter metric.Meter) (*Meters, error) {
	duration, err := meter.Float64Histogram("matching.find.duration", metric.WithUnit("s"),
		metric.WithDescription("How long finds took, by mode (exact, probabilistic) and outcome (found, nobody, unavailable, failed)."),
		metric.WithExplicitBucketBoundaries(.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5))
	if err != nil {
		return nil, fmt.Errorf("matching metrics: %w", err)
	}
	scored, err := meter.Int64Histogram("matching.find.candidates", metric.WithUnit("{patient}"),
		metric.WithDescription("How many candidates a find compared, by mode."),
		metric.WithExplicitBucketBoundaries(0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000))
	if err != nil {
		return nil, fmt.Errorf("matching metrics: %w", err)
	}
	return &Meters{duration: duration, scored: scored}, nil
}

// count notes one find.
func (m *Meters) count(ctx context.Context, exact bool, a Answer, scored int, took time.Duration, err error) {
	mode := attribute.String("mode", "probabilistic")
	if exact {
		mode = attribute.String("mode", "exact")
	}
	m.duration.Record(ctx, took.Seconds(), metric.WithAttributes(mode, attribute.String("outcome", outcome(a, err))))
	if err == nil {
		m.scored.Record(ctx, int64(scored), metric.WithAttributes(mode))
	}
}

func outcome(a Answer, err error) string {
	switch {
	case fault.Is(err, fault.Unavailable):
		return "unavailable"
	case err != nil:
		return "failed"
	case len(a.Matches) == 0:
		return "nobody"
	}
	return "found"
}
