// Package web is the Fiber app that every program starts from: deadlines, assertions, traces, metrics, bounds and the
// problem document of every error. It is the only room that knows both Fiber and fault, and it knows no route.
package web

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"
	"go.opentelemetry.io/otel"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
)

// Limits of every program.
const (
	DefaultBodyLimit   = 1 << 20
	DefaultMaxInFlight = 1024
	readTimeout        = 30 * time.Second
	writeTimeout       = 60 * time.Second
	idleTimeout        = 75 * time.Second // clients inside the mesh close idle connections sooner, so that none is cut
	headerLimit        = 16 << 10
	// DefaultIdle is the longest pause of a client that sends or takes a stream.
	DefaultIdle = 30 * time.Second
)

// TimeoutHeader tells the next hop how many milliseconds are left for a request.
const TimeoutHeader = "Mesh-Timeout"

// UnhandledHeader marks a 503 that was given before the request was looked at, so that the caller may try another
// instance whatever the method.
const UnhandledHeader = "Mesh-Unhandled"

// DefaultTimeout is the budget of a request that came without one; MaxTimeout the longest that one may bring.
const (
	DefaultTimeout = 10 * time.Second
	MaxTimeout     = 15 * time.Minute
)

// Options say what an app is for. Name and Logger are required.
type Options struct {
	Name    string
	Logger  *slog.Logger
	Keyring *principal.Keyring // nil: requests come without assertions, as they do at the gateway
	// Public reports the paths that need no assertion, since their handlers authenticate callers themselves.
	Public    func(path string) bool
	Checks    []Check      // what /readyz asks for
	Start     []Check      // what /startedz asks for until all of it held once
	Metrics   http.Handler // nil: not served here
	BodyLimit int          // bytes; DefaultBodyLimit when zero
	// Stream hands bodies to handlers as they arrive. Fiber's own limit is off then: Incoming, Relay and ReadBody count.
	Stream      bool
	Idle        time.Duration // the longest pause of a client that sends or takes a stream; DefaultIdle when zero
	MaxInFlight int64         // requests at a time; beyond it the answer is 503
	AccessLog   bool          // one line a request: at the door of the mesh, nowhere else
	// ResourceMetadata is where callers without a credential learn how to get one (RFC 9728 §5.1); "" says nothing of it.
	ResourceMetadata string
	Now              func() time.Time
}

// App is a Fiber app with the mesh's manners. It is a run.Server.
type App struct {
	*fiber.App
	options  Options
	draining atomic.Bool
	started  atomic.Bool
	inFlight atomic.Int64
	meters   *meters
}

// New makes an app. Routes are added to it like to any Fiber app.
func New(o Options) (*App, error) {
	if o.BodyLimit == 0 {
		o.BodyLimit = DefaultBodyLimit
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = DefaultMaxInFlight
	}
	if o.Idle == 0 {
		o.Idle = DefaultIdle
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	a := &App{options: o}
	var err error
	if a.meters, err = newMeters(otel.Meter("mesh/web")); err != nil {
		return nil, fmt.Errorf("meters: %w", err)
	}
	if err = a.saturation(otel.Meter("mesh/web")); err != nil {
		return nil, fmt.Errorf("meters: %w", err)
	}
	a.App = fiber.New(fiber.Config{
		AppName:               o.Name,
		Immutable:             true, // strings of a request are read after their buffer is used again
		BodyLimit:             o.BodyLimit,
		StreamRequestBody:     o.Stream,
		ReadTimeout:           readTimeout,
		WriteTimeout:          writeTimeout,
		IdleTimeout:           idleTimeout,
		ReadBufferSize:        headerLimit,
		DisableStartupMessage: true,
		UnescapePath:          false,
		CaseSensitive:         true,
		StrictRouting:         true,
		JSONDecoder:           decode,
		JSONEncoder:           encode,
		ErrorHandler:          a.refuse,
	})
	a.Server().DisablePreParseMultipartForm = true // forms of any size would go to disk before anybody asked who sends them
	a.Server().ErrorHandler = asked(a.Server().ErrorHandler)
	if o.Stream {
		a.Server().MaxRequestBodySize = 1 // of a body fasthttp reads so much, and at most 8 KiB, before it calls a handler
		inner := a.Server().Handler
		a.Server().Handler = func(c *fasthttp.RequestCtx) {
			inner(c)
			settle(c)
		}
	}
	a.Get("/startedz", a.startedz)
	a.Use(a.around)
	a.Get("/livez", func(c *fiber.Ctx) error { return c.JSON(fiber.Map{"status": "alive"}) })
	a.Get("/readyz", a.readyz)
	if o.Metrics != nil {
		metrics := fasthttpadaptor.NewFastHTTPHandler(o.Metrics)
		a.Get("/metrics", func(c *fiber.Ctx) error { metrics(c.Context()); return nil })
	}
	return a, nil
}

// decode reads request bodies. Objects keep their faults to themselves until they are asked for.
func decode(data []byte, into any) error {
	if o, ok := into.(*body.Object); ok {
		o.Read(data)
		return nil
	}
	return json.Unmarshal(data, into)
}

// encode writes answers. What is JSON already is not looked at: encoding/json would set its spaces and escapes anew.
func encode(v any) ([]byte, error) {
	if raw, ok := v.(*body.Raw); ok {
		return *raw, nil
	}
	return json.Marshal(v)
}

// refuse answers what never reached a handler: requests that fasthttp could not read.
func (a *App) refuse(c *fiber.Ctx, err error) error {
	c.Response().Header.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Response().SetConnectionClose()
	_, span := otel.Tracer("mesh/web").Start(context.Background(), "unreadable")
	defer span.End()
	traceID := span.SpanContext().TraceID().String()
	c.Set("Trace-Id", traceID)
	WriteProblem(c.Response(), FromFiber(err), traceID)
	return nil
}

// JSONOnly refuses a body that is not JSON. It goes before the generated handlers, which would call it malformed; a body
// that is not there it passes on as an empty one. In an app that streams it reads the body into memory, up to the app's limit.
func JSONOnly(c *fiber.Ctx, next fiber.Handler) error {
	h := &c.Request().Header
	// -1 is a chunked body; -2, which fasthttp gives a request that states no length, is none.
	if length := h.ContentLength(); length == 0 || length == -2 {
		h.SetContentType(fiber.MIMEApplicationJSON)
	} else if !isJSON(string(h.ContentType()), c.Method()) {
		return fault.New(fault.UnsupportedMedia, "unsupported_media_type", "The body must be application/json.")
	}
	buffer, err := ReadBody(c, int64(c.App().Config().BodyLimit))
	if err != nil {
		return err
	}
	defer Forget(c, buffer)
	return next(c)
}

// isJSON takes application/json in UTF-8, and for a PATCH the name of the same thing in RFC 7396. Other +json types
// mean something else by their members.
func isJSON(contentType, method string) bool {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil || params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8") {
		return false
	}
	return media == fiber.MIMEApplicationJSON || method == fiber.MethodPatch && media == "application/merge-patch+json"
}
