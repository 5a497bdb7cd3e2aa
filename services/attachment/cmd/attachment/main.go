// Command attachment keeps the documents of patients. So far it starts, reports how it is, drains and stops.
package main

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/program"
	"github.com/patient-mesh/patient-mesh/libs/run"
	"github.com/patient-mesh/patient-mesh/libs/web"
)

func main() { run.Main(run.Program{Name: "attachment", Serve: serve}) }

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
	app, err := web.New(p.WebOptions())
	if err != nil {
		return err
	}
	return p.Serve(ctx, app)
}
