package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// TestReplicas has two of matching and two of patient: whichever stores, whichever finds.
func TestReplicas(t *testing.T) {
	t.Parallel()
	m := private(t, mesh.Options{Replicas: map[string]int{"matching": 2, "patient": 2}})
	t.Run("every replica sees every change", func(t *testing.T) { replicas(t, m) })
	t.Run("killed", func(t *testing.T) { findsUnderFaults(t, m) })
	t.Run("a database that is away", func(t *testing.T) { findsWithoutDatabase(t, m) })
	t.Run("models", func(t *testing.T) { modelsOfReplicas(t, m) })
}

// replicas stores and finds so often that every way through two of each is taken.
func replicas(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	for i := range 40 {
		name := fmt.Sprintf("Replica%c%c", 'a'+i/26, 'a'+i%26)
		at, p := stored(c, map[string]any{"firstName": "Ana", "lastName": name, "dob": "1980-02-29"})
		s := seeker{c, p.ID}
		s.sees(true, "a create", exactly("lastName", name))
		c.delete(at).is(ok)
		s.sees(false, "a delete", possibly("lastName", name, "firstName", "Ana"))
	}
}

// findsUnderFaults creates and finds while one program after another is killed without warning. A find is right, or it is
// refused for the moment.
func findsUnderFaults(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	ctx, stop := context.WithCancel(t.Context())
	var right, refused, sent atomic.Int64
	var seekers sync.WaitGroup
	end := func() {
		stop()
		seekers.Wait()
	}
	defer end()
	for range 4 {
		seekers.Go(func() {
			for ctx.Err() == nil {
				name := fmt.Sprintf("Fault %06d", sent.Add(1))
				a, err := c.try(http.MethodPost, patients, name, but(map[string]any{"lastName": name}))
				if err != nil || a.status != ok {
					continue
				}
				var p shown
				if err := json.Unmarshal(a.raw, &p); err != nil {
					t.Error(err)
				}
				for ctx.Err() == nil && !c.findsUnderFault(name, p.ID, &right, &refused) {
				}
			}
		})
	}
	progress := func() {
		t.Helper()
		before := right.Load()
		eventually(t, time.Minute, func() bool { return right.Load() >= before+25 })
	}
	progress()
	for _, name := range []string{"matching", "patient", "matching.2", "patient.2", "tenant", "gateway", "postgres", "matching", "matching.2"} {
		if p := m.Process(name); p != nil {
			p.Kill()
			progress()
		}
	}
	end()
	t.Logf("%d finds were right and %d were refused while programs were killed", right.Load(), refused.Load())
	last := c.find(question{"lastName": "Lima", "exact": "true"})
	if last.TotalMatches > 0 {
		t.Errorf("%+v", last)
	}
}

// findsUnderFault asks once for whom was created, and tells whether there was an answer.
func (c *client) findsUnderFault(name string, id int64, right, refused *atomic.Int64) bool {
	a, err := c.try(http.MethodPost, findV3, "", map[string]any{"lastName": name, "exact": true})
	switch {
	case err != nil, a.status == http.StatusServiceUnavailable:
		refused.Add(1)
		return false
	case a.status != ok:
		c.t.Errorf("a find under faults was answered %d: %s", a.status, a.raw)
		return true
	}
	var f found
	if err := json.Unmarshal(a.raw, &f); err != nil || !f.has(id) {
		c.t.Errorf("a find under faults does not see a create that was answered: %s, %v", a.raw, err)
	}
	right.Add(1)
	return true
}

// findsWithoutDatabase: nobody can know what was committed, nor keep that it was asked: 503, and recovery by itself.
func findsWithoutDatabase(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	_, p := stored(c, but(map[string]any{"lastName": "Quintanilha"}))
	postgres := m.Process("postgres")
	if postgres == nil {
		t.Fatal("this mesh has no PostgreSQL of its own to stop")
	}
	postgres.Stop(t.Context())
	for _, exact := range []string{"true", "false"} {
		a := c.get(findV3 + "?lastName=Quintanilha&exact=" + exact).is(http.StatusServiceUnavailable)
		if a.header.Get("Retry-After") == "" {
			t.Errorf("no Retry-After: %s", a.raw)
		}
	}
	postgres.Start()
	heals(t, c)
	answered := 0 // in a row, so that all replicas are back
	eventually(t, time.Minute, func() bool {
		if answered++; c.get(findV3+"?lastName=Quintanilha").status != ok {
			answered = 0
		}
		return answered >= 10
	})
	seeker{c, p.ID}.sees(true, "after it came back", exactly("lastName", "Quintanilha"))
}
