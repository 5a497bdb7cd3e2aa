// Command smoke stores, reads, finds and deletes a patient through the gateway of a mesh, and ends with 0 when that goes
// well. `helm test` runs it.
//
// Environment: GATEWAY_URL and API_KEY; or, in the place of a key, MESH_KEY, IDENTITY_ADDR and TENANT_ADDR (host:port),
// with which it makes itself an organization and a key that it revokes at the end. Any of them may come as NAME_FILE.
//
// With SOAK_FOR it goes on for so long, with SOAK_WORKERS at a time, and ends with 1 when a single request failed: that is
// what runs while a mesh is rolled.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/tools/mesh/seed"
	"github.com/patient-mesh/patient-mesh/tools/smoke"
)

type settings struct {
	Gateway     string        `env:"GATEWAY_URL,required,notEmpty"`
	Environment string        `env:"ENVIRONMENT" envDefault:"demo"`
	APIKey      string        `env:"API_KEY"`
	MeshKey     string        `env:"MESH_KEY"`
	Identity    string        `env:"IDENTITY_ADDR"`
	Tenant      string        `env:"TENANT_ADDR"`
	Patience    time.Duration `env:"PATIENCE" envDefault:"2m"`
	SoakFor     time.Duration `env:"SOAK_FOR"`
	SoakWorkers int           `env:"SOAK_WORKERS" envDefault:"4"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "smoke:", err)
		os.Exit(1)
	}
}

// visitor is the same at each test of a mesh, so that tests do not pile organizations up.
func visitor() seed.Visitor {
	return seed.Visitor{
		UserID: "01900000-0000-7000-8000-00005740ce01", TenantID: "01900000-0000-7000-8000-00005740ce02",
		Email: "smoke@mesh.invalid", Name: "Smoke Test",
	}
}

func run(ctx context.Context) error {
	s, err := config.Read[settings]()
	if err != nil {
		return err
	}
	check := smoke.Check{
		Gateway: s.Gateway, APIKey: s.APIKey, Client: http.DefaultClient, Patience: s.Patience,
		Say: func(line string) { fmt.Fprintln(os.Stdout, line) },
	}
	if check.APIKey != "" {
		return look(ctx, check, s)
	}
	keys, err := principal.ParseKeyring(s.MeshKey)
	if err != nil {
		return fmt.Errorf("API_KEY is not set, and MESH_KEY: %w", err)
	}
	caller := func(address string) seed.Caller {
		return seed.Caller{Address: address, Environment: s.Environment, Keys: keys, Client: http.DefaultClient, Now: time.Now}
	}
	if err := check.Ready(ctx); err != nil {
		return err
	}
	var id string
	id, check.APIKey, err = seed.Seeder{Identity: caller(s.Identity), Tenant: caller(s.Tenant)}.Visit(ctx, visitor())
	if err != nil {
		return err
	}
	return errors.Join(look(ctx, check, s), check.Revoke(context.WithoutCancel(ctx), id))
}

// look does what was asked for.
func look(ctx context.Context, check smoke.Check, s settings) error {
	if s.SoakFor <= 0 {
		return check.Run(ctx)
	}
	soak, err := check.Soak(ctx, s.SoakWorkers, s.SoakFor)
	if err != nil {
		return err
	}
	check.Say(fmt.Sprintf("%d requests, %d failed, the slowest took %v", soak.Requests, soak.Failed, soak.Slowest.Round(time.Millisecond)))
	if soak.Failed > 0 {
		return fmt.Errorf("the first that failed: %w", soak.First)
	}
	return nil
}
