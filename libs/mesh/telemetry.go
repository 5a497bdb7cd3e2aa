package mesh

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"os"
	"time"

	"github.com/sony/gobreaker/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// outcome is how a call ended, as metrics tell it.
type outcome string

const (
	answered outcome = "answered" // any status below 500
	failed   outcome = "failed"   // an answer of 500 or above
	timedOut outcome = "timeout"
	broken   outcome = "broken"  // no connection, or it broke
	refused  outcome = "refused" // no instance known, or all breakers open
)

func outcomeOf(resp *fasthttp.Response, err error) outcome {
	switch {
	case errors.Is(err, fasthttp.ErrTimeout), errors.Is(err, errNoTime):
		return timedOut
	case err != nil:
		return broken
	case resp.StatusCode() >= fasthttp.StatusInternalServerError:
		return failed
	default:
		return answered
	}
}

func outcomeOfStream(resp *http.Response, err error) outcome {
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, errNoTime):
		return timedOut
	case err != nil:
		return broken
	case resp.StatusCode >= http.StatusInternalServerError:
		return failed
	default:
		return answered
	}
}

// meters are the instruments, shared by all peers.
type meters struct {
	duration metric.Float64Histogram
	repeats  metric.Int64Counter
}

func newMeters(m metric.Meter, peers iter.Seq[*Peer]) (*meters, error) {
	duration, err1 := m.Float64Histogram("mesh.call.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of calls to other services, with repetitions."),
		metric.WithExplicitBucketBoundaries(.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10))
	repeats, err2 := m.Int64Counter("mesh.call.repeats", metric.WithDescription("Calls that were sent again."))
	_, err3 := m.Int64ObservableGauge("mesh.breaker.state",
		metric.WithDescription("Of each instance: 0 closed, 1 half-open, 2 open."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			for p := range peers {
				for _, i := range *p.instances.Load() {
					o.Observe(breakerState(i), metric.WithAttributes(
						attribute.String("service", p.service), attribute.String("instance", i.address)))
				}
			}
			return nil
		}))
	return &meters{duration, repeats}, errors.Join(err1, err2, err3)
}

func breakerState(i *instance) int64 {
	switch i.breaker.State() {
	case gobreaker.StateOpen:
		return 2
	case gobreaker.StateHalfOpen:
		return 1
	case gobreaker.StateClosed:
	}
	return 0
}

// peerMeters are the instruments of one peer with its attributes made beforehand, since making them costs more than
// recording.
type peerMeters struct {
	*meters
	outcomes map[outcome][]metric.RecordOption
	service  []metric.AddOption
}

func (m *meters) of(service string) peerMeters {
	p := peerMeters{meters: m, outcomes: map[outcome][]metric.RecordOption{}}
	name := attribute.String("service", service)
	p.service = []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(name))}
	m.repeats.Add(context.Background(), 0, p.service...) // a counter that is there from the start shows its first count as a rate
	for _, o := range []outcome{answered, failed, timedOut, broken, refused} {
		set := attribute.NewSet(name, attribute.String("outcome", string(o)))
		p.outcomes[o] = []metric.RecordOption{metric.WithAttributeSet(set)}
	}
	return p
}

func (p peerMeters) record(ctx context.Context, o outcome, took time.Duration) {
	p.duration.Record(ctx, took.Seconds(), p.outcomes[o]...)
}

func (p peerMeters) repeated(ctx context.Context) { p.repeats.Add(ctx, 1, p.service...) }
