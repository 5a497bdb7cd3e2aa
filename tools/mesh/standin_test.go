package mesh_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// TestMain lets the test's own binary stand in for the six programs: started under the name of one (by a symbolic
// link), it behaves like it as far as a mesh can tell.
func TestMain(m *testing.M) {
	name := filepath.Base(os.Args[0])
	if name == mesh.Gateway || slices.Contains(mesh.Services(), name) {
		if err := standIn(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func standIn(name string) error {
	if os.Getenv("STANDIN_CRASH") == name {
		return fmt.Errorf("%s was told to crash", name)
	}
	keys, err := principal.ParseKeyring(os.Getenv("MESH_KEY"))
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /env/{name}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, os.Getenv(r.PathValue("name")))
	})
	mux.HandleFunc("/internal/", func(w http.ResponseWriter, r *http.Request) {
		p, err := keys.Verify(r.Header.Get(principal.AssertionHeader), r.Method, r.URL.RequestURI(), time.Now())
		if err != nil || p.Kind != principal.Service || p.ClientID != "seed" {
			http.Error(w, "no assertion", http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]string{
			"id": "some-id", "clientId": "some-client", "clientSecret": "some-secret", "token": "some-token", "sharedSecret": "some-shared-secret",
		})
	})
	server := &http.Server{Addr: os.Getenv("LISTEN_ADDR"), Handler: mux, ReadHeaderTimeout: time.Second}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	fmt.Printf(`{"level":"INFO","msg":"serving","program":%q}`+"\n", name)
	if err := server.ListenAndServe(); ctx.Err() == nil {
		return err
	}
	return nil
}

// programs is a folder with stand-ins for the six programs.
func programs(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, name := range append(mesh.Services(), mesh.Gateway) {
		if err := os.Symlink(self, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
