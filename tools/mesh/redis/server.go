// Package redis runs a private Redis: redis-server of the machine where there is one, else an imitation inside this
// process. It knows nothing of what is kept in it.
package redis

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/patient-mesh/patient-mesh/tools/mesh/supervise"
)

// Server is a private Redis on the loopback address.
type Server struct {
	Folder   string // for its configuration; nothing is saved, since whatever is kept in Redis can be made again
	Port     int
	Password string
}

// Databases is how many numbered databases a server has: one for each test that asks for its own.
const Databases = 10000

// Binary is the path of this machine's redis-server; "" when there is none, or one older than 7.
func Binary(ctx context.Context) string {
	for _, name := range []string{"redis-server", "valkey-server"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		if err != nil {
			continue
		}
		_, version, _ := strings.Cut(string(out), "v=")
		major, _, _ := strings.Cut(version, ".")
		if n, err := strconv.Atoi(major); err == nil && n >= 7 {
			return path
		}
	}
	return ""
}

func (s Server) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)) }

// URL is how programs connect.
func (s Server) URL() string {
	u := url.URL{Scheme: "redis", User: url.UserPassword("default", s.Password), Host: s.address(), Path: "/0"}
	return u.String()
}

// Program is redis-server, ready to be supervised. The password goes by a file that only we can read, not by the
// command line, which everybody can.
func (s Server) Program(binary string) (supervise.Program, error) {
	configuration := strings.Join([]string{
		"bind 127.0.0.1", "port " + strconv.Itoa(s.Port), "requirepass " + s.Password, "dir " + strconv.Quote(s.Folder),
		`save ""`, "appendonly no", "databases " + strconv.Itoa(Databases), "daemonize no", "always-show-logo no", "loglevel warning", "",
	}, "\n")
	path := filepath.Join(s.Folder, "redis.conf")
	if err := os.WriteFile(path, []byte(configuration), 0o600); err != nil {
		return supervise.Program{}, fmt.Errorf("configure redis-server: %w", err)
	}
	return supervise.Program{
		Name: "redis", Path: binary, Args: []string{path}, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: s.Folder,
		StopSignal: syscall.SIGTERM, DeathSignal: syscall.SIGTERM, StopTimeout: 10 * time.Second,
	}, nil
}

// Await returns when the server answers, or with the last error when ctx ends.
func (s Server) Await(ctx context.Context) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := s.ping(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("redis-server does not answer: %w", err)
		case <-tick.C:
		}
	}
}

func (s Server) ping(ctx context.Context) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.address())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if _, err := fmt.Fprintf(conn, "AUTH %s\r\nPING\r\n", s.Password); err != nil {
		return err
	}
	in := bufio.NewReader(conn)
	for _, want := range []string{"+OK", "+PONG"} {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		if strings.TrimSpace(line) != want {
			return errors.New(strings.TrimSpace(line))
		}
	}
	return nil
}
