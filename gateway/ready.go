package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/gateway/door"
	"github.com/patient-mesh/patient-mesh/libs/cache"
	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/libs/web"
)

var errDeaf = errors.New("revocations are not heard of")

// Checks say whether the whole mesh can serve: Redis, the subscription to revocations, and every service's own
// readiness. The first of them, own, are what a gateway that starts has to have had: it serves while a service is away.
// What they find holds for a moment, so that a public path cannot be used to keep the services busy.
func Checks(client redis.UniversalClient, d *door.Door, peers []*mesh.Peer, now func() time.Time) (own, all []web.Check) {
	checks := []web.Check{
		{Name: "redis", Probe: func(ctx context.Context) error { return cache.Ping(ctx, client) }},
		{Name: "revocations", Probe: func(context.Context) error {
			if !d.Subscribed() {
				return errDeaf
			}
			return nil
		}},
	}
	n := len(checks)
	for _, p := range peers {
		checks = append(checks, web.Check{Name: p.Service(), Probe: func(ctx context.Context) error { return ready(ctx, p) }})
	}
	for i := range checks {
		checks[i].Probe = (&remembered{probe: checks[i].Probe, now: now}).do
	}
	return checks[:n], checks
}

func ready(ctx context.Context, p *mesh.Peer) error {
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	req.SetRequestURI("/readyz")
	if err := p.Do(ctx, req, resp, mesh.RepeatSafe); err != nil {
		return err
	}
	if code := resp.StatusCode(); code != fasthttp.StatusOK {
		return fmt.Errorf("%s answers %d", p.Service(), code) //nolint:err113 // only logged
	}
	return nil
}

// memory of a check: how long its finding holds.
const findingHolds = 200 * time.Millisecond

// remembered asks once for all who ask at a time.
type remembered struct {
	probe func(context.Context) error
	now   func() time.Time
	mu    sync.Mutex
	until time.Time
	err   error
}

func (r *remembered) do(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now().Before(r.until) {
		return r.err
	}
	r.err = r.probe(ctx)
	r.until = r.now().Add(findingHolds)
	return r.err
}
