package mesh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/tools/mesh/port"
	"github.com/patient-mesh/patient-mesh/tools/mesh/provision"
	"github.com/patient-mesh/patient-mesh/tools/mesh/redis"
	"github.com/patient-mesh/patient-mesh/tools/mesh/seed"
	"github.com/patient-mesh/patient-mesh/tools/mesh/state"
	"github.com/patient-mesh/patient-mesh/tools/mesh/supervise"
)

const (
	seedFile       = "seed.json"
	demoFile       = "demo.json"
	publicClientID = "prs-public"
	readyLimit     = 2 * time.Minute
)

// Mesh is a running mesh. Its methods are safe for concurrent use.
type Mesh struct {
	options   Options
	dir       *state.Dir
	secrets   state.Secrets
	addresses map[string]string
	access    map[string]provision.Access
	adminURL  string
	redisURL  string
	embedded  *redis.Embedded // nil unless Redis is the imitation
	processes map[string]*supervise.Process
	started   []string // names, in the order of their start
	demo      seed.Demo
	stop      func() error
}

// Start brings a mesh up and returns when it can serve and holds its demo content. When it fails, nothing is left running.
func Start(ctx context.Context, o Options) (*Mesh, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	dir, err := state.Open(o.Dir)
	if err != nil {
		return nil, err
	}
	m := &Mesh{options: o, dir: dir, processes: map[string]*supervise.Process{}}
	m.stop = sync.OnceValue(m.shutdown)
	if err := m.start(ctx); err != nil {
		return nil, errors.Join(err, m.Stop())
	}
	return m, nil
}

func (m *Mesh) start(ctx context.Context) error {
	for _, folder := range []string{"log", "run", "mail", "blobs"} {
		if _, err := m.dir.Folder(folder); err != nil {
			return err
		}
	}
	// PostgreSQL is spared here: it is stopped in order where its cluster is opened.
	supervise.Reap(ctx, m.dir.Path("run"), "postgres")
	var err error
	if m.addresses, err = addresses(m.options.GatewayAddr, m.options.instances()); err != nil {
		return err
	}
	if err := port.Check(m.addresses[Gateway]); err != nil {
		return fmt.Errorf("%s (GATEWAY_ADDR) is not free: %w; stop it, or choose another address with GATEWAY_ADDR=host:port", m.addresses[Gateway], err)
	}
	if err := m.sameEnvironment(); err != nil {
		return err
	}
	if err := m.dir.Remove(demoFile); err != nil { // it says that the mesh is ready
		return err
	}
	if m.secrets, err = m.dir.Secrets(); err != nil {
		return err
	}
	if m.redisURL, err = m.redis(ctx); err != nil {
		return err
	}
	if m.adminURL, err = m.postgres(ctx); err != nil {
		return err
	}
	if m.access, err = m.provision(ctx, m.adminURL); err != nil {
		return err
	}
	if err := m.programs(); err != nil {
		return err
	}
	if err := m.ready(ctx); err != nil {
		return err
	}
	return m.seed(ctx)
}

// sameEnvironment refuses a state folder of the other environment: nothing in it would be worth anything here.
func (m *Mesh) sameEnvironment() error {
	var progress seed.Progress
	if _, err := m.dir.Read(seedFile, &progress); err != nil {
		return err
	}
	if progress.Environment != "" && progress.Environment != m.options.Environment {
		return fmt.Errorf("%s holds a mesh of the environment %s: choose another folder for one of %s with MESH_DIR=folder",
			m.dir.Path(), progress.Environment, m.options.Environment)
	}
	return nil
}

// programs starts the six.
func (m *Mesh) programs() error {
	s := surroundings{
		options: m.options, dir: m.dir, secrets: m.secrets, addresses: m.addresses, access: m.access, redisURL: m.redisURL,
	}
	for _, name := range append(m.options.instances(), Gateway) {
		program, err := s.program(name)
		if err != nil {
			return err
		}
		if err := m.supervise(program); err != nil {
			return err
		}
	}
	return nil
}

func (m *Mesh) supervise(program supervise.Program) error {
	program.LongestWait = m.options.LongestWait
	process, err := supervise.New(program, m.dir.Path("log"), m.dir.Path("run"), m.options.Say)
	if err != nil {
		return err
	}
	m.processes[program.Name] = process
	m.started = append(m.started, program.Name)
	process.Start()
	return nil
}

// ready waits until each program, and last the gateway for the whole mesh, says that it can serve.
func (m *Mesh) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		answer, err := m.readyz(ctx)
		if err == nil {
			for _, p := range m.processes {
				p.Forgive()
			}
			return nil
		}
		if err := m.failure(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the mesh does not get ready: %w %s (logs: %s)", err, answer, m.dir.Path("log"))
		case <-tick.C:
		}
	}
}

func (m *Mesh) readyz(ctx context.Context) (answer string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, service := range m.options.instances() {
		if answer, err = ask(ctx, "http://"+m.addresses[service]+"/readyz"); err != nil {
			return service + ": " + answer, err
		}
	}
	return ask(ctx, m.URL()+"/readyz")
}

// ask gives the body of an answer, and an error unless it is 200.
func ask(ctx context.Context, address string) (answer string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	raw, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	if response.StatusCode != http.StatusOK {
		return string(raw), errors.New(response.Status)
	}
	return string(raw), nil
}

// failure is the error of a program that cannot start, if there is one.
func (m *Mesh) failure() error {
	for _, p := range m.processes {
		select {
		case err := <-p.Failed():
			return err
		default:
		}
	}
	return nil
}

// seed fills a new mesh, or goes on with one whose seeding was broken off, and writes demo.json.
func (m *Mesh) seed(ctx context.Context) error {
	keys, err := principal.ParseKeyring(m.secrets.MeshKey)
	if err != nil {
		return err
	}
	progress := &seed.Progress{}
	if found, err := m.dir.Read(seedFile, progress); err != nil {
		return err
	} else if !found {
		if progress, err = seed.Plan(m.options.Environment); err != nil {
			return err
		}
		if err := m.dir.Write(seedFile, progress); err != nil {
			return err
		}
	}
	caller := func(service string) seed.Caller {
		return seed.Caller{
			Address: m.addresses[service], Environment: m.options.Environment, Keys: keys, Client: http.DefaultClient, Now: time.Now,
		}
	}
	seeder := seed.Seeder{
		Identity: caller("identity"), Tenant: caller("tenant"),
		Save: func(p *seed.Progress) error { return m.dir.Write(seedFile, p) },
	}
	if err := seeder.Run(ctx, progress); err != nil {
		return err
	}
	m.demo = progress.Demo(m.URL(), m.options.Environment, publicClientID)
	return m.dir.Write(demoFile, m.demo)
}

// Stop drains the gateway, then the services, then ends the databases. A second call waits for the first.
func (m *Mesh) Stop() error { return m.stop() }

func (m *Mesh) shutdown() error {
	ctx := context.Background() // each program has its own limit
	m.halt(ctx, Gateway)
	m.halt(ctx, m.options.instances()...)
	m.halt(ctx, "redis", "postgres")
	if m.embedded != nil {
		m.embedded.Close()
	}
	var faults []error
	for _, p := range m.processes {
		faults = append(faults, p.Close())
	}
	return errors.Join(append(faults, m.dir.Close())...)
}

// halt stops programs at the same time and returns when all are gone.
func (m *Mesh) halt(ctx context.Context, names ...string) {
	var all sync.WaitGroup
	for _, name := range names {
		if p := m.processes[name]; p != nil {
			all.Go(func() { p.Stop(ctx) })
		}
	}
	all.Wait()
}

// Names lists the processes that run: the six programs, and redis and postgres where they are ours.
func (m *Mesh) Names() []string { return slices.Clone(m.started) }

// Process is one of Names: its number, and the ways to stop, start and kill it; nil for another name.
func (m *Mesh) Process(name string) *supervise.Process { return m.processes[name] }

// Demo is what demo.json says.
func (m *Mesh) Demo() seed.Demo { return m.demo }

// URL is the gateway's.
func (m *Mesh) URL() string { return url(m.addresses[Gateway]) }

// Address is where a program listens, host:port.
func (m *Mesh) Address(program string) string { return m.addresses[program] }

// Database is how a service reaches its database.
func (m *Mesh) Database(service string) provision.Access { return m.access[service] }

// AdminURL is the database server's, as a role that may make databases.
func (m *Mesh) AdminURL() string { return m.adminURL }

// RedisURL is how the programs reach Redis.
func (m *Mesh) RedisURL() string { return m.redisURL }

// MeshKey is what the programs sign their assertions with.
func (m *Mesh) MeshKey() string { return m.secrets.MeshKey }

// Path is the absolute path of something in the state folder.
func (m *Mesh) Path(names ...string) string { return m.dir.Path(names...) }

// DropDatabases removes the databases of a mesh that ran under a DatabasePrefix. It must have been stopped.
func (m *Mesh) DropDatabases(ctx context.Context) error {
	if m.options.DatabasePrefix == "" {
		return errors.New("only databases under a prefix are dropped")
	}
	return provision.Drop(ctx, m.provisioning(m.adminURL))
}

// shortPath is a path as one would type it here.
func shortPath(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if relative, err := filepath.Rel(here, path); err == nil && len(relative) < len(path) {
		return relative
	}
	return path
}
