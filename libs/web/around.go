package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// PatternKey is the local under which a handler that routes by itself leaves the pattern it found.
const PatternKey = "mesh.pattern"

// meters are what a program counts of its requests: rate, errors and duration by route pattern (RED).
type meters struct {
	duration metric.Float64Histogram
	known    sync.Map // series to metric.MeasurementOption: to make one costs as much as to count
}

// series is what requests are counted apart by. Methods, patterns and statuses are few.
type series struct {
	method, pattern string
	code            int
}

func (m *meters) of(s series) metric.MeasurementOption {
	if option, ok := m.known.Load(s); ok {
		return option.(metric.MeasurementOption) //nolint:forcetypeassert // nothing else is stored
	}
	s.method, s.pattern = strings.Clone(s.method), strings.Clone(s.pattern)
	option := metric.WithAttributeSet(attribute.NewSet(
		attribute.String("http.request.method", s.method), attribute.String("http.route", s.pattern),
		attribute.Int("http.response.status_code", s.code)))
	m.known.Store(s, option)
	return option
}

func newMeters(m metric.Meter) (*meters, error) {
	duration, err := m.Float64Histogram("http.server.request.duration", metric.WithUnit("s"),
		metric.WithDescription("How long requests took, by method, route pattern and status."),
		metric.WithExplicitBucketBoundaries(.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10))
	return &meters{duration: duration}, err
}

// saturation tells how many requests are under way, of how many that may be.
func (a *App) saturation(m metric.Meter) error {
	active, err1 := m.Int64ObservableGauge("http.server.active_requests", metric.WithDescription("Requests under way."))
	limit, err2 := m.Int64ObservableGauge("http.server.active_requests.limit", metric.WithDescription("Requests that may be under way; what comes beyond it is told to come again."))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	_, err := m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(active, a.inFlight.Load())
		o.ObserveInt64(limit, a.options.MaxInFlight)
		return nil
	}, active, limit)
	return err
}

// around is what happens round every handler: bound, trace, deadline, principal, error, count and log line.
func (a *App) around(c *fiber.Ctx) error {
	start := a.options.Now()
	ctx := otel.GetTextMapPropagator().Extract(context.Background(), carrier{&c.Request().Header})
	ctx, span := otel.Tracer("mesh/web").Start(ctx, c.Method(), trace.WithSpanKind(trace.SpanKindServer))
	ctx, cancel := context.WithTimeout(ctx, budget(c.Get(TimeoutHeader)))
	traceID := span.SpanContext().TraceID().String()

	h := &c.Response().Header
	h.Set("Trace-Id", traceID)
	h.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	counted, err := a.handle(c, ctx)
	if err != nil {
		err = FromFiber(err)
		f := fault.Of(err)
		if f.Kind == fault.MethodNotAllowed && len(f.Allow) == 0 {
			f.Allow = strings.Split(string(h.Peek(fiber.HeaderAllow)), ", ")
		}
		WriteProblem(c.Response(), f, traceID)
		a.pointToMetadata(h)
	}
	if a.draining.Load() {
		c.Response().SetConnectionClose()
	}
	e := exchange{ctx: ctx, cancel: cancel, span: span, start: start, counted: counted, err: err}
	e.series = series{knownMethod(c.Method()), pattern(c, err), c.Response().StatusCode()}
	e.again, _ = c.Locals(budgetKey).(context.CancelFunc)
	if out, ok := c.Response().BodyStream().(*outgoing); ok {
		a.endLater(e, out)
	} else {
		a.end(&e)
	}
	return nil
}

// exchange is a request and its answer, up to the answer's last byte.
type exchange struct {
	series
	ctx     context.Context //nolint:containedctx // it ends with the exchange
	cancel  context.CancelFunc
	again   context.CancelFunc // of the budget that was given later
	span    trace.Span
	start   time.Time
	counted bool // among those in flight
	err     error
	cut     error // why the answer's body broke off
}

// endLater ends the exchange when the body has been sent. What is kept until then must not be the request's own memory.
func (a *App) endLater(e exchange, out *outgoing) {
	e.pattern = strings.Clone(e.pattern)
	out.after = func(failure error) {
		e.cut = failure
		a.end(&e)
	}
}

func (a *App) end(e *exchange) {
	a.account(e)
	e.span.End()
	if e.counted {
		a.inFlight.Add(-1)
	}
	e.cancel()
	if e.again != nil {
		e.again()
	}
}

// pointToMetadata completes a challenge.
func (a *App) pointToMetadata(h *fasthttp.ResponseHeader) {
	challenge := string(h.Peek(fiber.HeaderWWWAuthenticate))
	if challenge == "" || a.options.ResourceMetadata == "" {
		return
	}
	separator := ", "
	if !strings.Contains(challenge, "=") {
		separator = " "
	}
	h.Set(fiber.HeaderWWWAuthenticate, challenge+separator+`resource_metadata="`+a.options.ResourceMetadata+`"`)
}

// handle runs the handlers, unless there are too many at it already or the assertion does not hold.
func (a *App) handle(c *fiber.Ctx, ctx context.Context) (counted bool, err error) { //nolint:revive // Fiber's context comes first here
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %T at %s", p, debug.Stack()) // the value may hold anything, so its type must do
		}
	}()
	if path := c.Path(); path == "/livez" || path == "/readyz" || path == "/metrics" {
		c.SetUserContext(ctx)
		return false, c.Next()
	}
	counted = true
	if a.inFlight.Add(1) > a.options.MaxInFlight {
		c.Set(UnhandledHeader, "1")
		return counted, fault.New(fault.Unavailable, "overloaded", "Too many requests are under way; try again shortly.")
	}
	if a.options.Keyring != nil && (a.options.Public == nil || !a.options.Public(c.Path())) {
		p, err := a.options.Keyring.Verify(c.Get(principal.AssertionHeader), c.Method(), c.OriginalURL(), a.options.Now())
		if err != nil {
			return counted, fault.New(fault.Unauthenticated, "unauthenticated", "A valid credential is required.")
		}
		ctx = principal.With(ctx, p)
	}
	c.SetUserContext(ctx)
	return counted, c.Next()
}

// pattern is the route that a request took.
func pattern(c *fiber.Ctx, err error) string {
	pattern, _ := c.Locals(PatternKey).(string)
	if pattern == "" {
		if pattern = c.Route().Path; pattern == "/" || err != nil && fault.Is(err, fault.MethodNotAllowed) {
			pattern = "unmatched" // the pattern of this middleware itself
		}
	}
	return pattern
}

// account tells of an exchange: span, metrics, and a log line at the door or where something broke.
func (a *App) account(e *exchange) {
	took := a.options.Now().Sub(e.start)
	a.meters.duration.Record(e.ctx, took.Seconds(), a.meters.of(e.series))
	if e.span.IsRecording() {
		e.span.SetName(e.method + " " + e.pattern)
		e.span.SetAttributes(attribute.String("http.request.method", e.method), attribute.String("http.route", e.pattern),
			attribute.Int("http.response.status_code", e.code))
		if e.code >= fiber.StatusInternalServerError {
			e.span.SetStatus(codes.Error, fault.Of(e.err).Code)
		} else if e.cut != nil {
			e.span.SetStatus(codes.Error, "broken_off")
		}
	}
	log := a.options.Logger
	switch {
	case e.cut != nil:
		log.WarnContext(e.ctx, "answer broke off", "method", e.method, "route", e.pattern, "error", e.cut.Error())
	case e.err != nil && fault.Of(e.err).Kind == fault.Internal:
		log.ErrorContext(e.ctx, "request failed", "method", e.method, "route", e.pattern, "error", e.err.Error())
	case e.err != nil && fault.Is(e.err, fault.Unavailable) && e.pattern != "/readyz":
		log.WarnContext(e.ctx, "request unavailable", "method", e.method, "route", e.pattern, "error", e.err.Error())
	}
	if a.options.AccessLog {
		log.LogAttrs(e.ctx, slog.LevelInfo, "request", slog.String("method", e.method), slog.String("route", e.pattern),
			slog.Int("status", e.code), slog.Duration("duration", took))
	}
}

// knownMethod keeps what a caller made up out of labels.
func knownMethod(method string) string {
	switch method {
	case fiber.MethodGet, fiber.MethodHead, fiber.MethodPost, fiber.MethodPut, fiber.MethodPatch, fiber.MethodDelete, fiber.MethodOptions:
		return method
	}
	return "OTHER"
}

func budget(header string) time.Duration {
	ms, err := strconv.ParseInt(header, 10, 64)
	if err != nil || ms <= 0 {
		return DefaultTimeout
	}
	return min(time.Duration(ms)*time.Millisecond, MaxTimeout)
}

// carrier lets the propagator read a request's headers.
type carrier struct{ header *fasthttp.RequestHeader }

func (c carrier) Get(key string) string { return string(c.header.Peek(key)) }
func (c carrier) Set(key, value string) { c.header.Set(key, value) }
func (c carrier) Keys() []string        { return nil }
