package mesh

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/patient-mesh/patient-mesh/tools/mesh/port"
	"github.com/patient-mesh/patient-mesh/tools/mesh/provision"
	"github.com/patient-mesh/patient-mesh/tools/mesh/state"
	"github.com/patient-mesh/patient-mesh/tools/mesh/supervise"
)

// Gateway is the program that faces the world; it drains first.
const Gateway = "gateway"

// Services are the other five.
func Services() []string { return []string{"identity", "tenant", "patient", "attachment", "matching"} }

// replicas are the names of a service's processes.
func (o Options) replicas(service string) []string {
	names := []string{service}
	for i := 2; i <= o.Replicas[service]; i++ {
		names = append(names, service+"."+strconv.Itoa(i))
	}
	return names
}

// instances are the names of all services' processes.
func (o Options) instances() []string {
	var names []string
	for _, service := range Services() {
		names = append(names, o.replicas(service)...)
	}
	return names
}

// serviceOf is what a process is one of.
func serviceOf(instance string) string {
	service, _, _ := strings.Cut(instance, ".")
	return service
}

// drainLimit is how long a program may take to finish what is under way: the requests, then its loops.
const drainLimit = 30 * time.Second

// ours are the variables that we decide: what the user's shell says under these names is meant for us, or for nobody.
func ours() []string {
	return []string{
		"LISTEN_ADDR", "ADVERTISE_ADDR", "PEERS", "MESH_KEY", "CREDENTIAL_KEY", "REDIS_URL", "DATABASE_URL", "DATABASE_MIGRATE_URL",
		"ENVIRONMENT", "PUBLIC_URL", "MAIL_DIR", "SMTP_URL", "BLOB_URL", "GATEWAY_ADDR", "MESH_DIR",
	}
}

// addresses chooses where each program listens: the gateway where it was told, the others on free ports.
func addresses(gatewayAddr string, instances []string) (map[string]string, error) {
	ports, err := port.Free(len(instances) + 1)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for i, name := range instances {
		out[name] = net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[i]))
	}
	host, given, err := net.SplitHostPort(gatewayAddr)
	if err != nil {
		return nil, fmt.Errorf("GATEWAY_ADDR %q must be host:port", gatewayAddr)
	}
	if given == "0" {
		gatewayAddr = net.JoinHostPort(host, strconv.Itoa(ports[len(instances)]))
	}
	out[Gateway] = gatewayAddr
	return out, nil
}

// url is the gateway's address as a client on this machine writes it.
func url(addr string) string {
	host, number, _ := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, number)
}

// localLimit is how many requests a second the local mesh takes of one credential or address.
const localLimit = "100000"

// surroundings is what the programs' environments are made of.
type surroundings struct {
	options   Options
	dir       *state.Dir
	secrets   state.Secrets
	addresses map[string]string
	access    map[string]provision.Access
	redisURL  string
}

// program is one of the six, ready to be supervised.
func (s surroundings) program(name string) (supervise.Program, error) {
	path := filepath.Join(s.options.BinDir, serviceOf(name))
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return supervise.Program{}, errors.New(path + " is missing: build the programs first (make build)")
	}
	return supervise.Program{
		Name: name, Path: path, Args: []string{"serve"}, Env: s.environment(name), Speaks: true,
		StopSignal: syscall.SIGTERM, DeathSignal: syscall.SIGKILL, StopTimeout: drainLimit,
	}, nil
}

func (s surroundings) environment(name string) []string {
	env := map[string]string{}
	for _, pair := range os.Environ() {
		if key, value, ok := strings.Cut(pair, "="); ok && !slices.Contains(ours(), strings.TrimSuffix(key, "_FILE")) {
			env[key] = value
		}
	}
	env["LISTEN_ADDR"] = s.addresses[name]
	env["ENVIRONMENT"] = s.options.Environment
	env["MESH_KEY"] = s.secrets.MeshKey
	env["REDIS_URL"] = s.redisURL
	env["PUBLIC_URL"] = url(s.addresses[Gateway])
	var peers []string
	for _, peer := range Services() {
		var all []string
		for _, instance := range s.options.replicas(peer) {
			all = append(all, s.addresses[instance])
		}
		peers = append(peers, peer+"="+strings.Join(all, ","))
	}
	env["PEERS"] = strings.Join(peers, ";")
	name = serviceOf(name)
	if a, ok := s.access[name]; ok {
		env["DATABASE_URL"], env["DATABASE_MIGRATE_URL"] = a.URL, a.MigrateURL
	}
	switch name {
	case "identity":
		env["CREDENTIAL_KEY"] = s.secrets.CredentialKey
		env["MAIL_DIR"] = s.dir.Path("mail")
		strict := []string{"SIGN_IN_PER_ADDRESS", "REGISTER_PER_ADDRESS", "RESET_PER_ADDRESS"}
		for _, limit := range strict {
			if env[limit] == "" {
				env[limit] = localLimit
			}
		}
	case "attachment":
		env["BLOB_URL"] = "file://" + s.dir.Path("blobs")
	case Gateway:
		// A test suite or a benchmark on this machine is one address and few credentials: the strict defaults are for
		// what faces the world.
		for _, limit := range []string{"LIMIT_CREDENTIAL_RATE", "LIMIT_CREDENTIAL_BURST", "LIMIT_ADDRESS_RATE", "LIMIT_ADDRESS_BURST"} {
			if env[limit] == "" {
				env[limit] = localLimit
			}
		}
	}
	maps.Copy(env, s.options.Env)
	maps.Copy(env, s.options.EnvOf[name])
	list := make([]string, 0, len(env))
	for _, key := range slices.Sorted(maps.Keys(env)) {
		list = append(list, key+"="+env[key])
	}
	return list
}
