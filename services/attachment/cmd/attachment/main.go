// Command attachment keeps the documents of patients.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/program"
	"github.com/patient-mesh/patient-mesh/libs/run"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/attachment"
	"github.com/patient-mesh/patient-mesh/services/attachment/api"
	"github.com/patient-mesh/patient-mesh/services/attachment/blob"
	"github.com/patient-mesh/patient-mesh/services/attachment/rest"
	"github.com/patient-mesh/patient-mesh/services/attachment/store"
)

func main() { run.Main(run.Program{Name: "attachment", Serve: serve, Migrate: migrate}) }

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
	p, err := program.Start(ctx, "attachment", "127.0.0.1:8084", c.Common)
	if err != nil {
		return err
	}
	defer p.Close() //nolint:errcheck // telemetry that cannot be sent any more is no failure of the service
	db, err := pg.Start(ctx, c.Config, store.Migrations(), store.Distribution())
	if err != nil {
		return err
	}
	defer db.Close()

	if c.CollectEvery <= 0 {
		return errors.New("COLLECT_EVERY must be longer than 0s")
	}
	keys, err := blob.ParseKeys(c.ContentKeys)
	if err != nil {
		return err
	}
	blobs, err := blob.Open(ctx, c.BlobURL, keys)
	if err != nil {
		return err
	}
	defer blobs.Close() //nolint:errcheck // what was written is written

	documents := store.New(db, p.Logger)
	trail, err := audit.NewRelay(db, p.Logger, audit.ToTenant(p.Peers.Caller("tenant", p.Keyring, p.Name)), audit.Options{})
	if err != nil {
		return err
	}
	service := &attachment.Service{Store: documents, Now: time.Now, NewID: uuid.NewV7}
	server := &rest.Server{
		Documents: service,
		Contents:  &attachment.Contents{Service: service, Store: documents, Blobs: blobs, Limit: c.ContentLimit},
		Sealer:    p.Keyring,
	}
	app, err := newApp(p.WebOptions(web.Check{Name: "postgres", Probe: db.Ready}, web.Check{Name: "blobs", Probe: blobs.Ready}), server)
	if err != nil {
		return err
	}
	collector := &attachment.Collector{Intents: documents, Blobs: blobs, Log: p.Logger, Every: c.CollectEvery}
	return p.Serve(ctx, app, documents.Sweep, trail.Run, collector.Run)
}

// documentLimit is the longest body of a document: its payload may be 1 MiB before it is escaped.
const documentLimit = 8 << 20

// newApp makes the routes.
func newApp(options web.Options, server *rest.Server) (*web.App, error) {
	options.BodyLimit, options.Stream = documentLimit, true
	app, err := web.New(options)
	if err != nil {
		return nil, err
	}
	api.RegisterHandlersWithOptions(app, api.NewStrictHandler(server, nil),
		api.FiberServerOptions{HandlerMiddlewares: []api.HandlerMiddlewareFunc{web.JSONOnly, patient}})
	server.MountContent(app, func(c *fiber.Ctx) error { return patient(c, (*fiber.Ctx).Next) })
	return app, nil
}
