// Command matching finds patients by their demographics.
package main

import (
	"context"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/program"
	"github.com/patient-mesh/patient-mesh/libs/run"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/matching"
	"github.com/patient-mesh/patient-mesh/services/matching/api"
	"github.com/patient-mesh/patient-mesh/services/matching/index"
	"github.com/patient-mesh/patient-mesh/services/matching/rest"
	"github.com/patient-mesh/patient-mesh/services/matching/store"
)

func main() { run.Main(run.Program{Name: "matching", Serve: serve, Migrate: migrate}) }

func migrate(ctx context.Context) error {
	c, err := config.Read[settings]()
	if err != nil {
		return err
	}
	return c.Migrate(ctx, store.Migrations())
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
	db, err := pg.Start(ctx, c.Config, store.Migrations())
	if err != nil {
		return err
	}
	defer db.Close()

	trail, err := audit.NewRelay(db, p.Logger, audit.ToTenant(p.Peers.Caller("tenant", p.Keyring, p.Name)), audit.Options{})
	if err != nil {
		return err
	}
	meters, err := matching.NewMeters(otel.Meter("mesh/matching"))
	if err != nil {
		return err
	}
	finds := &matching.Service{
		Indexes: away{}, Models: standard{linkage.Default()}, Ledger: store.New(db), Meters: meters, Now: time.Now, NewID: uuid.NewV7,
	}
	app, err := web.New(p.WebOptions(web.Check{Name: "postgres", Probe: db.Ready}))
	if err != nil {
		return err
	}
	api.RegisterHandlersWithOptions(app, api.NewStrictHandler(&rest.Server{Finds: finds, Sealer: p.Keyring}, nil),
		api.FiberServerOptions{HandlerMiddlewares: []api.HandlerMiddlewareFunc{web.JSONOnly}})
	return p.Serve(ctx, app, trail.Run)
}

// away stands where the indexes come.
type away struct{}

func (away) Fresh(context.Context, string) (*index.Index, error) {
	return nil, fault.Away(nil, "There is no index yet.")
}

// standard gives all tenants one model.
type standard struct{ model *linkage.Model }

func (s standard) Active(context.Context, string) (*linkage.Model, error) { return s.model, nil }
