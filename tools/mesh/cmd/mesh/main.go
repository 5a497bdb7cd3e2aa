// Command mesh runs the whole system on this machine, or gives a command a throwaway PostgreSQL and Redis to test
// against.
//
//	mesh                     start everything; Ctrl-C stops it
//	mesh env -- command …    run the command with TEST_DATABASE_URL and TEST_REDIS_URL
//	mesh version
//
// Environment: MESH_DIR, GATEWAY_ADDR, DATABASE_URL, REDIS_URL, ENVIRONMENT, CONSUL_HTTP_ADDR, and whatever the
// programs themselves read, such as LOG_LEVEL and the OTEL_ variables.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	libsrun "github.com/patient-mesh/patient-mesh/libs/run"
	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "mesh:", err)
	}
	os.Exit(code)
}

func run(args []string) (code int, err error) {
	switch {
	case len(args) == 0, len(args) == 1 && args[0] == "run":
		return serve()
	case len(args) > 2 && args[0] == "env" && args[1] == "--":
		return env(args[2:])
	case len(args) == 1 && args[0] == "version":
		fmt.Println("mesh", libsrun.Version)
		return 0, nil
	}
	return 2, errors.New("usage: mesh | mesh env -- command … | mesh version")
}

func serve() (code int, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	m, err := mesh.Start(ctx, mesh.Options{
		Dir: os.Getenv("MESH_DIR"), GatewayAddr: os.Getenv("GATEWAY_ADDR"), Environment: os.Getenv("ENVIRONMENT"),
		DatabaseURL: os.Getenv("DATABASE_URL"), RedisURL: os.Getenv("REDIS_URL"),
		Say: func(line string) { fmt.Fprintln(os.Stderr, line) },
	})
	if err != nil {
		if ctx.Err() != nil {
			return 0, nil // stopped by the user while it was starting: nothing is wrong
		}
		return 1, err
	}
	fmt.Print(m.Summary())
	<-ctx.Done()
	stop() // a second Ctrl-C ends us at once, and the kernel ends the programs with us
	fmt.Fprintln(os.Stderr, "\nstopping …")
	if err := m.Stop(); err != nil {
		return 1, err
	}
	return 0, nil
}
