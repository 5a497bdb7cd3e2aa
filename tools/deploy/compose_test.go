package deploy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// demo is what we need of demo.json.
type demo struct {
	Gateway string
	Tenants []struct{ APIKey string }
}

// A mesh comes from nothing and serves; what callers may do is done there as everywhere; it loses an instance and no
// request; it is taken down and comes back with all that it was given.
func TestCompose(t *testing.T) {
	needsEngine(t)
	p := newProject(t)
	p.up()
	mine := p.demo()
	c := caller{t: t, base: mine.Gateway, key: mine.Tenants[0].APIKey}

	t.Run("programs are confined", func(t *testing.T) { confined(t, p) })
	t.Run("smoke", func(t *testing.T) { t.Log(p.do("run", "--rm", "--no-deps", "--no-TTY", "smoke")) })
	t.Run("end to end", func(t *testing.T) { suite(t, p) })
	kept := c.create("Kept")
	t.Run("dashboards ask for what is there", func(t *testing.T) { metrics(t, p, "Kept") })
	p.up("--scale", "patient=3", "--no-recreate")
	t.Run("Consul spreads the calls", func(t *testing.T) {
		if p.consul == "" {
			t.Skip("Consul's image cannot be had here: the containers were not tested with Consul")
		}
		spread(t, p, c)
	})
	t.Run("names spread the calls", func(t *testing.T) {
		if p.consul != "" {
			t.Skip("programs are found by Consul here")
		}
		spread(t, p, c)
	})
	t.Run("an instance dies under load", func(t *testing.T) { loss(t, p, c) })
	p.up("--scale", "patient=1", "--no-recreate")
	t.Run("down and up keeps data", func(t *testing.T) {
		p.do("down", "--timeout", "40")
		p.up()
		if again := p.demo(); again.Tenants[0].APIKey != mine.Tenants[0].APIKey {
			t.Error("demo.json was made anew")
		}
		if status, body := c.call(http.MethodGet, kept, nil); status != http.StatusOK || !strings.Contains(body, "Kept") {
			t.Errorf("the patient is gone: %d %s", status, body)
		}
	})
}

// demo fetches demo.json as people do.
func (p *project) demo() (d demo) {
	p.t.Helper()
	raw := p.do("run", "--rm", "--no-deps", "--no-TTY", "seed", "demo")
	if err := json.Unmarshal([]byte(raw), &d); err != nil || len(d.Tenants) != 2 {
		p.t.Fatalf("demo.json: %v: %.100s", err, raw)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "demo.json"), []byte(raw), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return d
}

// suite is the end-to-end suite against the containers.
func suite(t *testing.T, p *project) {
	t.Helper()
	began := time.Now()
	command := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-timeout", "20m", "./tools/e2e")
	command.Dir = root(t)
	command.Env = append(os.Environ(), "E2E_MESH_DIR="+p.dir)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%.0f s: %s", time.Since(began).Seconds(), bytes.TrimSpace(out))
}

// confined holds the programs' containers to what they are said to be.
func confined(t *testing.T, p *project) {
	t.Helper()
	for _, program := range []string{"gateway", "identity", "tenant", "patient", "attachment", "matching"} {
		id := p.containers(program)[0]
		out, err := run(t.Context(), nil, "docker", "inspect", "--format",
			"{{.Config.User}} {{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.HostConfig.SecurityOpt}} {{gt .HostConfig.Memory 0}}", id)
		if want := "65532:65532 true [ALL] [no-new-privileges:true] true"; err != nil || strings.TrimSpace(out) != want {
			t.Errorf("%s runs as %s, want %s", program, out, want)
		}
		if _, err := run(t.Context(), nil, "docker", "exec", id, "/bin/sh", "-c", "true"); err == nil {
			t.Errorf("%s has a shell", program)
		}
		out, err = run(t.Context(), nil, "docker", "inspect", "--format", "{{range .Config.Env}}{{println .}}{{end}}", id)
		if err != nil || strings.Contains(out, "MESH_KEY=") || strings.Contains(out, "://") && strings.Contains(out, "DATABASE_URL=") {
			t.Errorf("%s has secrets in its environment", program)
		}
	}
}

const workers = 8 // who ask at the same time

// loss kills one of three instances while patients are stored and read. Each create bears a key, so that whoever loses an
// answer may send it again: no caller has to.
func loss(t *testing.T, p *project, c caller) {
	t.Helper()
	instances := p.containers("patient")
	if len(instances) != 3 {
		t.Fatalf("%d instances", len(instances))
	}
	stop := c.load("loss")
	began := p.calls(instances)
	until(t, "the instance that is to die is busy", func() bool { return p.calls(instances)[0] >= began[0]+enough })
	if out, err := run(t.Context(), nil, "docker", "kill", "--signal", "KILL", instances[0]); err != nil {
		t.Error(err, out)
	}
	left := instances[1:]
	lost := p.calls(left)
	until(t, "the others have done its part for a while", func() bool {
		now := p.calls(left)
		return now[0]+now[1] >= lost[0]+lost[1]+10*enough
	})
	sent, failed := stop()
	t.Logf("%d requests, one of three instances killed: %d failed", sent, failed)
	if failed > 0 {
		t.Errorf("%d of %d requests failed", failed, sent)
	}
}

// load stores patients and reads them until stop is called. Its name is in the keys of the creates.
func (c caller) load(name string) (stop func() (sent, failed int64)) {
	var sent, failed atomic.Int64
	ctx, cancel := context.WithCancel(c.t.Context())
	var load sync.WaitGroup
	for n := range workers {
		load.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				at, ok := c.tryCreate(fmt.Sprintf("%s-%d-%d-%d", name, os.Getpid(), n, i))
				sent.Add(2)
				if !ok {
					failed.Add(1)
					continue
				}
				if status, _, err := c.try(http.MethodGet, at, nil, ""); err != nil || status != http.StatusOK {
					failed.Add(1)
				}
			}
		})
	}
	return func() (int64, int64) {
		cancel()
		load.Wait()
		return sent.Load(), failed.Load()
	}
}

// caller calls the gateway.
type caller struct {
	t         *testing.T
	base, key string
}

func (c caller) try(method, path string, body any, idempotency string) (status int, text string, err error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, "", err
	}
	request, err := http.NewRequestWithContext(context.Background(), method, c.base+path, bytes.NewReader(raw))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	request.Header.Set("Content-Type", "application/json")
	if idempotency != "" {
		request.Header.Set("Idempotency-Key", idempotency)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	out, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(out), err
}

func (c caller) call(method, path string, body any) (int, string) {
	c.t.Helper()
	status, text, err := c.try(method, path, body, "")
	if err != nil {
		c.t.Fatal(err)
	}
	return status, text
}

func person(first string) map[string]string {
	return map[string]string{"firstName": first, "lastName": "Deployed", "dob": "1990-01-02"}
}

// create stores a patient and gives its path.
func (c caller) create(first string) string {
	c.t.Helper()
	status, text := c.call(http.MethodPost, "/v3/patient", person(first))
	var made struct{ ID int64 }
	if err := json.Unmarshal([]byte(text), &made); err != nil || status != http.StatusOK {
		c.t.Fatalf("create: %d %s", status, text)
	}
	return fmt.Sprint("/v3/patient/", made.ID)
}

func (c caller) tryCreate(key string) (path string, ok bool) {
	status, text, err := c.try(http.MethodPost, "/v3/patient", person("Loaded"), key)
	var made struct{ ID int64 }
	if err != nil || status != http.StatusOK || json.Unmarshal([]byte(text), &made) != nil {
		return "", false
	}
	return fmt.Sprint("/v3/patient/", made.ID), true
}
