// Command matching finds patients by their demographics. So far it starts, reports how it is, drains and stops.
package main

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/program"
	"github.com/patient-mesh/patient-mesh/libs/run"
	"github.com/patient-mesh/patient-mesh/libs/web"
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
	app, err := web.New(p.WebOptions(web.Check{Name: "postgres", Probe: db.Ready}))
	if err != nil {
		return err
	}
	return p.Serve(ctx, app, trail.Run)
}
