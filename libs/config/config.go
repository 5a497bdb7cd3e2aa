// Package config reads a program's configuration from environment variables into one flat struct. Every variable may
// also come as NAME_FILE, the path of a file that holds the value, as secrets are mounted.
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
	RedisURL      string `env:"REDIS_URL"`
	// MaxInFlight bounds the requests under way at a time; what comes beyond it is told to come again.
	MaxInFlight int64 `env:"MAX_IN_FLIGHT" envDefault:"1024"`
	// StreamIdle is the longest pause of whoever sends or takes the bytes of a document.
	StreamIdle time.Duration `env:"STREAM_IDLE" envDefault:"30s"`
	// ShutdownDelay is how long a leaving program still takes requests, while others learn that it leaves.
	ShutdownDelay time.Duration `env:"SHUTDOWN_DELAY" envDefault:"0s"`
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
	environment, fileErr := withFiles(os.Environ(), params)
	err = env.ParseWithOptions(&c, env.Options{Environment: environment})
	return c, errors.Join(fileErr, err)
}

// withFiles is the environment with the contents of NAME_FILE under NAME, for the variables asked for.
func withFiles(environ []string, params []env.FieldParams) (map[string]string, error) {
	out := env.ToMap(environ)
	var faults []error
	for _, param := range params {
		path := out[param.Key+"_FILE"]
		if path == "" || out[param.Key] != "" {
			continue
		}
		content, err := os.ReadFile(path) //nolint:gosec // the operator names the file
		if err != nil {
			faults = append(faults, fmt.Errorf("%s_FILE: %w", param.Key, err))
			continue
		}
		out[param.Key] = strings.TrimSpace(string(content))
	}
	return out, errors.Join(faults...)
}

// Validate checks what every program needs.
func (c Common) Validate() error {
	if c.Environment != Demo && c.Environment != Production {
		return fmt.Errorf("ENVIRONMENT is %q and must be demo or production", c.Environment)
	}
	return nil
}
