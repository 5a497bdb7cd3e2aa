// Package gateway is the mesh's one public door, put together: who asks (door), how often (limit), for what (route), and
// off to the service (proxy). It knows nothing of the business but the table of routes.
package gateway

import (
	"cmp"
	"context"
	"net/netip"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/gateway/door"
	"github.com/patient-mesh/patient-mesh/gateway/limit"
	"github.com/patient-mesh/patient-mesh/gateway/proxy"
	"github.com/patient-mesh/patient-mesh/gateway/route"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web"
)

// The kinds of budget that are kept.
const (
	PerCredential byte = 'c'
	PerAddress    byte = 'a'
)

// Gateway is what a request goes through. Fields are set once, before it serves.
type Gateway struct {
	Routes    *route.Trie
	Door      *door.Door
	Limiter   *limit.Limiter
	Streams   *limit.Share // of requests that are passed on as they come
	Proxy     *proxy.Proxy
	CORS      proxy.CORS
	Trusted   proxy.Trusted
	Anonymous principal.Encoded // who asks where no credential is needed
	// Agreement is set in production: patient data needs the tenant's accepted agreement.
	Agreement bool
	HSTS      string // the Strict-Transport-Security header; empty: none
	Limits    route.Limits
}

// Mount puts the gateway into an app, behind the app's own routes.
func (g *Gateway) Mount(app *web.App) {
	server := app.Server()
	inner := server.Handler
	server.Handler = func(c *fasthttp.RequestCtx) {
		sender := proxy.Sender(c.RemoteAddr())
		proxy.Shield(&c.Request.Header, len(g.Trusted) > 0 && g.Trusted.Contains(sender))
		standardMethod(&c.Request.Header)
		inner(c)
		if g.HSTS != "" {
			c.Response.Header.Set(fasthttp.HeaderStrictTransportSecurity, g.HSTS)
		}
	}
	app.Use(g.serve)
}

// standardMethod turns a method that Fiber does not know, and would answer in plain text, into one that no route has.
func standardMethod(h *fasthttp.RequestHeader) {
	switch string(h.Method()) {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT":
	default:
		h.SetMethod("TRACE")
	}
}

// serve is one request, in the order in which refusals go: framing, 401, 403, 405, 413, 415, and from then on the service.
func (g *Gateway) serve(c *fiber.Ctx) error {
	req, resp := c.Request(), c.Response()
	trace := string(resp.Header.Peek("Trace-Id"))
	origin := g.CORS.Origin(&req.Header)
	if g.CORS.Preflight(origin, req, resp) {
		g.CORS.Allow(origin, &resp.Header)
		return nil
	}
	err := g.pass(c, req, resp)
	resp.Header.Set("Trace-Id", trace)
	resp.Header.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	g.CORS.Allow(origin, &resp.Header)
	return err
}

func (g *Gateway) pass(c *fiber.Ctx, req *fasthttp.Request, resp *fasthttp.Response) error {
	if err := proxy.Framing(&req.Header); err != nil {
		resp.SetConnectionClose()
		return err
	}
	var buffer [256]byte
	path, query := split(req.Header.RequestURI())
	path, err := route.Clean(path, buffer[:0])
	if err != nil {
		return fault.New(fault.Invalid, "malformed_path", "The path is malformed.")
	}
	r, allow := g.Routes.Match(req.Header.Method(), path)
	if r == nil && own(path) { // with its own method it would not have come here
		allow = []string{fiber.MethodGet, fiber.MethodHead}
	}
	if r != nil {
		c.Locals(web.PatternKey, r.Pattern)
	}
	ctx := c.UserContext()
	client := g.Trusted.Client(proxy.Sender(c.Context().RemoteAddr()), &req.Header)
	who, err := g.admit(ctx, req, r, path, client)
	switch {
	case err != nil:
		return err
	case r == nil && len(allow) > 0:
		f := fault.New(fault.MethodNotAllowed, "method_not_allowed", "The resource does not take this method.")
		f.Allow = allow
		return f
	case r == nil:
		return fault.New(fault.NotFound, "not_found", "There is nothing here.")
	}
	if err := proxy.Coded(&req.Header); err != nil {
		resp.SetConnectionClose()
		return err
	}
	ask := proxy.Ask{Route: r, Who: who.Encoded, Client: client.String()}
	if r.Stream {
		err = g.stream(c, ask, who.Principal.TenantID, string(target(path, query)))
	} else {
		err = g.forward(c, ask, target(path, query))
	}
	if err == nil && r.Recheck {
		g.Door.Recheck(ctx, who.Hash)
	}
	if err == nil && len(resp.Header.Peek(fiber.HeaderCacheControl)) == 0 {
		resp.Header.Set(fiber.HeaderCacheControl, "no-store")
	}
	return err
}

// admit finds out who asks, and whether they may, so often. A path that leads nowhere asks for a credential too: nobody
// learns the table by trying.
func (g *Gateway) admit(ctx context.Context, req *fasthttp.Request, r *route.Route, path []byte, client netip.Addr) (door.Session, error) {
	if ok, wait := g.Limiter.Take(ctx, limit.OfAddress(PerAddress, client)); !ok {
		return door.Session{}, tooMany(wait)
	}
	if r == nil && (own(path) || g.Routes.Open(path)) {
		return door.Session{Encoded: g.Anonymous}, nil
	}
	if r != nil && r.Public {
		if len(req.Header.PeekAll(fiber.HeaderAuthorization)) > 1 {
			f := fault.New(fault.Invalid, "two_credentials", "The request carries more than one credential.")
			f.Extra = map[string]any{"error": "invalid_request"} // as OAuth clients look for it (RFC 6749 §5.2)
			return door.Session{}, f
		}
		return door.Session{Encoded: g.Anonymous}, nil
	}
	token, err := door.Token(&req.Header, len(path) > 4 && string(path[:4]) == "/v3/")
	if err != nil {
		return door.Session{}, err
	}
	s, err := g.Door.Check(ctx, token)
	if err != nil {
		return door.Session{}, err
	}
	if ok, wait := g.Limiter.Take(ctx, limit.Key{Kind: PerCredential, ID: s.Budget}); !ok {
		return door.Session{}, tooMany(wait)
	}
	if r == nil {
		return *s, nil
	}
	if err := s.Principal.May(r.Need); err != nil {
		return door.Session{}, err
	}
	if g.Agreement && r.Patient && !s.Principal.AgreementAccepted {
		return door.Session{}, fault.New(fault.Denied, "agreement_required", "An owner of the organization has to accept the agreement first.")
	}
	return *s, nil
}

// own reports the paths that the gateway answers itself, which need no credential.
func own(path []byte) bool {
	switch string(path) {
	case "/livez", "/readyz", "/startedz", "/openapi.json", "/docs", "/docs/", resourceMetadataPath:
		return true
	}
	return false
}

func tooMany(wait time.Duration) error {
	f := fault.New(fault.RateLimited, "rate_limited", "Too many requests; try again later.")
	f.RetryAfter = wait
	return f
}

// forward passes a request on with its body in memory, so that it can be sent twice.
func (g *Gateway) forward(c *fiber.Ctx, ask proxy.Ask, target []byte) error {
	ctx, req := c.UserContext(), c.Request()
	body, err := web.ReadBody(c, ask.Route.Limit(g.Limits))
	if err != nil {
		return err
	}
	defer web.Forget(c, body)
	if ask.Route.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, ask.Route.Timeout)
		defer cancel()
	}
	return g.Proxy.Forward(ctx, req, c.Response(), ask, target)
}

// stream passes a request on as it comes. Its place is given back with its last byte, when its context ends.
func (g *Gateway) stream(c *fiber.Ctx, ask proxy.Ask, tenant, target string) error {
	leave := g.Streams.Take(tenant)
	if leave == nil {
		return tooMany(time.Second)
	}
	web.Budget(c, cmp.Or(ask.Route.Timeout, web.MaxTimeout))
	context.AfterFunc(c.UserContext(), leave)
	return g.Proxy.Stream(c, ask, target, ask.Route.Limit(g.Limits))
}

// split parts a request line's target into path and query, in origin form or absolute form (RFC 9112 §3.2).
func split(target []byte) (path, query []byte) {
	if len(target) > 0 && target[0] != '/' && target[0] != '*' {
		for i := range target {
			if i+2 < len(target) && target[i] == ':' && target[i+1] == '/' && target[i+2] == '/' {
				rest := target[i+3:]
				n := 0
				for n < len(rest) && rest[n] != '/' && rest[n] != '?' {
					n++
				}
				target = rest[n:]
				break
			}
		}
		if len(target) == 0 || target[0] == '?' {
			target = append([]byte{'/'}, target...)
		}
	}
	for i, b := range target {
		if b == '?' {
			return target[:i], target[i+1:]
		}
	}
	return target, nil
}

// target is the request line's target as it goes inward, and as it is signed.
func target(path, query []byte) []byte {
	out := make([]byte, 0, len(path)+1+len(query))
	out = append(out, path...)
	if len(query) > 0 {
		out = append(append(out, '?'), query...)
	}
	return out
}
