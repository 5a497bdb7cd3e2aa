// Package bench measures the mesh beside what it is measured against: PostgreSQL's own pgbench for what is stored, nginx
// for what passes through. Both sides run on the same machine in the same minutes, and take turns. It judges nothing but
// its budgets, and no test depends on its figures.
package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/tools/bench/traffic"
	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// Options say what to measure. The zero value of each member is a sensible choice.
type Options struct {
	BinDir   string        // where the six programs are; default beside this program
	Dir      string        // state folder of the mesh that is measured; default a new one that is removed afterwards
	Only     []string      // parts; default all
	Rounds   int           // 3
	Duration time.Duration // of one subject in one round; 4 s
	Patients int           // in the long list; 1,000,000
	People   int           // among whom is found; 1,000,000
	Say      func(line string)
}

// Bench is one run.
type Bench struct {
	options Options
	mesh    *mesh.Mesh
	scratch string // folder
	self    string // this program, which also plays the client and the backend
	report  *report
	pin     pinning
}

// part is a measurement that can be chosen by name.
type part struct {
	name string
	run  func(b *Bench, ctx context.Context) error
}

func parts() []part {
	return []part{
		{"gateway", (*Bench).gateway},
		{"create", (*Bench).create},
		{"read", (*Bench).read},
		{"echo", (*Bench).echo},
		{"content", (*Bench).content},
		{"import", (*Bench).imports},
		{"audit", (*Bench).audit},
		{"token", (*Bench).token},
		{"sign-in", (*Bench).signIn},
		{"list", (*Bench).list},
		{"find", (*Bench).find},
		{"start", (*Bench).start},
	}
}

// Parts are the names that Only takes.
func Parts() []string {
	var names []string
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return names
}

func (o Options) withDefaults() (Options, error) {
	if len(o.Only) == 0 {
		o.Only = Parts()
	}
	for _, name := range o.Only {
		if !slices.Contains(Parts(), name) {
			return o, fmt.Errorf("there is no part %q; the parts are %s", name, strings.Join(Parts(), ", "))
		}
	}
	if o.Rounds <= 0 {
		o.Rounds = 3
	}
	if o.Duration <= 0 {
		o.Duration = 4 * time.Second
	}
	if o.Patients <= 0 {
		o.Patients = 1_000_000
	}
	if o.People <= 0 {
		o.People = 1_000_000
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	return o, nil
}

// Run measures and gives the report as Markdown.
func Run(ctx context.Context, o Options) (text string, err error) {
	o, err = o.withDefaults()
	if err != nil {
		return "", err
	}
	b := &Bench{options: o, report: &report{}, pin: findPinning()}
	if b.self, err = os.Executable(); err != nil {
		return "", err
	}
	if o.BinDir == "" {
		b.options.BinDir = filepath.Dir(b.self)
	}
	if b.scratch, err = os.MkdirTemp("", "bench-*"); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.scratch)) }()
	if err := os.Chmod(b.scratch, 0o711); err != nil { //nolint:gosec // the database server's user passes through
		return "", err
	}
	b.quiet()
	install(ctx, b.say)
	dir := o.Dir
	if dir == "" {
		dir = filepath.Join(b.scratch, "mesh")
	}
	b.say("starting the mesh")
	b.mesh, err = mesh.Start(ctx, mesh.Options{
		Dir: dir, GatewayAddr: "127.0.0.1:0", BinDir: b.options.BinDir, DatabaseURL: os.Getenv("DATABASE_URL"),
		RedisURL: os.Getenv("REDIS_URL"), EnvOf: map[string]map[string]string{mesh.Gateway: Limits()}, Say: o.Say,
	})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, b.mesh.Stop()) }()
	for _, p := range parts() {
		if !slices.Contains(o.Only, p.name) {
			continue
		}
		if err := p.run(b, ctx); err != nil {
			return "", fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if err := b.machine(ctx); err != nil {
		return "", err
	}
	return b.report.Markdown(time.Now()), nil
}

// Limits are rate limits that are counted like any others and that nobody here can reach.
func Limits() map[string]string {
	const enough = "200000" // a second
	return map[string]string{
		"LIMIT_CREDENTIAL_RATE": enough, "LIMIT_CREDENTIAL_BURST": enough, "LIMIT_ADDRESS_RATE": enough, "LIMIT_ADDRESS_BURST": enough,
	}
}

func (b *Bench) say(line string) { b.options.Say(line) }

// principal is whom requests to a service alone come from: the first demo tenant, under a key that may do everything.
func (b *Bench) principal() principal.Principal {
	d := b.mesh.Demo()
	return principal.Principal{
		TenantID: d.Tenants[0].ID, CredentialID: "01900000-0000-7000-8000-00000000be9c", Kind: principal.APIKey,
		Permissions: principal.All, Plan: d.Tenants[0].Plan, Environment: d.Environment, AgreementAccepted: true,
	}
}

// direct makes a plan for the patient service alone, through for the whole way by the gateway.
func (b *Bench) direct(p traffic.Plan) traffic.Plan {
	p.Address = b.mesh.Address("patient")
	p.Sign = &traffic.Sign{MeshKey: b.mesh.MeshKey(), Principal: b.principal()}
	return p
}

func (b *Bench) through(p traffic.Plan) traffic.Plan {
	p.Address = b.mesh.Address(mesh.Gateway)
	p.Header = map[string]string{"Authorization": "Bearer " + b.mesh.Demo().Tenants[0].APIKey}
	return p
}

// admin opens a connection to a service's database as the server's administrator.
func (b *Bench) admin(ctx context.Context, ownerURL string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(b.mesh.AdminURL())
	if err != nil {
		return nil, err
	}
	owner, err := pgx.ParseConfig(ownerURL)
	if err != nil {
		return nil, err
	}
	config.Database = owner.Database
	return pgx.ConnectConfig(ctx, config)
}
