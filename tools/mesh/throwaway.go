package mesh

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/patient-mesh/patient-mesh/tools/mesh/port"
	"github.com/patient-mesh/patient-mesh/tools/mesh/postgres"
	"github.com/patient-mesh/patient-mesh/tools/mesh/redis"
	"github.com/patient-mesh/patient-mesh/tools/mesh/state"
	"github.com/patient-mesh/patient-mesh/tools/mesh/supervise"
)

// Throwaway is a PostgreSQL and a Redis for tests, gone after Close.
type Throwaway struct {
	DatabaseURL string // of the superuser
	RedisURL    string

	folders   []string
	embedded  *redis.Embedded
	processes []*supervise.Process
}

// StartThrowaway makes fresh servers that trade safety for speed. Progress goes to say.
func StartThrowaway(ctx context.Context, say func(string)) (*Throwaway, error) {
	t := &Throwaway{}
	if err := t.start(ctx, say); err != nil {
		return nil, errors.Join(fmt.Errorf("%w; the servers' last lines:\n%s", err, t.tail()), t.Close())
	}
	return t, nil
}

func (t *Throwaway) start(ctx context.Context, say func(string)) error {
	folder, err := os.MkdirTemp(inMemory(), "mesh-env-*")
	if err != nil {
		return err
	}
	t.folders = append(t.folders, folder)
	if err := os.Chmod(folder, 0o711); err != nil { //nolint:gosec // the server's user passes through
		return err
	}
	ports, err := port.Free(2)
	if err != nil {
		return err
	}
	cluster, err := t.cluster(ctx, folder, ports[0], say)
	if err != nil {
		return err
	}
	t.DatabaseURL = cluster.URL("postgres")
	if err := t.redis(ctx, folder, ports[1], say); err != nil {
		return err
	}
	return postgres.Await(ctx, t.DatabaseURL)
}

func (t *Throwaway) cluster(ctx context.Context, folder string, number int, say func(string)) (postgres.Cluster, error) {
	cluster := postgres.Cluster{Port: number, Password: state.Password(), Throwaway: true}
	var err error
	if cluster.Binaries, err = postgres.Find(ctx, 0, say); err != nil {
		return cluster, err
	}
	if cluster.Root, err = postgres.Place(ctx, folder); err != nil {
		return cluster, err
	}
	t.folders = append(t.folders, cluster.Root)
	if err := cluster.Make(ctx); err != nil {
		return cluster, err
	}
	program, err := cluster.Program()
	if err != nil {
		return cluster, err
	}
	return cluster, t.run(program, folder)
}

func (t *Throwaway) redis(ctx context.Context, folder string, number int, say func(string)) error {
	server := redis.Server{Folder: folder, Port: number, Password: state.Password()}
	t.RedisURL = server.URL()
	binary := redis.Binary(ctx)
	if binary == "" {
		if err := redis.Install(ctx, say); err != nil {
			say("no redis-server 7 or newer, and none could be installed (" + err.Error() + "): tests that stop one will fail")
			t.embedded, err = server.Embed()
			return err
		}
		binary = redis.Binary(ctx)
	}
	program, err := server.Program(binary)
	if err != nil {
		return err
	}
	if err := t.run(program, folder); err != nil {
		return err
	}
	return server.Await(ctx)
}

func (t *Throwaway) run(program supervise.Program, folder string) error {
	process, err := supervise.New(program, folder, folder, func(string) {})
	if err != nil {
		return err
	}
	t.processes = append(t.processes, process)
	process.Start()
	return nil
}

// tail is the end of the servers' logs, for when a start failed.
func (t *Throwaway) tail() string {
	var text string
	for _, p := range t.processes {
		text += fmt.Sprintf("%s:\n%s\n", p.Name(), p.Tail())
	}
	return text
}

// Close ends the servers and removes what they kept.
func (t *Throwaway) Close() error {
	var faults []error
	for _, p := range t.processes {
		p.Stop(context.Background())
		faults = append(faults, p.Close())
	}
	if t.embedded != nil {
		t.embedded.Close()
	}
	for _, folder := range t.folders {
		faults = append(faults, os.RemoveAll(folder))
	}
	return errors.Join(faults...)
}
