// Package proxy passes requests on to the services: in place, with nothing of them copied, or as streams. It writes the headers by which
// the mesh trusts what it gets, and takes away those that are of one connection, or of the mesh itself.
package proxy

import (
	"context"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/gateway/route"
	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web"
)

// Proxy sends requests to services. It is safe for concurrent use.
type Proxy struct {
	Peers map[string]*mesh.Peer
	Keys  *principal.Keyring
	Now   func() time.Time
}

// Ask is a request on its way: who asks for what, from where.
type Ask struct {
	Route  *route.Route
	Who    principal.Encoded
	Target []byte // path and query
	Client string // the address
}

// own are the headers that carry a caller's credential. Where the route is public the service reads its clients' own.
func (a Ask) own() []string {
	if a.Route.Public {
		return nil
	}
	return []string{fasthttp.HeaderAuthorization, "X-Api-Key", fasthttp.HeaderCookie}
}

// Forward sends req and puts the answer into resp, both in memory. The error is a fault of kind Unavailable.
func (p *Proxy) Forward(ctx context.Context, req *fasthttp.Request, resp *fasthttp.Response, a Ask) error {
	h := &req.Header
	web.StripRequest(h, a.own()...)
	req.SetRequestURIBytes(a.Target)
	h.Set(principal.AssertionHeader, p.Keys.Sign(a.Who, string(h.Method()), string(a.Target), p.Now()))
	h.Set(fasthttp.HeaderXForwardedFor, a.Client)
	if err := p.Peers[a.Route.Service].Do(ctx, req, resp, a.Route.Repeat); err != nil {
		resp.Reset()
		return err
	}
	web.StripResponse(&resp.Header)
	return nil
}

// Stream is Forward for a request whose body, of limit bytes at most, and whose answer are passed on as they come.
func (p *Proxy) Stream(c *fiber.Ctx, a Ask, limit int64) error {
	return web.Relay(c, limit, func(ctx context.Context, r *http.Request) (*http.Response, error) {
		for _, name := range a.own() {
			r.Header.Del(name)
		}
		r.RequestURI = string(a.Target)
		r.Header.Set(principal.AssertionHeader, p.Keys.Sign(a.Who, r.Method, r.RequestURI, p.Now()))
		r.Header.Set(fasthttp.HeaderXForwardedFor, a.Client)
		return p.Peers[a.Route.Service].Stream(ctx, r)
	})
}
