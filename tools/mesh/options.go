// Package mesh runs the whole system on one machine: databases, the six programs, and a first content. bin/mesh is a
// command line round it, and tests start it as a library.
package mesh

import (
	"os"
	"path/filepath"
	"time"
)

// Options say where the mesh lives. The zero value of each member is a sensible choice.
type Options struct {
	Dir         string // state folder; default .mesh
	GatewayAddr string // default 127.0.0.1:8080; port 0 takes a free one
	BinDir      string // where the six programs are; default beside this program
	DatabaseURL string // a role that may create databases and roles; empty: a private PostgreSQL
	RedisURL    string // empty: a private Redis
	Environment string // default demo

	// DatabasePrefix is put before the names of databases and roles, for many meshes on one server.
	DatabasePrefix string

	// Env is given to all programs besides what they need; EnvOf to the program that it is keyed by, and wins.
	Env   map[string]string
	EnvOf map[string]map[string]string

	// Replicas is how many of a service run beside each other; one where it says nothing. The further ones are called
	// matching.2 and so on.
	Replicas map[string]int

	// LongestWait is the longest pause before a program that dies time and again is started once more; 0: five seconds.
	// Tests kill programs more often than they would ever die.
	LongestWait time.Duration

	// Say is told what happens, a line at a time, from any goroutine; nil: nobody is told.
	Say func(line string)
}

func (o Options) withDefaults() (Options, error) {
	if o.Dir == "" {
		o.Dir = ".mesh"
	}
	if o.GatewayAddr == "" {
		o.GatewayAddr = "127.0.0.1:8080"
	}
	if o.Environment == "" {
		o.Environment = "demo"
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	if o.BinDir == "" {
		self, err := os.Executable()
		if err != nil {
			return o, err
		}
		o.BinDir = filepath.Dir(self)
	}
	bin, err := filepath.Abs(o.BinDir)
	o.BinDir = bin
	return o, err
}
