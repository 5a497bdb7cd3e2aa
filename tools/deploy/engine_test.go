// Package deploy tests the mesh as it is deployed: in containers, on a real engine. It has tests only, and none of them
// runs unless DEPLOY_TEST is set, as `make test-deploy` does.
package deploy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// project is one composition of containers under a name of its own.
type project struct {
	t     *testing.T
	name  string
	files []string
	env   []string
	dir   string // where its demo.json, mail and documents are seen from here
	addr  string // the gateway's

	once   sync.Once
	consul string // where it is asked; empty where programs are found by their names
}

// root is the tree.
func root(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// needsEngine skips where there is no engine, in one plain line.
func needsEngine(t *testing.T) {
	t.Helper()
	if os.Getenv("DEPLOY_TEST") == "" {
		t.Skip("make test-deploy runs this")
	}
	for _, command := range []string{"docker version", "docker compose version"} {
		if out, err := run(t.Context(), nil, strings.Fields(command)...); err != nil {
			t.Skipf("no Docker engine with Compose here (%s: %s): nothing was deployed", command, firstLine(out))
		}
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// has reports whether an image is on this machine, or can be had.
func has(ctx context.Context, image string) bool {
	if _, err := run(ctx, nil, "docker", "image", "inspect", image); err == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	_, err := run(ctx, nil, "docker", "pull", "--quiet", image)
	return err == nil
}

// run gives all that a command said.
func run(ctx context.Context, env []string, words ...string) (string, error) {
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Env = append(os.Environ(), env...)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err := command.Run()
	return out.String(), err
}

// free is a port that nobody listens at.
func free(t *testing.T) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	address, ok := ln.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatal("no TCP address")
	}
	return address.Port
}

// newProject is the profile core with bounds that let a test suite through, and with its mail and documents in a folder
// that we see, changed by further files. Where Consul's image cannot be had, programs are found by name.
func newProject(t *testing.T, further ...string) *project {
	t.Helper()
	dir, err := os.MkdirTemp("", "deploy-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, folder := range []string{"identity", "attachment"} {
		path := filepath.Join(dir, folder)
		if err := errors.Join(os.Mkdir(path, 0o755), os.Chmod(path, 0o777)); err != nil {
			t.Fatal(err)
		}
	}
	err = errors.Join(os.Chmod(dir, 0o755),
		os.Symlink("identity/mail", filepath.Join(dir, "mail")), os.Symlink("attachment/blobs", filepath.Join(dir, "blobs")))
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, name: fmt.Sprintf("deploy%d", os.Getpid()), dir: dir, addr: fmt.Sprintf("127.0.0.1:%d", free(t))}
	p.files = append([]string{"compose/compose.yaml", "tools/deploy/testdata/test.yaml"}, further...)
	port := free(t)
	p.env = []string{
		"COMPOSE_PROFILES=core", "TEST_DIR=" + dir, "GATEWAY_ADDR=" + p.addr, "PUBLIC_URL=http://" + p.addr, fmt.Sprintf("CONSUL_PORT=%d", port),
	}
	p.consul = fmt.Sprintf("http://127.0.0.1:%d", port)
	for _, limit := range []string{
		"LIMIT_CREDENTIAL_RATE", "LIMIT_CREDENTIAL_BURST", "LIMIT_ADDRESS_RATE", "LIMIT_ADDRESS_BURST",
		"SIGN_IN_PER_ADDRESS", "REGISTER_PER_ADDRESS", "RESET_PER_ADDRESS",
	} {
		p.env = append(p.env, limit+"=100000")
	}
	p.needsImages()
	return p
}

// needsImages skips where an image is neither on this machine nor to be had, in one plain line. Consul's can be done without.
func (p *project) needsImages() {
	p.t.Helper()
	images := strings.Split(strings.TrimSpace(p.do("config", "--images")), "\n")
	slices.Sort(images)
	var missing []string
	consul := true
	for _, image := range slices.Compact(images) {
		switch {
		case strings.Contains(image, " "): // a warning of Compose's
		case has(p.t.Context(), image):
		case strings.Contains(image, "consul"):
			consul = false
		default:
			missing = append(missing, image)
		}
	}
	if len(missing) > 0 {
		p.t.Skipf("images that are not on this machine and cannot be pulled (%s): nothing was deployed", strings.Join(missing, ", "))
	}
	if consul {
		p.t.Log("programs are found by Consul")
	} else {
		p.t.Log("Consul's image cannot be had here: programs are found by their names")
		p.consul, p.files = "", append(p.files, "compose/static.yaml")
	}
}

// compose runs a docker compose command for the project.
func (p *project) compose(ctx context.Context, words ...string) (string, error) {
	all := []string{"docker", "compose", "--project-name", p.name, "--progress", "quiet"}
	for _, file := range p.files {
		all = append(all, "--file", filepath.Join(root(p.t), file))
	}
	return run(ctx, p.env, append(all, words...)...)
}

// do is compose that must succeed.
func (p *project) do(words ...string) string {
	p.t.Helper()
	out, err := p.compose(p.t.Context(), words...)
	if err != nil {
		p.t.Fatalf("docker compose %s: %v\n%s", strings.Join(words, " "), err, out)
	}
	return out
}

// up starts the project, which the test's end takes down again, and returns when it serves.
func (p *project) up(words ...string) {
	p.t.Helper()
	p.once.Do(func() { p.t.Cleanup(p.end) })
	began := time.Now()
	out, err := p.compose(p.t.Context(), append([]string{"up", "--detach", "--no-build", "--pull", "missing", "--wait", "--wait-timeout", "300"}, words...)...)
	if err != nil {
		state, _ := p.compose(p.t.Context(), "ps", "--all")
		logs, _ := p.compose(p.t.Context(), "logs", "--tail", "30")
		p.t.Fatalf("up: %v\n%s\n%s\n%s", err, out, state, logs)
	}
	p.t.Logf("up %s: %.1f s until it serves", strings.Join(words, " "), time.Since(began).Seconds())
}

// end takes the project down, with its data.
func (p *project) end() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if out, err := p.compose(ctx, "down", "--volumes", "--timeout", "20"); err != nil {
		p.t.Errorf("down: %v\n%s", err, out)
	}
}

// containers are the ids of a service's.
func (p *project) containers(service string) []string {
	p.t.Helper()
	return strings.Fields(p.do("ps", "--quiet", service))
}

// metrics is what a program's container tells Prometheus.
func (p *project) metrics(id, port string) string {
	p.t.Helper()
	return fetch(p.t.Context(), p.t, "http://"+p.host(id)+":"+port+"/metrics")
}

// host is a container's address in the network of the programs.
func (p *project) host(id string) string {
	p.t.Helper()
	out, err := run(p.t.Context(), nil, "docker", "inspect", "--format", `{{(index .NetworkSettings.Networks "`+p.name+`_mesh").IPAddress}}`, id)
	if err != nil {
		p.t.Fatal(out, err)
	}
	return strings.TrimSpace(out)
}
