package e2e

import (
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/cache"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// TestRedisOfManyNodes has a mesh with each of the ways to run Redis on more than one machine, and takes a machine away.
func TestRedisOfManyNodes(t *testing.T) {
	inside(t)
	t.Parallel()
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		cluster := testkit.StartRedisCluster(t, true)
		client, err := cache.Open(cluster.URL, cache.Telemetry{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		outlivesAMaster(t, cluster.URL, cluster.Master(t, client, "revocations").Kill) // whom the gateway listens to
	})
	t.Run("sentinels", func(t *testing.T) {
		t.Parallel()
		sentinels := testkit.StartRedisSentinels(t)
		outlivesAMaster(t, sentinels.URL, sentinels.Master.Kill)
	})
}

// outlivesAMaster does what needs Redis before, while and after a master of it is lost.
func outlivesAMaster(t *testing.T, redisURL string, kill func()) {
	m := private(t, mesh.Options{
		RedisURL: redisURL, DatabaseURL: os.Getenv("TEST_DATABASE_URL"),
		DatabasePrefix: fmt.Sprintf("redis%d_%.7s_", os.Getpid(), t.Name()[len("TestRedisOfManyNodes/"):]),
		EnvOf:          map[string]map[string]string{mesh.Gateway: {"LIMIT_CREDENTIAL_RATE": "20", "LIMIT_CREDENTIAL_BURST": "60"}},
	})
	staying, leaving := signInAt(t, m, first(m), publicClient(m)), signInAt(t, m, first(m), publicClient(m))
	path, _ := stored(staying.client(), ana())
	staying.client().get(path).is(ok)
	limited(t, m)

	before := signInAt(t, m, first(m), publicClient(m))
	before.client().post("/auth/user/logout", nil).is(ok)
	before.dies()
	kill()
	eventually(t, 10*time.Second, func() bool { return staying.client().get("/readyz").status == http.StatusServiceUnavailable })
	staying.client().get(path).is(ok) // identity is asked
	leaving.client().post("/auth/user/logout", nil).is(ok)
	leaving.dies()
	eventually(t, time.Minute, func() bool {
		for _, s := range []session{before, leaving} {
			if status := s.client().get(path).status; status != unauthorized {
				t.Fatalf("a session that ended is answered %d", status)
			}
		}
		if status := staying.client().get(path).status; status != ok && status != http.StatusTooManyRequests {
			t.Fatalf("a session that lives is answered %d", status)
		}
		return staying.client().get("/readyz").status == ok
	})

	again := signInAt(t, m, first(m), publicClient(m))
	again.client().get(path).is(ok)
	limited(t, m)
	again.client().post("/auth/user/logout", nil).is(ok)
	again.dies()
}

// limited asks more often than the other organization's credential may.
func limited(t *testing.T, m *mesh.Mesh) {
	t.Helper()
	c := at(t, m, m.Demo().Tenants[1].APIKey)
	var refused answer
	eventually(t, 30*time.Second, func() bool {
		refused = c.get("/v2/tenant")
		return refused.status == http.StatusTooManyRequests
	})
	if refused.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}
