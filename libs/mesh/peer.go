package mesh

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Peer is a service of the mesh, as it is called. It is safe for concurrent use.
type Peer struct {
	client    *Client
	service   string
	instances atomic.Pointer[[]*instance]
	known     atomic.Bool // the directory has said once where they are
	updating  sync.Mutex
	budget    *budget
	meters    peerMeters
	spans     []trace.SpanStartOption
	names     map[string]string // span names by method, made once
}

func newPeer(c *Client, service string) *Peer {
	p := &Peer{client: c, service: service, budget: newBudget(), meters: c.meters.of(service), names: map[string]string{}}
	p.instances.Store(&[]*instance{})
	for _, m := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		p.names[m] = m + " " + service
	}
	p.spans = []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attribute.String("peer.service", service)),
	}
	return p
}

// Service is the name of the service.
func (p *Peer) Service() string { return p.service }

// Instances lists the addresses that are known now.
func (p *Peer) Instances() []string {
	list := *p.instances.Load()
	out := make([]string, len(list))
	for n, i := range list {
		out[n] = i.address
	}
	return out
}

// Do sends req to an instance and reads the answer into resp, both in place: nothing is copied. Only the path and
// query of req's URI count. It adds Mesh-Timeout and the trace's headers. An answer of any status is no error; every
// failure to get one is a fault of kind Unavailable. The deadline is the context's; fasthttp cannot be interrupted
// sooner. Both bodies are in memory; Stream is for others.
func (p *Peer) Do(ctx context.Context, req *fasthttp.Request, resp *fasthttp.Response, repeat Repeat) error {
	started := p.client.opts.Now()
	ctx, span := p.client.tracer.Start(ctx, p.names[string(req.Header.Method())], p.spans...)
	defer span.End()
	propagation.TraceContext{}.Inject(ctx, carrier{&req.Header})

	outcome, err := p.attempts(ctx, req, resp, repeat, p.client.deadline(ctx, started))
	p.meters.record(ctx, outcome, p.client.opts.Now().Sub(started))
	if err == nil {
		if span.IsRecording() {
			span.SetAttributes(attribute.Int("http.response.status_code", resp.StatusCode()))
		}
		return nil
	}
	span.SetStatus(codes.Error, string(outcome))
	return p.away(outcome, err)
}

// away is the fault of a call that got no answer.
func (p *Peer) away(outcome outcome, err error) error {
	detail := "The " + p.service + " service cannot be reached just now."
	if outcome == timedOut {
		detail = "The " + p.service + " service did not answer in time."
	}
	return fault.Away(err, detail)
}

var (
	errNoInstance = errors.New("no instance to call")
	errNoTime     = errors.New("no time left")
)

// attempts calls once, and again, on another instance if there is one, where that is allowed, useful and within the
// budget.
func (p *Peer) attempts(ctx context.Context, req *fasthttp.Request, resp *fasthttp.Response, repeat Repeat, deadline time.Time) (outcome, error) {
	p.budget.earn()
	req.SetHost(p.service)
	repeatable := repeat.allows(&req.Header)
	var tried *instance
	for attempt := 1; ; attempt++ {
		i, done := p.pick(tried)
		if i == nil {
			return refused, errNoInstance
		}
		err := p.once(i, req, resp, deadline)
		done(err)
		var again bool
		switch {
		case err == nil:
			again = unhandled(resp)
		case notSent(err):
			again = true
		default:
			again = repeatable && !errors.Is(err, fasthttp.ErrTimeout)
		}
		if errors.Is(err, fasthttp.ErrConnectionClosed) {
			i.http.CloseIdleConnections() // the others are as old
		}
		if !again || attempt == maxAttempts || ctx.Err() != nil || !p.budget.spend() {
			return outcomeOf(resp, err), err
		}
		p.meters.repeated(ctx)
		tried = i
	}
}

// maxAttempts is the first call and two more: one that finds the idle connections dead, one that finds the process so.
const maxAttempts = 3

// once calls one instance.
func (p *Peer) once(i *instance, req *fasthttp.Request, resp *fasthttp.Response, deadline time.Time) error {
	left := deadline.Sub(p.client.opts.Now())
	if left < time.Millisecond {
		return errors.Join(errCallersFault, errNoTime)
	}
	var digits [20]byte
	req.Header.SetBytesV(TimeoutHeader, strconv.AppendInt(digits[:0], left.Milliseconds(), 10))
	req.SetTimeout(left)
	i.outstanding.Add(1)
	err := i.http.Do(req, resp)
	i.outstanding.Add(-1)
	return err
}

func unhandled(resp *fasthttp.Response) bool {
	return resp.StatusCode() == fasthttp.StatusServiceUnavailable && len(resp.Header.Peek(UnhandledHeader)) > 0
}

// carrier lets the propagator write into fasthttp's headers.
type carrier struct{ header *fasthttp.RequestHeader }

func (c carrier) Get(key string) string { return string(c.header.Peek(key)) }
func (c carrier) Set(key, value string) { c.header.Set(key, value) }
func (c carrier) Keys() []string        { return nil }
