// Package mesh finds the instances of a service and calls them: it balances over those that live, keeps to the
// caller's deadline, repeats what may be repeated within a budget, and stops calling an instance that fails. It knows
// HTTP and nothing of what is said over it.
package mesh

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// The headers that programs of the mesh say things to each other with. The gateway drops them from callers' requests
// and from its own answers.
const (
	// TimeoutHeader carries the whole milliseconds that are left of the request's budget.
	TimeoutHeader = "Mesh-Timeout"
	// UnhandledHeader marks a 503 that was given before the request was looked at: it draws a line between "try
	// another instance, nothing has happened" and "something has been begun". libs/web sets it when it sheds load.
	UnhandledHeader = "Mesh-Unhandled"
)

// IdempotencyKeyHeader makes a POST repeatable: the service answers a repetition with the first answer.
const IdempotencyKeyHeader = "Idempotency-Key"

// ServerIdleTimeout is how long the servers of the mesh keep an idle connection (libs/web). Clients let go of theirs
// well before, so that a request never meets a connection that is just being closed.
const ServerIdleTimeout = 75 * time.Second

// Options are the bounds of a Client's calls. Every zero value has a default.
type Options struct {
	Timeout         time.Duration // of a call whose context has no deadline; 10 s
	DialTimeout     time.Duration // 1 s
	MaxConns        int           // per instance; 512
	MaxConnWait     time.Duration // for a free connection when all are in use; 1 s
	MaxIdle         time.Duration // of a connection; two thirds of ServerIdleTimeout
	MaxResponseBody int           // bytes of an answer that is no stream; 64 MiB
	Idle            time.Duration // the longest pause of an instance that takes or sends a stream; 30 s
	BreakerOpen     time.Duration // how long a failing instance is left alone; 1 s
	Zone            string        // ours: its instances are called first, see pick; "" where zones do not matter
	TracerProvider  trace.TracerProvider
	MeterProvider   metric.MeterProvider
	Now             func() time.Time
}

func (o Options) withDefaults() Options {
	o.Timeout = positive(o.Timeout, 10*time.Second)
	o.DialTimeout = positive(o.DialTimeout, time.Second)
	o.MaxConns = positive(o.MaxConns, 512)
	o.MaxConnWait = positive(o.MaxConnWait, time.Second)
	o.MaxIdle = positive(o.MaxIdle, ServerIdleTimeout*2/3)
	o.MaxResponseBody = positive(o.MaxResponseBody, 64<<20)
	o.Idle = positive(o.Idle, 30*time.Second)
	o.BreakerOpen = positive(o.BreakerOpen, time.Second)
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func positive[T int | time.Duration](value, otherwise T) T {
	if value > 0 {
		return value
	}
	return otherwise
}

// Client calls the services that a directory lists. It is safe for concurrent use; one is enough for a program.
type Client struct {
	directory Directory
	opts      Options
	streams   *http.Transport
	tracer    trace.Tracer
	meters    *meters

	mu    sync.Mutex
	peers map[string]*Peer
}

// New makes a client. It dials nothing yet.
func New(directory Directory, opts Options) (*Client, error) {
	opts = opts.withDefaults()
	const scope = "github.com/patient-mesh/patient-mesh/libs/mesh"
	c := &Client{directory: directory, opts: opts, streams: newTransport(opts), tracer: opts.TracerProvider.Tracer(scope), peers: map[string]*Peer{}}
	var err error
	if c.meters, err = newMeters(opts.MeterProvider.Meter(scope), c.each); err != nil {
		return nil, fmt.Errorf("mesh metrics: %w", err)
	}
	return c, nil
}

// Peer gives the service by its name, and begins to watch its instances when it is asked for first. The watch ends
// with the directory.
func (c *Client) Peer(service string) *Peer {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.peers[service]; ok {
		return p
	}
	p := newPeer(c, service)
	c.peers[service] = p
	c.directory.Watch(service, p.update)
	return p
}

// Known fails as long as the directory has not said once, of each peer, where its instances are, be it that there are none.
func (c *Client) Known(context.Context) error {
	var unknown []string
	for p := range c.each {
		if !p.known.Load() {
			unknown = append(unknown, p.service)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return fmt.Errorf("%w: %s", errUnknown, strings.Join(unknown, ", "))
	}
	return nil
}

var errUnknown = errors.New("nobody has said where they are")

// Close lets go of all idle connections. Calls under way go on.
func (c *Client) Close() {
	for p := range c.each {
		p.update(nil)
	}
	c.streams.CloseIdleConnections()
}

// each walks over the peers known now.
func (c *Client) each(yield func(*Peer) bool) {
	c.mu.Lock()
	list := make([]*Peer, 0, len(c.peers))
	for _, p := range c.peers {
		list = append(list, p)
	}
	c.mu.Unlock()
	for _, p := range list {
		if !yield(p) {
			return
		}
	}
}

// deadline is when a call must be over: when the context says, else after the default timeout.
func (c *Client) deadline(ctx context.Context, now time.Time) time.Time {
	if deadline, ok := ctx.Deadline(); ok {
		return deadline
	}
	return now.Add(c.opts.Timeout)
}
