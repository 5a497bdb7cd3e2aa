package limit

import (
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/cache"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
)

// Budgets lie on all masters of a cluster, and each is one key: a script that asked for two would be refused (CROSSSLOT).
func TestBudgetsOfACluster(t *testing.T) {
	t.Parallel()
	cluster := testkit.StartRedisCluster(t, false)
	client, err := cache.Open(cluster.URL, cache.Telemetry{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	const burst = 3
	l := New(client, map[byte]Rate{kind: {PerSecond: 1, Burst: burst}}, 1000, time.Now)
	for n := range byte(100) {
		k := Key{Kind: kind, ID: [32]byte{n, '{', n, '}'}} // bytes of a hash may look like a tag
		passed := 0
		for range 10 {
			if ok, _ := l.Take(t.Context(), k); ok {
				passed++
			}
		}
		if passed < burst || passed > burst+1 {
			t.Errorf("%d passed a budget of %d", passed, burst)
		}
	}
	if l.away.Load() != 0 {
		t.Error("the cluster was taken to be away: budgets were local")
	}
	for i, node := range cluster.Nodes {
		if n := node.Client.DBSize(t.Context()).Val(); n == 0 {
			t.Errorf("node %d holds no budget", i)
		}
	}
}
