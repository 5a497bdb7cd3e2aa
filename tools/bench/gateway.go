package bench

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/patient-mesh/patient-mesh/tools/bench/traffic"
	"github.com/patient-mesh/patient-mesh/tools/mesh"
	"github.com/patient-mesh/patient-mesh/tools/mesh/port"
)

const (
	budgetGateway      = 1.0 // of nginx's rate
	gatewayConnections = 32
)

// proxied is a proxy in front of the stand-in.
type proxied struct {
	name    string
	logs    bool // it writes a line a request
	address string
	process *running
}

// duel is the gateway and the nginx that does as much besides proxying as it does.
type duel struct{ ours, theirs *proxied }

// gateway compares the gateway, which checks a session that it remembers and takes from two rate limits, with nginx,
// which checks nothing. The proxy has a core for itself; backend and client share the other.
func (b *Bench) gateway(ctx context.Context) error {
	ports, err := port.Free(5)
	if err != nil {
		return err
	}
	address := func(i int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[i])) }
	backend, err := b.launch("standin", b.pin.command(ctx, otherCore, b.self, "standin", address(0)))
	if err != nil {
		return err
	}
	defer backend.stop()
	if err := backend.listening(ctx, address(0)); err != nil {
		return err
	}
	duels := []duel{
		{
			ours:   &proxied{name: "gateway", logs: true, address: address(1)},
			theirs: &proxied{name: "nginx, access_log on", logs: true, address: address(2)},
		},
		{
			ours:   &proxied{name: "gateway, LOG_LEVEL=warn", address: address(3)},
			theirs: &proxied{name: "nginx, access_log off", address: address(4)},
		},
	}
	for i, d := range duels {
		if d.ours.process, err = b.ownGateway(ctx, fmt.Sprintf("gateway-%d", i), d.ours.address, address(0), d.ours.logs); err != nil {
			return err
		}
		defer d.ours.process.stop()
		if d.theirs.process, err = b.nginx(ctx, fmt.Sprintf("nginx-%d", i), d.theirs.address, address(0), d.theirs.logs); err != nil {
			b.report.note("gateway: without nginx, since " + err.Error() + ".")
			continue
		}
		defer d.theirs.process.stop()
	}
	return b.compareProxies(ctx, duels)
}

// ownGateway starts a gateway of the mesh's, but for the patient service, whose place the stand-in takes.
func (b *Bench) ownGateway(ctx context.Context, name, address, backend string, logs bool) (*running, error) {
	level := "info"
	if !logs {
		level = "warn"
	}
	peers := "patient=" + backend
	for _, service := range mesh.Services() {
		if service != "patient" {
			peers += ";" + service + "=" + b.mesh.Address(service)
		}
	}
	cmd := b.pin.command(ctx, proxyCore, filepath.Join(b.options.BinDir, mesh.Gateway), "serve")
	cmd.Env = append(os.Environ(), "LISTEN_ADDR="+address, "PEERS="+peers, "MESH_KEY="+b.mesh.MeshKey(), "REDIS_URL="+b.mesh.RedisURL(),
		"ENVIRONMENT="+b.mesh.Demo().Environment, "LOG_LEVEL="+level, "PUBLIC_URL=http://"+address)
	for key, value := range Limits() {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	r, err := b.launch(name, cmd)
	if err != nil {
		return nil, err
	}
	if err := r.listening(ctx, address); err != nil {
		r.stop()
		return nil, err
	}
	return r, nil
}

func (b *Bench) compareProxies(ctx context.Context, duels []duel) error {
	var subjects []subject
	for _, d := range duels {
		for _, p := range []*proxied{d.ours, d.theirs} {
			if p.process != nil {
				subjects = append(subjects, b.proxySubject(p))
			}
		}
	}
	found, err := b.interleave(ctx, "gateway", subjects)
	if err != nil {
		return err
	}
	full := table{
		title:  "The gateway in front of a trivial backend against nginx in front of the same",
		header: []string{"Who", "Rate", "CPU a request", "p50", "p99"},
	}
	for _, s := range subjects {
		f := found[s.name]
		full.rows = append(full.rows, []string{s.name, rate(f.Rate), duration(f.CPU), duration(f.P50), duration(f.P99)})
	}
	b.report.table(full)
	for _, d := range duels {
		ours, theirs := found[d.ours.name], found[d.theirs.name]
		if theirs.Rate > 0 && ours.CPU > 0 {
			b.report.atLeast("requests a second, "+d.ours.name+" to "+d.theirs.name, ours.Rate/theirs.Rate, budgetGateway)
			b.report.atLeast("requests per CPU second, "+d.ours.name+" to "+d.theirs.name, float64(theirs.CPU)/float64(ours.CPU), 0)
		}
	}
	return nil
}

// proxySubject asks through a proxy and looks at what that costs the proxy's process.
func (b *Bench) proxySubject(p *proxied) subject {
	plan := traffic.Plan{
		Address: p.address, Connections: gatewayConnections, Method: http.MethodGet, Targets: []string{"/v3/patient/4711"},
		Header: map[string]string{"Authorization": "Bearer " + b.mesh.Demo().Tenants[0].APIKey},
	}
	return b.measured(p.name, planned(plan), otherCore, func(context.Context) (cost, error) {
		used, err := cpuOf(p.process.pid())
		return cost{ours: used}, err
	})
}
