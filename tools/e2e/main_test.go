package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// world is the one mesh that all tests of this package call.
var world *mesh.Mesh

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run keeps the deferred stop out of reach of os.Exit.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "e2e-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	collector := newCollector()
	defer collector.Close()
	emitted = collector
	if elsewhere() {
		world, err = mesh.Attach(os.Getenv("E2E_MESH_DIR"))
		if err != nil {
			fmt.Fprintln(os.Stderr, "attach to the mesh:", err)
			return 1
		}
		return m.Run()
	}
	world, err = mesh.Start(ctx, mesh.Options{
		Dir:            filepath.Join(dir, "mesh"),
		GatewayAddr:    "127.0.0.1:0",
		BinDir:         binaries(),
		DatabaseURL:    os.Getenv("TEST_DATABASE_URL"),
		RedisURL:       os.Getenv("TEST_REDIS_URL"),
		DatabasePrefix: fmt.Sprintf("e2e%d_", os.Getpid()),
		Env: map[string]string{
			"LOG_LEVEL":                   "debug",
			"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL,
			"OTEL_BSP_SCHEDULE_DELAY":     "200",
			"OTEL_METRIC_EXPORT_INTERVAL": "500",
		},
		Say: func(line string) { fmt.Fprintln(os.Stderr, line) },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the mesh:", err)
		return 1
	}
	code := m.Run()
	if err := world.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the mesh:", err)
		return 1
	}
	return code
}

// elsewhere reports whether the tests call a mesh that runs elsewhere, of which E2E_MESH_DIR holds the demo.json.
func elsewhere() bool { return os.Getenv("E2E_MESH_DIR") != "" }

// inside skips a test that looks into the mesh, or breaks one of its own, where the mesh under test runs elsewhere.
func inside(t *testing.T) {
	t.Helper()
	if elsewhere() {
		t.Skip("it looks inside a mesh of this machine, and the one under test runs elsewhere")
	}
}

// binaries is where `make build` puts the six programs.
func binaries() string {
	if dir := os.Getenv("MESH_BIN_DIR"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "bin")
}
