// Command patient serves the patient records.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/program"
	"github.com/patient-mesh/patient-mesh/libs/run"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/api"
	"github.com/patient-mesh/patient-mesh/services/patient/peer"
	"github.com/patient-mesh/patient-mesh/services/patient/rest"
	"github.com/patient-mesh/patient-mesh/services/patient/store"
)

// shortestLease is how long a stored batch and a database that comes back may take without an import being taken for lost.
const shortestLease = time.Second

func main() { run.Main(run.Program{Name: "patient", Serve: serve, Migrate: migrate}) }

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
	if c.ImportLease < shortestLease {
		return fmt.Errorf("IMPORT_LEASE must be %v or longer", shortestLease)
	}
	p, err := program.Start(ctx, "patient", "127.0.0.1:8083", c.Common)
	if err != nil {
		return err
	}
	defer p.Close() //nolint:errcheck // telemetry that cannot be sent any more is no failure of the service
	db, err := pg.Start(ctx, c.Config, store.Migrations(), store.Distribution())
	if err != nil {
		return err
	}
	defer db.Close()

	patients := store.New(db, p.Logger)
	tenant := p.Peers.Caller("tenant", p.Keyring, p.Name)
	trail, err := audit.NewRelay(db, p.Logger, audit.ToTenant(tenant), audit.Options{})
	if err != nil {
		return err
	}
	options := p.WebOptions(web.Check{Name: "postgres", Probe: db.Ready})
	options.Stream = true // documents pass through
	app, err := web.New(options)
	if err != nil {
		return err
	}
	verbs := &patient.Service{Store: patients, Now: time.Now, NewID: uuid.NewV7}
	attachment := p.Peers.Caller("attachment", p.Keyring, p.Name)
	server := &rest.Server{
		Patients:  verbs,
		Addresses: &patient.Addresses{Service: verbs, Store: patients.Addresses(), Name: "address"},
		Contacts:  &patient.Contacts{Service: verbs, Store: patients.Contacts(), Name: "contact"},
		Aliases:   &patient.Aliases{Service: verbs, Store: patients.Aliases(), Name: "alias"},
		Identifiers: &patient.Identifiers{
			Service: verbs, Store: patients.Identifiers(), Name: "identifier", Complete: patient.OwnAuthority(peer.NewTenants(tenant).Name),
		},
		Records: &patient.Records{Service: verbs, Store: patients, Documents: peer.NewDocuments(attachment)},
		Feed:    &patient.Feed{Store: patients},
	}
	mountImport(app, &rest.Imports{Server: server, Logger: p.Logger, Leaving: ctx.Done(), Verbs: &patient.Imports{
		Service: verbs, Store: patients, Identifiers: server.Identifiers, Lease: c.ImportLease,
	}})
	mountDocuments(app, &rest.Documents{Patients: verbs, Attachment: attachment.Pass})
	api.RegisterHandlersWithOptions(app, api.NewStrictHandler(server, nil),
		api.FiberServerOptions{HandlerMiddlewares: []api.HandlerMiddlewareFunc{web.JSONOnly}})
	return p.Serve(ctx, app, patients.RollUp, patients.Sweep, trail.Run)
}
