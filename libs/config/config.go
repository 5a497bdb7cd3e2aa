// Package config reads a program's configuration from environment variables into one flat struct. Every variable may
// also come as NAME_FILE, the path of a file that holds the value, as secrets are mounted: those that libraries read by
// themselves, too.
package config

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// Common is what every program of the mesh is told. Each embeds it in a struct of its own.
type Common struct {
	ListenAddr    string `env:"LISTEN_ADDR"`
	AdvertiseAddr string `env:"ADVERTISE_ADDR"` // where others reach it; the listen address when empty
	Environment   string `env:"ENVIRONMENT" envDefault:"demo"`
	LogLevel      string `env:"LOG_LEVEL" envDefault:"info"`
	MeshKey       string `env:"MESH_KEY,required,notEmpty"` // id:base64[,id:base64]; the first signs
	Peers         string `env:"PEERS"`                      // identity=host:port;tenant=host:port,host:port; dns:name:port is all that the name resolves to
	ConsulAddr    string `env:"CONSUL_HTTP_ADDR"`           // set: Consul finds peers, and PEERS is not read
	Zone          string `env:"ZONE"`                       // where it runs; peers in the same zone are called first
	Weight        int    `env:"WEIGHT" envDefault:"1"`      // its share of the calls beside its like, as Consul tells them
	RedisURL      string `env:"REDIS_URL"`
	// MaxInFlight bounds the requests under way at a time; what comes beyond it is told to come again.
	MaxInFlight int64 `env:"MAX_IN_FLIGHT" envDefault:"1024"`
	// StreamIdle is the longest pause of whoever sends or takes the bytes of a document.
	StreamIdle time.Duration `env:"STREAM_IDLE" envDefault:"30s"`
	// ShutdownDelay is how long a leaving program still takes requests, while others learn that it leaves.
	ShutdownDelay time.Duration `env:"SHUTDOWN_DELAY" envDefault:"0s"`
	// ShutdownLimit is how long requests under way may take to end after that.
	ShutdownLimit time.Duration `env:"SHUTDOWN_LIMIT" envDefault:"20s"`
}

// The environments. A credential of one never works in another.
const (
	Demo       = "demo"
	Production = "production"
)

// Read fills T from the environment. All that is wrong is reported in one error.
func Read[T any]() (T, error) {
	var c T
	params, err := env.GetFieldParams(&c)
	if err != nil {
		return c, err
	}
	names := make([]string, 0, len(params))
	for _, param := range params {
		names = append(names, param.Key)
	}
	environment := env.ToMap(os.Environ())
	_, fileErr := fromFiles(environment, names)
	err = env.ParseWithOptions(&c, env.Options{Environment: environment})
	return c, errors.Join(fileErr, forLibraries(), err)
}

// fromFiles adds the contents of NAME_FILE under NAME, for the names asked for, and gives what it added. A variable that
// has a value keeps it.
func fromFiles(environment map[string]string, names []string) (added map[string]string, err error) {
	added = map[string]string{}
	var faults []error
	for _, name := range names {
		path := environment[name+"_FILE"]
		if path == "" || environment[name] != "" {
			continue
		}
		content, err := os.ReadFile(path) //nolint:gosec // the operator names the file
		if err != nil {
			faults = append(faults, fmt.Errorf("%s_FILE: %w", name, err))
			continue
		}
		added[name] = strings.TrimSpace(string(content))
		environment[name] = added[name]
	}
	return added, errors.Join(faults...)
}

// libraryNames are the variables with secrets or addresses that libraries read from the environment by themselves:
// OpenTelemetry's and those of the blob stores. Consul's library knows CONSUL_HTTP_TOKEN_FILE.
func libraryNames() []string {
	return []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS",
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN",
	}
}

// forLibraries puts what came in files where libraries look for it.
func forLibraries() error {
	added, err := fromFiles(env.ToMap(os.Environ()), libraryNames())
	faults := []error{err}
	for name, value := range added {
		faults = append(faults, os.Setenv(name, value))
	}
	return errors.Join(faults...)
}

// Validate checks what every program needs.
func (c Common) Validate() error {
	if c.Environment != Demo && c.Environment != Production {
		return fmt.Errorf("ENVIRONMENT is %q and must be demo or production", c.Environment)
	}
	if c.Weight < 1 || c.Weight > maxWeight {
		return fmt.Errorf("WEIGHT is %d and must be from 1 to %d", c.Weight, maxWeight)
	}
	return nil
}

// maxWeight is Consul's.
const maxWeight = 65535
