// Command example runs the example application beside a local mesh.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/launch"
	"github.com/patient-mesh/patient-mesh/tools/example"
	"github.com/patient-mesh/patient-mesh/tools/mesh/seed"
)

func main() {
	demo := flag.String("demo", filepath.Join(meshDir(), "demo.json"), "what the local mesh wrote: the gateway's address and the shared secret")
	addr := flag.String("addr", "127.0.0.1:9090", "where to listen: what the application is registered with")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *demo, *addr); err != nil {
		fmt.Fprintln(os.Stderr, "example:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has run
	}
}

func meshDir() string {
	if dir := os.Getenv("MESH_DIR"); dir != "" {
		return dir
	}
	return ".mesh"
}

func serve(ctx context.Context, path, addr string) error {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is not there: start the mesh first (make run)", path)
	}
	if err != nil {
		return err
	}
	var demo seed.Demo
	if err := json.Unmarshal(raw, &demo); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	registered := demo.ExternalApplication
	client := &launch.Client{
		Base: demo.Gateway, ApplicationID: registered.ID, Secret: registered.SharedSecret,
		Environment: demo.Environment, PublicClient: demo.PublicClientID,
	}
	app, err := example.New(client, slog.New(slog.NewTextHandler(os.Stderr, nil)), time.Now)
	if err != nil {
		return err
	}
	server := &http.Server{
		Addr: addr, Handler: app.Handler(),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: time.Minute,
	}
	context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(end)
	})
	user := demo.Tenants[0].User
	fmt.Printf(`%s listens at http://%s

  1. Open %s/account and sign in:  %s  %s
  2. Press "Launch" beside %s.
  3. You are here, signed in.

Ctrl-C stops it.
`, registered.Name, addr, demo.Gateway, user.Email, user.Password, registered.Name)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
