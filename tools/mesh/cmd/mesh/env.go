package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// env runs a command beside throwaway servers and gives its exit code.
func env(command []string) (code int, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	servers, err := mesh.StartThrowaway(ctx, func(line string) { fmt.Fprintln(os.Stderr, line) })
	if err != nil {
		return 1, err
	}
	code, err = with(ctx, servers, command)
	return code, errors.Join(err, servers.Close())
}

func with(ctx context.Context, servers *mesh.Throwaway, command []string) (code int, err error) {
	// The command stands in our process group: the terminal's Ctrl-C reaches it by itself. Other signals are passed on.
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "TEST_DATABASE_URL="+servers.DatabaseURL, "TEST_REDIS_URL="+servers.RedisURL)
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return 127, err
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return max(cmd.ProcessState.ExitCode(), 0), nil
}
