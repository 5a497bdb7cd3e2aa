// Command setup prepares a mesh that runs in containers: one step a call, each repeated at every start.
//
//	setup secrets    make all secrets, as files for each program
//	setup full       note that the services of the profile full are there
//	setup prepare    make databases and roles, and tell the programs what is up to the profile
//	setup seed       make the first tenants, people and keys, and write demo.json
//	setup demo       print demo.json
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/patient-mesh/patient-mesh/tools/setup"
)

// The places inside the containers, as compose.yaml mounts them.
const (
	stateDir   = "/state"
	secretsDir = "/secrets"
	fullMark   = "profile-full" // in the state folder, from `full` to the next `secrets`
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "setup:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errUsage
	}
	s := places()
	switch mark := filepath.Join(stateDir, fullMark); args[0] {
	case "secrets":
		if err := os.Remove(mark); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return s.Secret()
	case "full":
		return os.WriteFile(mark, nil, 0o600)
	case "prepare":
		if _, err := os.Stat(mark); err == nil {
			s = full(s)
		}
		return s.Prepare(ctx)
	case "seed":
		return s.Seed(ctx)
	case "demo":
		raw, err := os.ReadFile(filepath.Join(stateDir, "demo.json"))
		if err == nil {
			_, err = os.Stdout.Write(raw)
		}
		return err
	}
	return errUsage
}

var errUsage = errors.New("usage: setup secrets | full | prepare | seed | demo")

// places is the profile core.
func places() setup.Setup {
	return setup.Setup{
		State: stateDir, Secrets: secretsDir, Postgres: "postgres:5432", Redis: "redis:6379",
		Peer:    func(service string) string { return service + ":8080" },
		Gateway: or(os.Getenv("PUBLIC_URL"), "http://127.0.0.1:8080"), Environment: or(os.Getenv("ENVIRONMENT"), "demo"),
		Blobs: "file:///data/blobs",
		Say:   func(line string) { fmt.Fprintln(os.Stderr, "setup:", line) },
	}
}

// full is what the profile full has besides.
func full(s setup.Setup) setup.Setup {
	s.Blobs = "s3://documents?region=us-east-1&endpoint=http://minio:9000&use_path_style=true"
	s.Otel, s.SMTP = "http://collector:4318", "mailpit:1025"
	return s
}

func or(value, otherwise string) string {
	if value != "" {
		return value
	}
	return otherwise
}
