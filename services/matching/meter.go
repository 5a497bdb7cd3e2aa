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
	known    map[series]metric.MeasurementOption // to make one costs as much as to count
}

// series is what finds are counted apart by.
type series struct{ mode, outcome string }

// NewMeters makes them.
func NewMeters(meter metric.Meter) (*Meters, error) {
	duration, err := meter.Float64Histogram("matching.find.duration", metric.WithUnit("s"),
		metric.WithDescription("How long finds took, by mode (exact, probabilistic) and outcome (found, nobody, unavailable, failed)."),
		metric.WithExplicitBucketBoundaries(.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5))
	if err != nil {
		return nil, fmt.Errorf("matching metrics: %w", err)
	}
	scored, err := meter.Int64Histogram("matching.find.candidates", metric.WithUnit("{patient}"),
		metric.WithDescription("How many candidates a find compared, by mode and outcome."),
		metric.WithExplicitBucketBoundaries(0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000))
	if err != nil {
		return nil, fmt.Errorf("matching metrics: %w", err)
	}
	known := map[series]metric.MeasurementOption{}
	for _, mode := range []string{"exact", "probabilistic"} {
		for _, outcome := range []string{"found", "nobody", "unavailable", "failed"} {
			known[series{mode, outcome}] = metric.WithAttributeSet(attribute.NewSet(attribute.String("mode", mode), attribute.String("outcome", outcome)))
		}
	}
	return &Meters{duration: duration, scored: scored, known: known}, nil
}

// count notes one find.
func (m *Meters) count(ctx context.Context, exact bool, a Answer, scored int, took time.Duration, err error) {
	s := series{mode: "probabilistic", outcome: outcome(a, err)}
	if exact {
		s.mode = "exact"
	}
	m.duration.Record(ctx, took.Seconds(), m.known[s])
	if err == nil {
		m.scored.Record(ctx, int64(scored), m.known[s])
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
