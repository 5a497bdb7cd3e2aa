// Package program is what the mains have in common: configuration checked, telemetry started, neighbours found, and at
// the end a life from listening to drained. A main adds what is its own: stores, verbs and routes.
package program

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/run"
	"github.com/patient-mesh/patient-mesh/libs/telemetry"
	"github.com/patient-mesh/patient-mesh/libs/web"
)

// Program is a program under way. Close it last.
type Program struct {
	Name      string
	Config    config.Common
	Logger    *slog.Logger
	Telemetry *telemetry.Telemetry
	Keyring   *principal.Keyring
	Peers     *mesh.Client
	consul    *mesh.Consul // nil: a list of peers
	names     *mesh.Names  // nil: Consul
}

// Start makes what every program needs; addr is where it listens when the configuration names no address. It connects
// to nothing that must be there at start.
func Start(ctx context.Context, name, addr string, c config.Common) (*Program, error) {
	if c.ListenAddr == "" {
		c.ListenAddr = addr
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	keyring, err := principal.ParseKeyring(c.MeshKey)
	if err != nil {
		return nil, fmt.Errorf("MESH_KEY: %w", err)
	}
	t, err := telemetry.Start(ctx, name, run.Version, c.Environment, c.LogLevel, os.Stdout)
	if err != nil {
		return nil, err
	}
	p := &Program{Name: name, Config: c, Logger: t.Logger, Telemetry: t, Keyring: keyring}
	directory, err := p.directory()
	if err != nil {
		return nil, err
	}
	if p.Peers, err = mesh.New(directory, mesh.Options{Idle: c.StreamIdle, Zone: c.Zone}); err != nil {
		return nil, fmt.Errorf("peers: %w", err)
	}
	return p, nil
}

func (p *Program) directory() (mesh.Directory, error) {
	if p.Config.ConsulAddr == "" {
		peers, err := mesh.ParsePeers(p.Config.Peers)
		p.names = mesh.NewNames(peers, p.Logger)
		return p.names, err
	}
	var err error
	p.consul, err = mesh.NewConsul(p.Config.ConsulAddr, p.Logger)
	return p.consul, err
}

// WebOptions is what every inner service's app is made with: assertions are required, the metrics are served. It has started
// when all checks held, and it was told once where each of its neighbours is.
func (p *Program) WebOptions(checks ...web.Check) web.Options {
	return web.Options{
		Name: p.Name, Logger: p.Logger, Keyring: p.Keyring, Metrics: p.Telemetry.Metrics,
		Checks: checks, Start: append(slices.Clone(checks), web.Check{Name: "peers", Probe: p.Peers.Known}),
		MaxInFlight: p.Config.MaxInFlight, Idle: p.Config.StreamIdle,
	}
}

// Serve listens and runs the loops until ctx ends, then drains.
func (p *Program) Serve(ctx context.Context, server run.Server, loops ...func(context.Context) error) error {
	life := run.Life{
		Logger: p.Logger, Server: server, Addr: p.Config.ListenAddr, Background: loops,
		ShutdownDelay: p.Config.ShutdownDelay, ShutdownLimit: p.Config.ShutdownLimit,
	}
	if p.consul != nil {
		life.Register = func(context.Context) (func(context.Context) error, error) {
			address := p.Config.AdvertiseAddr
			if address == "" {
				address = p.Config.ListenAddr
			}
			return p.consul.Register(mesh.Registration{
				Service: p.Name, Address: address, Version: run.Version, Zone: p.Config.Zone, Weight: p.Config.Weight,
			})
		}
	}
	return life.Run(ctx)
}

// Close ends what Start began and sends the last of the telemetry.
func (p *Program) Close() error {
	p.Peers.Close()
	if p.consul != nil {
		p.consul.Close()
	}
	if p.names != nil {
		p.names.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := p.Telemetry.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("flush telemetry: %w", err)
	}
	return nil
}
