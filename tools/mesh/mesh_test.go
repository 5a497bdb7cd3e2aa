package mesh_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
	"github.com/patient-mesh/patient-mesh/tools/mesh/seed"
)

// options of a mesh of stand-ins that makes its databases on the tests' server, under a prefix of its own.
func options(t *testing.T) mesh.Options {
	t.Helper()
	server := os.Getenv("TEST_DATABASE_URL")
	if server == "" {
		t.Fatal("TEST_DATABASE_URL is not set: run the tests by make test, or by bin/mesh env -- go test ./…")
	}
	return mesh.Options{
		Dir: t.TempDir(), GatewayAddr: "127.0.0.1:0", BinDir: programs(t), DatabaseURL: server,
		DatabasePrefix: "t" + strings.ReplaceAll(uuid.NewString(), "-", "")[:12] + "_",
	}
}

func start(t *testing.T, o mesh.Options) *mesh.Mesh {
	t.Helper()
	m, err := mesh.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Stop(); err != nil {
			t.Error(err)
		}
		if err := m.DropDatabases(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return m
}

func get(t *testing.T, url string) (string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	return string(raw), err
}

// eventually asks until the condition holds; the test's own deadline is the only limit that fails it.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("never came true: %s", what)
		case <-tick.C:
		}
	}
}

func TestStartWritesDemoCredentials(t *testing.T) {
	t.Parallel()
	m := start(t, options(t))
	info, err := os.Stat(m.Path("demo.json"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("demo.json has mode %v, want 0600", info.Mode().Perm())
	}
	raw, err := os.ReadFile(m.Path("demo.json"))
	if err != nil {
		t.Fatal(err)
	}
	var demo seed.Demo
	if err := json.Unmarshal(raw, &demo); err != nil {
		t.Fatal(err)
	}
	if demo.Gateway != m.URL() || demo.Environment != "demo" || demo.PublicClientID != "prs-public" {
		t.Errorf("demo.json: %+v", demo)
	}
	if len(demo.Tenants) != 2 || demo.Tenants[0].Plan != "standard" || demo.Tenants[1].Plan != "free" {
		t.Errorf("demo.json's tenants: %+v", demo.Tenants)
	}
	for _, secret := range []string{demo.Tenants[0].APIKey, demo.Admin.ClientSecret, demo.ExternalApplication.SharedSecret} {
		if secret == "" {
			t.Errorf("demo.json lacks a secret: %+v", demo)
		}
	}
}

func TestAFolderIsOfOneEnvironment(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Environment = "production"
	m := start(t, o)
	if m.Demo().Environment != "production" {
		t.Errorf("demo.json says %q", m.Demo().Environment)
	}
	if err := m.Stop(); err != nil {
		t.Fatal(err)
	}
	o.Environment = "demo"
	if again, err := mesh.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "MESH_DIR") {
		t.Errorf("a demo mesh started on a production mesh's state: %v", err)
		if err == nil {
			_ = again.Stop()
		}
	}
}

func TestServiceRolesOwnNothing(t *testing.T) {
	t.Parallel()
	m := start(t, options(t))
	url, err := get(t, "http://"+m.Address("patient")+"/env/DATABASE_URL")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var dangerous bool
	if err := conn.QueryRow(t.Context(), `SELECT rolsuper OR rolbypassrls OR rolcreatedb OR rolcreaterole FROM pg_roles WHERE rolname = current_user`).Scan(&dangerous); err != nil {
		t.Fatal(err)
	}
	if dangerous {
		t.Error("the service's role may do more than it must")
	}
	if _, err := conn.Exec(t.Context(), `CREATE TABLE mine ()`); err == nil {
		t.Error("the service's role may make tables")
	}
	other := strings.Replace(url, "prs_patient?", "prs_identity?", 1)
	if other == url {
		t.Fatal("the URL is not as this test expects")
	}
	if c, err := pgx.Connect(t.Context(), other); err == nil {
		_ = c.Close(context.Background())
		t.Error("the service's role may enter another service's database")
	}
}

func TestKilledProgramComesBackAtItsAddress(t *testing.T) {
	t.Parallel()
	m := start(t, options(t))
	process := m.Process("patient")
	before := process.Pid()
	process.Kill()
	eventually(t, "another process answers at the same address", func() bool {
		_, err := get(t, "http://"+m.Address("patient")+"/readyz")
		return err == nil && process.Pid() != before
	})
}

func TestReplicasAreFoundByTheirNeighbours(t *testing.T) {
	o := options(t)
	o.Replicas = map[string]int{"matching": 3}
	m := start(t, o)
	addresses := m.Address("matching") + "," + m.Address("matching.2") + "," + m.Address("matching.3")
	peers, err := get(t, m.URL()+"/env/PEERS")
	if err != nil || !strings.Contains(peers, "matching="+addresses) || strings.Contains(peers, "patient="+m.Address("patient")+",") {
		t.Errorf("%s, %v", peers, err)
	}
	ours, _ := get(t, "http://"+m.Address("matching")+"/env/DATABASE_URL")
	if theirs, err := get(t, "http://"+m.Address("matching.3")+"/env/DATABASE_URL"); err != nil || theirs != ours || m.Process("matching.3") == nil {
		t.Errorf("the third has %q for a database, %v", theirs, err)
	}
}

func TestSecondStartKeepsEverything(t *testing.T) {
	t.Parallel()
	o := options(t)
	first, err := mesh.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	key, tenants := first.MeshKey(), first.Demo().Tenants
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	second := start(t, o)
	if second.MeshKey() != key || second.Demo().Tenants[0] != tenants[0] || second.Demo().Tenants[1] != tenants[1] {
		t.Error("the second start made secrets or tenants anew")
	}
}

func TestAServiceWithItsFirstDatabaseLeavesWhatWasSeeded(t *testing.T) {
	t.Parallel()
	o := options(t)
	first, err := mesh.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	tenants := first.Demo().Tenants
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), o.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `DROP DATABASE `+o.DatabasePrefix+`prs_attachment WITH (FORCE)`); err != nil {
		t.Fatal(err)
	}
	second := start(t, o)
	if second.Demo().Tenants[0] != tenants[0] || second.Demo().Tenants[1] != tenants[1] {
		t.Error("the tenants were made anew")
	}
}

func TestStateFolderIsNotShared(t *testing.T) {
	t.Parallel()
	o := options(t)
	start(t, o)
	if _, err := mesh.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "in use by another mesh") {
		t.Errorf("second mesh in the same folder: %v", err)
	}
}

func TestTakenPortIsNamed(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := options(t)
	o.GatewayAddr = l.Addr().String()
	if _, err := mesh.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), o.GatewayAddr+" (GATEWAY_ADDR)") {
		t.Errorf("a taken port: %v", err)
	}
}

func TestProgramThatCannotStartIsReportedWithItsLastWords(t *testing.T) {
	t.Parallel()
	o := options(t)
	var mu sync.Mutex
	var said []string
	o.Say = func(line string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, line)
	}
	o.Env = map[string]string{"STANDIN_CRASH": "tenant"}
	_, err := mesh.Start(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "tenant was told to crash") {
		t.Errorf("error = %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(strings.Join(said, "\n"), "tenant ended") {
		t.Errorf("nobody was told: %q", said)
	}
}
