package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// private starts a mesh with a PostgreSQL and a Redis of its own, to be broken.
func private(t *testing.T, o mesh.Options) *mesh.Mesh {
	t.Helper()
	inside(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	o.Dir, o.GatewayAddr, o.BinDir, o.Say = t.TempDir(), "127.0.0.1:0", binaries(), func(line string) { t.Log(line) }
	// The database server's user passes through, so that its data lies inside and goes with the folder.
	if err := os.Chmod(filepath.Dir(o.Dir), 0o711); err != nil {
		t.Fatal(err)
	}
	o.LongestWait = 200 * time.Millisecond // what is killed time and again is not to be waited for
	m, err := mesh.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Stop(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// TestKilledPrograms has a mesh whose programs are killed without warning, each under load.
func TestKilledPrograms(t *testing.T) {
	t.Parallel()
	m := private(t, mesh.Options{})
	t.Run("lose nothing", func(t *testing.T) { losesNothing(t, m) })
	t.Run("forget nobody", func(t *testing.T) { forgetsNobody(t, m) })
}

// TestPartsAway has a mesh whose parts go away in good order, one after the other: each is back before the next one goes.
func TestPartsAway(t *testing.T) {
	t.Parallel()
	m := private(t, mesh.Options{})
	for _, part := range []struct {
		name string
		test func(*testing.T, *mesh.Mesh)
	}{
		{"stopping drains", stoppingDrains}, // first: it counts all patients
		{"a service", serviceAway},
		{"the database", databaseAway},
		{"Redis", redisAway},
		{"identity and Redis", identityAndRedisAway},
		{"documents of a record", documentsAway},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, m) })
	}
}

// heals waits until a mesh answers as it did before.
func heals(t *testing.T, c *client) {
	t.Helper()
	eventually(t, time.Minute, func() bool {
		a, err := c.try(http.MethodGet, patients+"?size=1", "", nil)
		return err == nil && a.status == ok
	})
}

// try sends a request whose failing is no failure of the test.
func (c *client) try(method, path, key string, body any) (answer, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return answer{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(raw))
	if err != nil {
		return answer{}, err
	}
	req.Header = c.header.Clone()
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	return c.send(req)
}

// losesNothing stores patients while each program in turn is killed without warning. Every create that
// was answered 200 is there afterwards, and every key made one patient, however often it was sent.
func losesNothing(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()

	var mu sync.Mutex
	answered := map[string]int64{} // by last name, which is the key too
	var sent atomic.Int64
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for ctx.Err() == nil {
				name := fmt.Sprintf("Key %06d", sent.Add(1))
				for ctx.Err() == nil {
					a, err := c.try(http.MethodPost, patients, name, but(map[string]any{"lastName": name}))
					if err == nil && a.status == ok {
						var p shown
						if err := json.Unmarshal(a.raw, &p); err != nil {
							t.Error(err)
						}
						mu.Lock()
						answered[name] = p.ID
						mu.Unlock()
						break
					}
					if err == nil && a.status < 500 && a.status != http.StatusConflict {
						t.Errorf("a create under faults was refused with %d: %s", a.status, a.raw)
					}
				}
			}
		})
	}
	progress := func() {
		t.Helper()
		mu.Lock()
		before := len(answered)
		mu.Unlock()
		eventually(t, time.Minute, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(answered) >= before+25
		})
	}
	progress()
	for _, name := range m.Names() {
		m.Process(name).Kill()
		progress()
	}
	stop()
	writers.Wait()
	heals(t, c)

	found := map[string][]int64{}
	for next := patients + "?size=500"; next != ""; {
		a := c.get(next).is(ok)
		var l list
		a.into(&l)
		for _, p := range l.Content {
			found[p.LastName] = append(found[p.LastName], p.ID)
		}
		if next = ""; a.header.Get("Link") != "" {
			next = nextOf(t, a)
		}
	}
	for name, id := range answered {
		if got := found[name]; len(got) != 1 || got[0] != id {
			t.Errorf("%s was answered with id %d and is there as %v", name, id, got)
		}
	}
	for name, ids := range found {
		if len(ids) != 1 {
			t.Errorf("%s is there %d times", name, len(ids))
		}
	}
	t.Logf("%d creates were answered while %v were killed", len(answered), m.Names())
}

// databaseAway: 503 with Retry-After while PostgreSQL hangs or is gone, and recovery by itself.
func databaseAway(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	path, _ := stored(c, ana())
	postgres := m.Process("postgres")
	if postgres == nil {
		t.Fatal("this mesh has no PostgreSQL of its own to stop")
	}
	postgres.Stop(t.Context())
	a := c.get(path)
	a.refused(http.StatusServiceUnavailable, "unavailable")
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	c.post(patients, ana()).refused(http.StatusServiceUnavailable, "unavailable")
	eventually(t, 10*time.Second, func() bool { return c.get("/readyz").status == http.StatusServiceUnavailable })
	c.get("/livez").is(ok)
	postgres.Start()
	heals(t, c)
	c.get(path).is(ok)
	eventually(t, 10*time.Second, func() bool { return c.get("/readyz").status == ok })
}

// redisAway: sessions are asked of identity while Redis is gone; nothing that worked stops, and a revocation holds.
func redisAway(t *testing.T, m *mesh.Mesh) {
	demo := m.Demo().Tenants
	c := at(t, m, demo[0].APIKey)
	path, _ := stored(c, ana())
	redis := m.Process("redis")
	if redis == nil {
		t.Fatal("this mesh has no redis-server of its own to stop: make test installs it where it may")
	}
	redis.Stop(t.Context())
	c.get(path).is(ok)
	at(t, m, demo[1].APIKey).get(patients + "?size=1").is(ok)
	at(t, m, "prs_demo_nonsense").get(path).is(unauthorized)
	eventually(t, 10*time.Second, func() bool { return c.get("/readyz").status == http.StatusServiceUnavailable })

	var keys struct{ Content []struct{ ID, Name string } }
	theirs := at(t, m, demo[1].APIKey)
	theirs.get("/v2/token").is(ok).into(&keys)
	theirs.delete("/v2/token/" + keys.Content[0].ID).is(ok)
	eventually(t, 10*time.Second, func() bool { return theirs.get(patients+"?size=1").status == unauthorized })
	redis.Start()
	eventually(t, 30*time.Second, func() bool { return c.get("/readyz").status == ok })
	c.get(path).is(ok)
	theirs.get(patients + "?size=1").is(unauthorized)
}

// identityAndRedisAway: who is known is unknown then; the answer is 503, never a refusal of a good credential.
func identityAndRedisAway(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	c.get(patients + "?size=1").is(ok)
	redis := m.Process("redis")
	if redis == nil {
		t.Fatal("this mesh has no redis-server of its own to stop: make test installs it where it may")
	}
	redis.Stop(t.Context())
	m.Process("identity").Signal(syscall.SIGSTOP)
	defer m.Process("identity").Signal(syscall.SIGCONT)
	eventually(t, 30*time.Second, func() bool {
		a, err := c.try(http.MethodGet, patients+"?size=1", "", nil)
		if err == nil && a.status == unauthorized {
			t.Fatal("a good credential was refused")
		}
		return err == nil && a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") != ""
	})
	m.Process("identity").Signal(syscall.SIGCONT)
	redis.Start()
	heals(t, c)
}

// serviceAway: the gateway says so and comes back by itself.
func serviceAway(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	m.Process("patient").Stop(t.Context())
	a := c.get(patients)
	a.refused(http.StatusServiceUnavailable, "unavailable")
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	m.Process("patient").Start()
	heals(t, c)
}

// stoppingDrains restarts the patient service under load: what it had taken on is answered before it goes.
func stoppingDrains(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	var answered, broken atomic.Int64
	var callers sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for range 4 {
		callers.Go(func() {
			for ctx.Err() == nil {
				a, err := c.try(http.MethodPost, patients, "", ana())
				switch {
				case err == nil && a.status == ok:
					answered.Add(1)
				case err == nil && a.status == http.StatusServiceUnavailable:
				case errors.Is(err, syscall.ECONNREFUSED):
				default:
					broken.Add(1)
					t.Logf("while stopping: %d, %v", a.status, err)
				}
			}
		})
	}
	eventually(t, 30*time.Second, func() bool { return answered.Load() > 50 })
	m.Process("patient").Stop(t.Context())
	m.Process("patient").Start()
	heals(t, c)
	before := answered.Load()
	eventually(t, 30*time.Second, func() bool { return answered.Load() > before+50 })
	stop()
	callers.Wait()
	var l list
	c.get(patients + "?size=1").is(ok).into(&l)
	if l.TotalElements != answered.Load() {
		t.Errorf("%d creates were answered, %d patients are there, %d requests broke off", answered.Load(), l.TotalElements, broken.Load())
	}
}
