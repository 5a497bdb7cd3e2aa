package mesh

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/patient-mesh/patient-mesh/tools/mesh/port"
	"github.com/patient-mesh/patient-mesh/tools/mesh/postgres"
	"github.com/patient-mesh/patient-mesh/tools/mesh/provision"
	"github.com/patient-mesh/patient-mesh/tools/mesh/redis"
	"github.com/patient-mesh/patient-mesh/tools/mesh/state"
)

// databaseStart is how long a database server may take to answer; after a crash it replays its log first.
const databaseStart = 2 * time.Minute

// postgres gives the administrator's URL of the server: the one we were told of, or a private one, started here.
func (m *Mesh) postgres(ctx context.Context) (string, error) {
	if m.options.DatabaseURL != "" {
		return m.options.DatabaseURL, nil
	}
	cluster, err := m.cluster(ctx)
	if err != nil {
		return "", err
	}
	if !cluster.Exists() {
		m.options.Say("making a private database in " + cluster.Root + " with " + cluster.Binaries.String())
		if err := errors.Join(m.dir.Remove(seedFile), cluster.Make(ctx)); err != nil {
			return "", err
		}
	}
	program, err := cluster.Program()
	if err != nil {
		return "", err
	}
	if err := m.supervise(program); err != nil {
		return "", err
	}
	admin := cluster.URL("postgres")
	return admin, m.await(ctx, "postgres", func(ctx context.Context) error { return postgres.Await(ctx, admin) })
}

// cluster finds the place and the port of this state folder's cluster, and remembers them before they are used. A
// server that an earlier mesh left running there is stopped, since it holds the port that we want to keep.
func (m *Mesh) cluster(ctx context.Context) (postgres.Cluster, error) {
	places, err := m.dir.Places()
	if err != nil {
		return postgres.Cluster{}, err
	}
	fresh := places.PostgresRoot == ""
	if fresh {
		if places.PostgresRoot, err = postgres.Place(ctx, m.dir.Path()); err != nil {
			return postgres.Cluster{}, err
		}
	}
	cluster := postgres.Cluster{Root: places.PostgresRoot, Password: m.secrets.PostgresPassword}
	if err := cluster.Recover(ctx); err != nil {
		return postgres.Cluster{}, err
	}
	if fresh {
		// What is there belonged to a state folder that was removed, and the passwords with it.
		if err := os.RemoveAll(cluster.Root); err != nil {
			return postgres.Cluster{}, err
		}
	}
	if cluster.Binaries, err = postgres.Find(ctx, postgres.MajorAt(cluster.Root), m.options.Say); err != nil {
		return postgres.Cluster{}, err
	}
	if places.PostgresPort, err = port.Keep(places.PostgresPort); err != nil {
		return postgres.Cluster{}, err
	}
	cluster.Port = places.PostgresPort
	return cluster, m.dir.KeepPlaces(places)
}

// provision makes databases and roles, with passwords that are kept before they are used.
func (m *Mesh) provision(ctx context.Context, adminURL string) (map[string]provision.Access, error) {
	kept := len(m.secrets.RolePasswords)
	options := m.provisioning(adminURL)
	for _, service := range options.Services {
		for _, role := range []string{options.Prefix + "prs_" + service, options.Prefix + "prs_" + service + "_owner"} {
			if m.secrets.RolePasswords[role] == "" {
				m.secrets.RolePasswords[role] = state.Password()
			}
		}
	}
	if len(m.secrets.RolePasswords) != kept {
		if err := m.dir.KeepSecrets(m.secrets); err != nil {
			return nil, err
		}
	}
	return provision.Run(ctx, options)
}

func (m *Mesh) provisioning(adminURL string) provision.Options {
	return provision.Options{
		AdminURL: adminURL, Prefix: m.options.DatabasePrefix, Services: provision.Services(),
		Password:    func(role string) string { return m.secrets.RolePasswords[role] },
		BeforeFirst: func() error { return m.dir.Remove(seedFile) }, // what was seeded was in other databases
	}
}

// redis gives the URL of Redis: the one we were told of, or a private one, started here.
func (m *Mesh) redis(ctx context.Context) (string, error) {
	if m.options.RedisURL != "" {
		return m.options.RedisURL, nil
	}
	folder, err := m.dir.Folder("redis")
	if err != nil {
		return "", err
	}
	number, err := port.Free(1)
	if err != nil {
		return "", err
	}
	server := redis.Server{Folder: folder, Port: number[0], Password: m.secrets.RedisPassword}
	binary := redis.Binary(ctx)
	if binary == "" {
		m.options.Say("no redis-server 7 or newer on this machine: using an embedded imitation")
		if m.embedded, err = server.Embed(); err != nil {
			return "", err
		}
		return server.URL(), nil
	}
	program, err := server.Program(binary)
	if err != nil {
		return "", err
	}
	if err := m.supervise(program); err != nil {
		return "", err
	}
	return server.URL(), m.await(ctx, "redis", server.Await)
}

// await waits for a server to answer, or for it to be unable to start.
func (m *Mesh) await(ctx context.Context, name string, answers func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, databaseStart)
	defer cancel()
	process := m.processes[name]
	answered := make(chan error, 1)
	go func() { answered <- answers(ctx) }()
	select {
	case err := <-process.Failed():
		return err
	case err := <-answered:
		if err != nil {
			return fmt.Errorf("%w; its last lines:\n%s", err, process.Tail())
		}
		process.Forgive()
		return nil
	}
}
