// Command gateway is the mesh's public door.
package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/patient-mesh/patient-mesh/gateway"
	"github.com/patient-mesh/patient-mesh/gateway/route"
	"github.com/patient-mesh/patient-mesh/libs/cache"
	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/program"
	"github.com/patient-mesh/patient-mesh/libs/run"
)

func main() { run.Main(run.Program{Name: "gateway", Serve: serve}) }

func serve(ctx context.Context) error {
	c, err := config.Read[settings]()
	if err != nil {
		return err
	}
	p, err := program.Start(ctx, "gateway", "127.0.0.1:8080", c.Common)
	if err != nil {
		return err
	}
	defer p.Close() //nolint:errcheck // telemetry that cannot be sent any more is no failure of the gateway
	cache.LogTo(p.Logger)
	redis, err := cache.Open(c.RedisURL, cache.Telemetry{})
	if err != nil {
		return err
	}
	defer redis.Close() //nolint:errcheck // nothing is left to lose

	options := p.WebOptions()
	options.Keyring, options.Metrics = nil, nil // callers bring credentials, not assertions; metrics are not for them
	app, revocations, err := gateway.Assemble(options, c.Settings, gateway.Parts{
		Environment: c.Environment, Redis: redis, Peers: p.Peers, Keys: p.Keyring, Logger: p.Logger,
		Table: route.Table(), Now: time.Now,
	})
	if err != nil {
		return err
	}
	return p.Serve(ctx, app, revocations, metrics(c.OpsAddr, p.Telemetry.Metrics))
}

// metrics serves what Prometheus scrapes at an address of its own, away from callers, until ctx ends.
func metrics(addr string, handler http.Handler) func(context.Context) error {
	return func(ctx context.Context) error {
		if addr == "" {
			return nil
		}
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", handler)
		server := &http.Server{Addr: addr, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
		stop := context.AfterFunc(ctx, func() { _ = server.Close() })
		defer stop()
		if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}
}
