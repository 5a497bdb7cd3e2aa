package mesh

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Stream is Do for bodies of any length, which are neither read into memory nor sent twice. The target is r's RequestURI,
// or what its URL says where that is empty; who the instance is, is found out here. The answer may come while r's body is
// still being sent, which goes on until the answer's body is closed, as it must be. An error of r's body comes back as it
// is and is held against nobody; every other failure to get an answer is a fault of kind Unavailable.
func (p *Peer) Stream(ctx context.Context, r *http.Request) (*http.Response, error) {
	s := &stream{peer: p, started: p.client.opts.Now()}
	s.ctx, s.span = p.client.tracer.Start(ctx, p.names[r.Method], p.spans...)
	deadline := p.client.deadline(ctx, s.started)
	s.ctx, s.release = context.WithDeadline(s.ctx, deadline)
	s.ctx, s.cancel = context.WithCancelCause(s.ctx)
	resp, outcome, err := s.attempts(s.outbound(r), deadline)
	if err != nil {
		s.end(outcome)
		if own := s.sent.failure(); own != nil {
			return nil, own
		}
		return nil, p.away(outcome, err)
	}
	s.span.SetAttributes(attribute.Int("http.response.status_code", resp.StatusCode))
	resp.Body = &received{ReadCloser: resp.Body, stream: s, outcome: outcome}
	return resp, nil
}

// Pass streams a request to the service as the principal of the context.
func (c *Caller) Pass(ctx context.Context, r *http.Request) (*http.Response, error) {
	p, ok := principal.From(ctx)
	if !ok {
		return nil, fault.New(fault.Unauthenticated, "unauthenticated", "A valid credential is required.")
	}
	r = r.WithContext(ctx)
	r.Header = r.Header.Clone()
	r.Header.Set(principal.AssertionHeader, c.keys.Sign(principal.Encode(p), r.Method, target(r), c.now()))
	return c.peer.Stream(ctx, r)
}

// target is what stands on the request line.
func target(r *http.Request) string {
	if r.RequestURI != "" {
		return r.RequestURI
	}
	return r.URL.RequestURI()
}

// stream is one exchange.
type stream struct {
	peer    *Peer
	ctx     context.Context //nolint:containedctx // it ends with the exchange
	release context.CancelFunc
	cancel  context.CancelCauseFunc
	span    trace.Span
	started time.Time
	sent    *sent // the request's body; nil: none
	at      *instance
	ended   atomic.Bool
}

// outbound is r as it is sent.
func (s *stream) outbound(r *http.Request) *http.Request {
	path, query, asked := strings.Cut(target(r), "?")
	out := r.WithContext(s.ctx)
	out.URL = &url.URL{Scheme: "http", Opaque: path, RawQuery: query, ForceQuery: asked && query == ""}
	out.Host, out.RequestURI = s.peer.service, ""
	if out.Header = r.Header.Clone(); out.Header == nil {
		out.Header = http.Header{}
	}
	if out.Header.Get("User-Agent") == "" {
		out.Header.Set("User-Agent", "") // or net/http would write one
	}
	propagation.TraceContext{}.Inject(s.ctx, propagation.HeaderCarrier(out.Header))
	if r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0 {
		s.sent = &sent{ctx: s.ctx, body: r.Body}
		out.Body = s.sent
	} else {
		out.Body, out.ContentLength = nil, 0
	}
	out.GetBody = nil
	return out
}

// attempts sends once, and again, on another instance if there is one, where nothing of a body has been read and it is
// allowed, useful and within the budget.
func (s *stream) attempts(r *http.Request, deadline time.Time) (*http.Response, outcome, error) {
	p := s.peer
	p.budget.earn()
	var tried *instance
	for attempt := 1; ; attempt++ {
		i, done := p.pick(tried)
		if i == nil {
			return nil, refused, errNoInstance
		}
		resp, err := s.once(i, r, deadline)
		done(err)
		again := !s.sent.begun()
		switch {
		case err == nil:
			again = again && unhandledAnswer(resp)
		case !notSent(err):
			again = again && s.sent == nil && (r.Method == http.MethodGet || r.Method == http.MethodHead) && s.ctx.Err() == nil
		}
		if !again || attempt == maxAttempts || s.ctx.Err() != nil || !p.budget.spend() {
			if err != nil {
				return nil, outcomeOfStream(nil, err), err
			}
			s.at = i
			return resp, outcomeOfStream(resp, nil), nil
		}
		p.meters.repeated(s.ctx)
		if err == nil {
			_ = resp.Body.Close()
			i.outstanding.Add(-1)
		}
		tried = i
	}
}

// once sends to one instance, which counts as busy until the answer's body is closed.
func (s *stream) once(i *instance, r *http.Request, deadline time.Time) (*http.Response, error) {
	left := deadline.Sub(s.peer.client.opts.Now())
	if left < time.Millisecond {
		return nil, errors.Join(errCallersFault, errNoTime)
	}
	r.Header.Set(TimeoutHeader, strconv.FormatInt(left.Milliseconds(), 10))
	at := *r.URL
	at.Host = i.address
	r.URL = &at
	i.outstanding.Add(1)
	resp, err := s.peer.client.streams.RoundTrip(r)
	if err == nil {
		return resp, nil
	}
	i.outstanding.Add(-1)
	if s.sent.failure() != nil || s.sent.open() && s.ctx.Err() != nil {
		return nil, errors.Join(errCallersFault, err) // the time was spent waiting for the caller
	}
	return nil, err
}

func unhandledAnswer(resp *http.Response) bool {
	return resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get(UnhandledHeader) != ""
}

// end tells of the exchange once it is over.
func (s *stream) end(o outcome) {
	if s.ended.Swap(true) {
		return
	}
	if s.at != nil {
		s.at.outstanding.Add(-1)
	}
	s.peer.meters.record(s.ctx, o, s.peer.client.opts.Now().Sub(s.started))
	if o != answered && o != failed {
		s.span.SetStatus(codes.Error, string(o))
	}
	s.span.End()
	s.cancel(nil)
	s.release()
}

// sent is a request's body on its way. What is asked of a nil one is answered as for no body.
type sent struct {
	ctx   context.Context //nolint:containedctx // the exchange's
	body  io.ReadCloser
	read  atomic.Bool
	whole atomic.Bool // and in time
	err   atomic.Pointer[error]
}

func (b *sent) Read(p []byte) (int, error) {
	b.read.Store(true)
	n, err := b.body.Read(p)
	switch {
	case errors.Is(err, io.EOF):
		b.whole.Store(b.ctx.Err() == nil)
	case err != nil:
		b.err.CompareAndSwap(nil, &err)
	}
	return n, err
}

// Close does nothing: whoever made the body closes it, and an attempt that failed must not.
func (b *sent) Close() error { return nil }

func (b *sent) begun() bool { return b != nil && b.read.Load() }
func (b *sent) open() bool  { return b != nil && !b.whole.Load() }

// failure is why the body could not be read.
func (b *sent) failure() error {
	if b == nil {
		return nil
	}
	if err := b.err.Load(); err != nil {
		return *err
	}
	return nil
}

// received is the answer's body. A pause that is too long ends it.
type received struct {
	io.ReadCloser
	stream  *stream
	outcome outcome
	watch   *time.Timer
}

func (b *received) Read(p []byte) (int, error) {
	idle := b.stream.peer.client.opts.Idle
	if b.watch == nil {
		b.watch = time.AfterFunc(idle, func() { b.stream.cancel(os.ErrDeadlineExceeded) })
	} else {
		b.watch.Reset(idle)
	}
	n, err := b.ReadCloser.Read(p)
	b.watch.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		b.outcome = outcomeOfStream(nil, err)
	}
	return n, err
}

func (b *received) Close() error {
	err := b.ReadCloser.Close()
	b.stream.end(b.outcome)
	return err
}
