package mesh

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// agent is a Consul of a test's own, which keeps nothing but in memory.
type agent struct {
	t       *testing.T
	binary  string
	address string
	command *exec.Cmd
}

func newAgent(t *testing.T) *agent {
	t.Helper()
	binary := os.Getenv("CONSUL_BIN")
	if binary == "" {
		var err error
		if binary, err = exec.LookPath("consul"); err != nil {
			t.Skip("no consul on this machine (CONSUL_BIN or PATH): its registry was not tried")
		}
	}
	a := &agent{t: t, binary: binary, address: closed(t)}
	t.Cleanup(func() { a.kill() })
	a.start()
	return a
}

func (a *agent) start() {
	a.t.Helper()
	port := func() string {
		_, port, _ := net.SplitHostPort(closed(a.t))
		return port
	}
	_, web, _ := net.SplitHostPort(a.address)
	a.command = exec.Command(a.binary, "agent", "-dev", "-node=test", "-bind=127.0.0.1", "-client=127.0.0.1", "-log-level=warn",
		"-http-port="+web, "-server-port="+port(), "-serf-lan-port="+port(), "-serf-wan-port="+port(), "-dns-port=-1", "-grpc-port=-1",
		"-hcl", "ports { grpc_tls = -1 } disable_update_check = true performance { raft_multiplier = 1 }")
	if err := a.command.Start(); err != nil {
		a.t.Fatal(err)
	}
}

func (a *agent) kill() {
	_ = a.command.Process.Kill()
	_ = a.command.Wait()
}

// directory is a program's view of the agent.
func (a *agent) directory() *Consul {
	a.t.Helper()
	c, err := NewConsul(a.address, slog.New(slog.DiscardHandler))
	if err != nil {
		a.t.Fatal(err)
	}
	c.looks = 50 * time.Millisecond
	a.t.Cleanup(c.Close)
	return c
}

// What is played elsewhere in this package, with a Consul that is one: an instance corrects what was left of another at its
// address and is not told again and again, comes back to an agent that lost its memory and is found there, and leaves.
func TestConsulItself(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ready := func() string {
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		t.Cleanup(s.Close)
		return strings.TrimPrefix(s.URL, "http://")
	}
	register := func(c *Consul, r Registration) (leave func(context.Context) error) {
		leave, err := c.Register(r)
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	updates := make(chan []Endpoint, 100)
	a.directory().Watch("patient", func(list []Endpoint) { updates <- list })
	until := func(want ...Endpoint) {
		t.Helper()
		slices.SortFunc(want, func(a, b Endpoint) int { return strings.Compare(a.Address, b.Address) })
		var got []Endpoint
		for !cmp.Equal(want, got) {
			select {
			case got = <-updates:
			case <-ctx.Done():
				t.Fatalf("Consul tells of %v, and not of %v", got, want)
			}
		}
	}
	first, second := ready(), ready()

	before := a.directory()
	register(before, Registration{Service: "patient", Address: first, Version: "v1", Zone: "west"})
	until(Endpoint{Address: first, Zone: "west", Weight: 1})
	before.Close() // without a word to Consul

	after, mine := a.directory(), Registration{Service: "patient", Address: first, Version: "v2", Zone: "east", Weight: 4}
	leave := register(after, mine)
	until(Endpoint{Address: first, Zone: "east", Weight: 4})
	entry, err := mine.entry()
	if err != nil {
		t.Fatal(err)
	}
	if !after.known(ctx, entry) {
		t.Error("what Consul gives back of a registration is not the registration")
	}
	other := *entry
	other.Tags = []string{"version=v1", "zone=east"}
	if after.known(ctx, &other) {
		t.Error("another version is taken for this one")
	}

	a.kill()
	a.start() // it knows nobody, and counts from the beginning
	register(a.directory(), Registration{Service: "patient", Address: second})
	until(Endpoint{Address: first, Zone: "east", Weight: 4}, Endpoint{Address: second, Weight: 1})

	if err := leave(ctx); err != nil {
		t.Error(err)
	}
	until(Endpoint{Address: second, Weight: 1})
	if after.known(ctx, entry) {
		t.Error("it is still there")
	}
}
