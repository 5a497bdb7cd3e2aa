// Command attachment keeps the documents of patients.
package main

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/program"
	"github.com/patient-mesh/patient-mesh/libs/run"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/attachment"
	"github.com/patient-mesh/patient-mesh/services/attachment/api"
	"github.com/patient-mesh/patient-mesh/services/attachment/rest"
	"github.com/patient-mesh/patient-mesh/services/attachment/store"
)

func main() { run.Main(run.Program{Name: "attachment", Serve: serve, Migrate: migrate}) }

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
	p, err := program.Start(ctx, "attachment", "127.0.0.1:8084", c.Common)
	if err != nil {
		return err
	}
	defer p.Close() //nolint:errcheck // telemetry that cannot be sent any more is no failure of the service
	db, err := pg.Start(ctx, c.Config, store.Migrations())
	if err != nil {
		return err
	}
	defer db.Close()

	documents := store.New(db, p.Logger)
	trail, err := audit.NewRelay(db, p.Logger, audit.ToTenant(p.Peers.Caller("tenant", p.Keyring, p.Name)), audit.Options{})
	if err != nil {
		return err
	}
	server := &rest.Server{Documents: &attachment.Service{Store: documents, Now: time.Now, NewID: uuid.NewV7}}
	app, err := newApp(p.WebOptions(web.Check{Name: "postgres", Probe: db.Ready}), server)
	if err != nil {
		return err
	}
	return p.Serve(ctx, app, documents.Sweep, trail.Run)
}

// documentLimit is the longest body of a document: its payload may be 1 MiB before it is escaped.
const documentLimit = 8 << 20

// newApp makes the routes.
func newApp(options web.Options, server *rest.Server) (*web.App, error) {
	options.BodyLimit = documentLimit
	app, err := web.New(options)
	if err != nil {
		return nil, err
	}
	api.RegisterHandlersWithOptions(app, api.NewStrictHandler(server, nil),
		api.FiberServerOptions{HandlerMiddlewares: []api.HandlerMiddlewareFunc{web.JSONOnly, patient}})
	return app, nil
}
