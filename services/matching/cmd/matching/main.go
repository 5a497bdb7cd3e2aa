// Command matching finds patients by their demographics.
package main

import (
	"context"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/program"
	"github.com/patient-mesh/patient-mesh/libs/run"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/matching"
	"github.com/patient-mesh/patient-mesh/services/matching/api"
	"github.com/patient-mesh/patient-mesh/services/matching/index"
	"github.com/patient-mesh/patient-mesh/services/matching/peer"
	"github.com/patient-mesh/patient-mesh/services/matching/replica"
	"github.com/patient-mesh/patient-mesh/services/matching/rest"
	"github.com/patient-mesh/patient-mesh/services/matching/store"
)

// scansAtOnce is how many exact finds may go through many people at a time, one of each tenant.
const scansAtOnce = 2

func main() { run.Main(run.Program{Name: "matching", Serve: serve, Migrate: migrate}) }

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
	p, err := program.Start(ctx, "matching", "127.0.0.1:8085", c.Common)
	if err != nil {
		return err
	}
	defer p.Close() //nolint:errcheck // telemetry that cannot be sent any more is no failure of the service
	db, err := pg.Start(ctx, c.Config, store.Migrations(), store.Distribution())
	if err != nil {
		return err
	}
	defer db.Close()

	kept := store.New(db)
	parts := index.Options{Parser: linkage.NewParser(), Scans: make(chan struct{}, scansAtOnce)}
	indexes, err := replica.New(peer.NewPeople(p.Peers.Caller("patient", p.Keyring, p.Name)), kept,
		func() *index.Index { return index.New(parts) }, p.Logger,
		replica.Options{Memory: c.indexMemory(), Loads: c.IndexLoads, WarmUp: c.WarmUp})
	if err != nil {
		return err
	}
	trail, err := audit.NewRelay(db, p.Logger, audit.ToTenant(p.Peers.Caller("tenant", p.Keyring, p.Name)), audit.Options{})
	if err != nil {
		return err
	}
	meters, err := matching.NewMeters(otel.Meter("mesh/matching"))
	if err != nil {
		return err
	}
	versions := &matching.Versions{Store: kept, Default: linkage.Default(), Now: time.Now, NewID: uuid.NewV7, Log: p.Logger}
	finds := &matching.Service{
		Indexes: indexes, Models: versions, Ledger: kept, Meters: meters, Now: time.Now, NewID: uuid.NewV7,
	}
	app, err := web.New(p.WebOptions(web.Check{Name: "postgres", Probe: db.Ready}, web.Check{Name: "index", Probe: indexes.Ready}))
	if err != nil {
		return err
	}
	api.RegisterHandlersWithOptions(app, api.NewStrictHandler(&rest.Server{Finds: finds, Versions: versions, Sealer: p.Keyring}, nil),
		api.FiberServerOptions{HandlerMiddlewares: []api.HandlerMiddlewareFunc{web.JSONOnly}})
	sweep := func(ctx context.Context) error { return kept.SweepKeys(ctx, p.Logger) }
	return p.Serve(ctx, app, trail.Run, indexes.Run, versions.Run, sweep)
}
