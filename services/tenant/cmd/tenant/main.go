// Command tenant serves organizations, memberships and roles.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/cache"
	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/outbox"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/program"
	"github.com/patient-mesh/patient-mesh/libs/run"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/tenant"
	"github.com/patient-mesh/patient-mesh/services/tenant/api"
	"github.com/patient-mesh/patient-mesh/services/tenant/rest"
	"github.com/patient-mesh/patient-mesh/services/tenant/store"
)

func main() { run.Main(run.Program{Name: "tenant", Serve: serve, Migrate: migrate}) }

func migrate(ctx context.Context) error {
	c, err := config.Read[settings]()
	if err != nil {
		return err
	}
	return c.Migrate(ctx, store.Migrations(), store.Distribution())
}

func serve(ctx context.Context) error {
	c, err := config.Read[settings]()
	if err != nil {
		return err
	}
	p, err := program.Start(ctx, "tenant", "127.0.0.1:8082", c.Common)
	if err != nil {
		return err
	}
	defer p.Close() //nolint:errcheck // telemetry that cannot be sent any more is no failure of the service
	db, err := pg.Start(ctx, c.Config, store.Migrations(), store.Distribution())
	if err != nil {
		return err
	}
	defer db.Close()
	cache.LogTo(p.Logger)
	redis, err := cache.Open(c.RedisURL, cache.Telemetry{})
	if err != nil {
		return fmt.Errorf("REDIS_URL: %w", err)
	}
	defer redis.Close() //nolint:errcheck // nothing is left to lose

	relay, err := outbox.NewRelay(db, p.Logger, outbox.Options{
		Handlers: map[string]outbox.Handler{session.Effect: session.Handler(redis)},
		Lease:    session.EffectLease, LongestPause: session.EffectPause,
	})
	if err != nil {
		return err
	}
	kept := &store.Store{DB: db, Log: p.Logger}
	trail, err := audit.NewRelay(db, p.Logger, audit.To(kept.Append), audit.Options{})
	if err != nil {
		return err
	}
	service := &tenant.Service{
		Store: kept, Environment: c.Environment, Now: time.Now, NewID: uuid.NewV7, Nudge: relay.Nudge,
	}
	app, err := web.New(p.WebOptions(web.Check{Name: "postgres", Probe: db.Ready}))
	if err != nil {
		return err
	}
	api.RegisterHandlersWithOptions(app, api.NewStrictHandler(&rest.Server{Tenants: service, Audit: &tenant.Trail{Store: kept}}, nil),
		api.FiberServerOptions{HandlerMiddlewares: []api.HandlerMiddlewareFunc{web.JSONOnly}})
	return p.Serve(ctx, app, relay.Run, trail.Run, kept.Sweep)
}
