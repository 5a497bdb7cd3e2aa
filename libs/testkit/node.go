package testkit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Node is one redis-server of a test's own, which the test may break.
type Node struct {
	Addr     string
	Client   *redis.Client // talks to this node alone
	bus      string        // the port that nodes of a cluster talk to each other on
	password string
	process  *os.Process
	gone     chan struct{}
}

// Kill ends the node as a lost machine does: at once, with nothing said and nothing saved.
func (n *Node) Kill() {
	_ = n.process.Kill()
	<-n.gone
}

// Freeze stops the node with its connections left open; Thaw has it go on.
func (n *Node) Freeze() { _ = n.process.Signal(syscall.SIGSTOP) }

// Thaw ends a Freeze.
func (n *Node) Thaw() { _ = n.process.Signal(syscall.SIGCONT) }

// servers starts nodes that share a password.
type servers struct {
	t        testing.TB
	binary   string
	dir      string
	password string
}

// newServers skips the test where there is no Redis that can do what we ask of it.
func newServers(t testing.TB) servers {
	t.Helper()
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil && major(t, path) >= 7 {
			return servers{t: t, binary: path, dir: t.TempDir(), password: rand.Text()}
		}
	}
	t.Skip("skipped: redis-server 7 or newer is not on this machine, and make test could not install it")
	return servers{}
}

// major is the first number of a server's version; 0 where it does not say.
func major(t testing.TB, path string) int {
	t.Helper()
	out, _ := exec.CommandContext(t.Context(), path, "--version").Output()
	_, version, _ := strings.Cut(string(out), "v=")
	first, _, _ := strings.Cut(version, ".")
	n, _ := strconv.Atoi(first)
	return n
}

// Ports are taken from below those of the local mesh and of outgoing connections, so that neither gets in the way.
const (
	lowestPort  = 12000
	highestPort = 19000
)

var errTaken = errors.New("its port is taken, or it cannot start")

// start runs a server with these lines of configuration besides what all have; mode is an argument that comes first.
func (s servers) start(mode string, lines ...string) *Node {
	s.t.Helper()
	var err error
	for range 20 {
		var n *Node
		if n, err = s.try(mode, lines); err == nil {
			s.t.Cleanup(func() {
				n.Thaw()
				n.Kill()
				_ = n.Client.Close()
			})
			return n
		}
		if !errors.Is(err, errTaken) {
			break
		}
	}
	s.t.Fatalf("start redis-server: %v", err)
	return nil
}

// atPorts takes every pair of ports once within this process, and begins elsewhere in another.
//
//nolint:gochecknoglobals // ports are the machine's: all tests of a process share them
var atPorts = sync.OnceValue(func() *counter { return &counter{n: os.Getpid() * 64} })

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) pair() (port, bus string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += 2
	n := lowestPort + c.n%(highestPort-lowestPort)
	return strconv.Itoa(n), strconv.Itoa(n + 1)
}

func (s servers) try(mode string, lines []string) (*Node, error) {
	port, bus := atPorts().pair()
	dir := filepath.Join(s.dir, port)
	text := strings.Join(append([]string{
		"bind 127.0.0.1", "port " + port, "dir " + strconv.Quote(dir), "requirepass " + s.password, "daemonize no", "logfile log",
	}, lines...), "\n")
	text = strings.ReplaceAll(text, "$bus", bus) + "\n"
	path := filepath.Join(dir, "conf") // sentinels write to theirs
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		return nil, err
	}
	args := []string{path}
	if mode != "" {
		args = append(args, mode)
	}
	command := exec.CommandContext(context.WithoutCancel(s.t.Context()), s.binary, args...) //nolint:gosec // redis-server, as found
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.binary, err)
	}
	n := &Node{Addr: net.JoinHostPort("127.0.0.1", port), bus: bus, password: s.password, process: command.Process, gone: make(chan struct{})}
	n.Client = redis.NewClient(&redis.Options{Addr: n.Addr, Password: s.password, Protocol: 2, MaxRetries: -1, DialerRetries: 1, DialTimeout: time.Second})
	go func() { defer close(n.gone); _ = command.Wait() }()
	for n.Client.Ping(s.t.Context()).Err() != nil {
		select {
		case <-n.gone:
			_ = n.Client.Close()
			return nil, errTaken
		case <-s.t.Context().Done():
			return n, nil // the cleanup ends it
		case <-time.After(5 * time.Millisecond): // there is nothing to wait on but the port itself
		}
	}
	return n, nil
}

// Eventually waits until a condition holds that somebody else brings about, and fails the test when it does not in time.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	limit := time.Now().Add(30 * time.Second)
	for !holds() {
		if time.Now().After(limit) {
			t.Fatalf("not in time: %s", what)
		}
		<-time.After(10 * time.Millisecond) // a server elsewhere tells nobody of its state
	}
}
