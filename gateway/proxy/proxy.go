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

// Ask is a request on its way: who asks, from where, by which route.
type Ask struct {
	Route  *route.Route
	Who    principal.Encoded
	Client string // the address
}

// credentials are the headers that carry a caller's own.
var credentials = [...]string{fasthttp.HeaderAuthorization, "X-Api-Key", fasthttp.HeaderCookie} //nolint:gochecknoglobals // a constant

// secret lists the headers that stay here. Where a route is public the service reads its clients' own credentials.
func (a Ask) secret() []string {
	if a.Route.Public {
		return nil
	}
	return credentials[:]
}

// Forward sends req, which asks for target, and puts the answer into resp, both in memory. The error is a fault of kind
// Unavailable.
func (p *Proxy) Forward(ctx context.Context, req *fasthttp.Request, resp *fasthttp.Response, a Ask, target []byte) error {
	h := &req.Header
	web.StripRequest(h, a.secret()...)
	req.SetRequestURIBytes(target)
	h.Set(principal.AssertionHeader, p.Keys.Sign(a.Who, string(h.Method()), string(target), p.Now()))
	h.Set(fasthttp.HeaderXForwardedFor, a.Client)
	if err := p.Peers[a.Route.Service].Do(ctx, req, resp, a.Route.Repeat); err != nil {
		resp.Reset()
		return err
	}
	web.StripResponse(&resp.Header)
	return nil
}

// Stream is Forward for a request whose body, of limit bytes at most, and whose answer are passed on as they come.
func (p *Proxy) Stream(c *fiber.Ctx, a Ask, target string, limit int64) error {
	return web.Relay(c, limit, func(ctx context.Context, r *http.Request) (*http.Response, error) {
		for _, name := range a.secret() {
			r.Header.Del(name)
		}
		r.RequestURI = target
		r.Header.Set(principal.AssertionHeader, p.Keys.Sign(a.Who, r.Method, target, p.Now()))
		r.Header.Set(fasthttp.HeaderXForwardedFor, a.Client)
		return p.Peers[a.Route.Service].Stream(ctx, r)
	})
}
