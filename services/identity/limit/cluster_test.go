package limit_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/cache"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/services/identity/limit"
	"github.com/patient-mesh/patient-mesh/services/identity/once"
)

// What counts and remembers attempts lies on all masters of a cluster, and each of them is one key.
func TestAttemptsOnACluster(t *testing.T) {
	t.Parallel()
	cluster := testkit.StartRedisCluster(t, false)
	client, err := cache.Open(cluster.URL, cache.Telemetry{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	c, used := limit.New(client), once.Memory{Redis: client}
	for n := range 50 {
		key := "k" + strconv.Itoa(n)
		take := func(want bool) {
			t.Helper()
			if wait, err := c.Take(t.Context(), key, 1, time.Minute); err != nil || (wait == 0) != want {
				t.Fatalf("wait %v, %v", wait, err)
			}
		}
		distinct := func(member string, want bool) {
			t.Helper()
			if wait, err := c.TakeDistinct(t.Context(), key+"/of", member, 1, time.Minute); err != nil || (wait == 0) != want {
				t.Fatalf("%s: wait %v, %v", member, wait, err)
			}
		}
		done := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		take(true)
		take(false)
		done(c.GiveBack(t.Context(), key))
		take(true)
		done(c.Forget(t.Context(), key))
		take(true)
		distinct("a", true)
		distinct("b", false)
		done(c.GiveBackDistinct(t.Context(), key+"/of", "a"))
		distinct("b", true)
		for _, want := range []bool{true, false} {
			if first, err := used.First(t.Context(), key, time.Minute); err != nil || first != want {
				t.Fatalf("first %v, %v", first, err)
			}
		}
	}
	for i, node := range cluster.Nodes {
		if n := node.Client.DBSize(t.Context()).Val(); n == 0 {
			t.Errorf("node %d holds nothing", i)
		}
	}
}
