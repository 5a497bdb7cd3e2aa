package matchbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/tools/bench"
	"github.com/patient-mesh/patient-mesh/tools/mesh"
	"github.com/patient-mesh/patient-mesh/tools/mesh/seed"
)

// Options say what to measure. The zero value of each member is a sensible choice.
type Options struct {
	Sets     []string      // default all
	Only     []string      // accuracy, latency, fresh; default all
	Demo     string        // demo.json of a running mesh; empty: a mesh of its own
	BinDir   string        // where the six programs are; default beside this program
	Dir      string        // state folder of a mesh of its own; default a new one that is removed afterwards
	People   int64         // in the big tenant; 1,000,000
	Sample   int           // records asked of a set; 2,000
	Typos    int           // records with one error that are asked of the big tenant; 5,000
	Seed     uint64        // of the people made up; Seed
	Asking   int           // connections; 16
	Duration time.Duration // of the measurement of times; 20 s
	Plots    string        // folder for the plots; empty: none
	Say      func(line string)
}

// Parts are the names that Only takes.
func Parts() []string { return []string{"accuracy", "latency", "fresh"} }

func (o Options) withDefaults() (Options, error) {
	if len(o.Sets) == 0 {
		o.Sets = SetNames()
	}
	if len(o.Only) == 0 {
		o.Only = Parts()
	}
	for _, name := range o.Only {
		if !slices.Contains(Parts(), name) {
			return o, fmt.Errorf("there is no part %q; the parts are %s", name, strings.Join(Parts(), ", "))
		}
	}
	for _, name := range o.Sets {
		if !slices.Contains(SetNames(), name) {
			return o, fmt.Errorf("there is no set %q; the sets are %s", name, strings.Join(SetNames(), ", "))
		}
	}
	orElse(&o.People, 1_000_000)
	orElse(&o.Sample, 2000)
	orElse(&o.Typos, 5000)
	orElse(&o.Seed, Seed)
	orElse(&o.Asking, 16)
	orElse(&o.Duration, 20*time.Second)
	if o.Say == nil {
		o.Say = func(string) {}
	}
	return o, nil
}

func orElse[T int | int64 | uint64 | time.Duration](value *T, other T) {
	if *value == 0 {
		*value = other
	}
}

// attach gives the mesh to be asked, and how to leave it.
func (o Options) attach(ctx context.Context) (demo seed.Demo, leave func() error, err error) {
	if o.Demo != "" {
		raw, err := os.ReadFile(o.Demo)
		if err != nil {
			return demo, nil, err
		}
		return demo, func() error { return nil }, json.Unmarshal(raw, &demo)
	}
	dir := o.Dir
	scratch := ""
	if dir == "" {
		if scratch, err = os.MkdirTemp("", "matchbench-*"); err != nil {
			return demo, nil, err
		}
		dir = filepath.Join(scratch, "mesh")
		if err := os.Chmod(scratch, 0o711); err != nil { //nolint:gosec // the database server's user passes through
			return demo, nil, err
		}
	}
	o.Say("starting the mesh")
	m, err := mesh.Start(ctx, mesh.Options{
		Dir: dir, GatewayAddr: "127.0.0.1:0", BinDir: o.BinDir, DatabaseURL: os.Getenv("DATABASE_URL"), RedisURL: os.Getenv("REDIS_URL"),
		EnvOf: map[string]map[string]string{mesh.Gateway: bench.Limits()}, Say: o.Say,
	})
	if err != nil {
		return demo, nil, err
	}
	return m.Demo(), func() error {
		err := m.Stop()
		if scratch != "" {
			err = errors.Join(err, os.RemoveAll(scratch))
		}
		return err
	}, nil
}
