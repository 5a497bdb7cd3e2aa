// Package proxy passes requests on to the services, in place: nothing of them is copied. It writes the headers by which
// the mesh trusts what it gets, and takes away those that are of one connection, or of the mesh itself.
package proxy

import (
	"context"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/gateway/route"
	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Proxy sends requests to services. It is safe for concurrent use.
type Proxy struct {
	Peers map[string]*mesh.Peer
	Keys  *principal.Keyring
	Now   func() time.Time
}

// Forward sends req, which asks for target in who's name, and puts the answer into resp. The error is a fault of kind
// Unavailable.
func (p *Proxy) Forward(ctx context.Context, req *fasthttp.Request, resp *fasthttp.Response, r *route.Route, who principal.Encoded, target []byte, client string) error {
	h := &req.Header
	if r.Public { // the service reads its clients' own credentials
		stripRequest(h)
	} else {
		stripRequest(h, fasthttp.HeaderAuthorization, "X-Api-Key", fasthttp.HeaderCookie)
	}
	req.SetRequestURIBytes(target)
	h.Set(principal.AssertionHeader, p.Keys.Sign(who, string(h.Method()), string(target), p.Now()))
	h.Set(fasthttp.HeaderXForwardedFor, client)
	resp.StreamBody = r.Stream
	if err := p.Peers[r.Service].Do(ctx, req, resp, r.Repeat); err != nil {
		resp.Reset()
		return err
	}
	stripResponse(&resp.Header)
	return nil
}
