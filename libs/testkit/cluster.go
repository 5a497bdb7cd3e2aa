package testkit

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// RedisCluster is a Redis Cluster of a test's own: three masters, each with a replica where there are any.
type RedisCluster struct {
	URL   string // names one node: the others are found through it
	Nodes []*Node
}

const masters = 3

// StartRedisCluster starts one and returns when all of it agrees that it serves.
func StartRedisCluster(t testing.TB, replicas bool) *RedisCluster {
	t.Helper()
	s, count := newServers(t), masters
	if replicas {
		count *= 2
	}
	c := &RedisCluster{}
	for range count {
		c.Nodes = append(c.Nodes, s.start("",
			`save ""`, "appendonly no", "masterauth "+s.password, "cluster-enabled yes", "cluster-port $bus",
			"cluster-node-timeout 1500", // after that a master is given up
			"cluster-replica-validity-factor 0", "repl-diskless-sync-delay 0", "repl-ping-replica-period 1"))
	}
	c.URL = fmt.Sprintf("redis+cluster://:%s@%s", s.password, c.Nodes[0].Addr)
	c.join(t)
	return c
}

// join makes a cluster of nodes that do not know each other, as redis-cli --cluster create does.
func (c *RedisCluster) join(t testing.TB) {
	t.Helper()
	ctx := t.Context()
	const slots = 16384
	for i, n := range c.Nodes {
		do(t, n, "CLUSTER", "SET-CONFIG-EPOCH", i+1) // no two masters may have the same
		if i < masters {
			do(t, n, "CLUSTER", "ADDSLOTSRANGE", i*slots/masters, (i+1)*slots/masters-1)
		}
		if i > 0 {
			host, port, _ := net.SplitHostPort(n.Addr)
			do(t, c.Nodes[0], "CLUSTER", "MEET", host, port, n.bus)
		}
	}
	known := fmt.Sprintf("cluster_known_nodes:%d\r", len(c.Nodes))
	c.all(t, "nodes know each other", func(n *Node) bool { return strings.Contains(n.Client.ClusterInfo(ctx).Val(), known) })
	for i, n := range c.Nodes[masters:] {
		id := c.Nodes[i].Client.ClusterMyID(ctx).Val()
		Eventually(t, "a replica follows its master", func() bool { return n.Client.Do(ctx, "CLUSTER", "REPLICATE", id).Err() == nil })
	}
	c.all(t, "the cluster serves", func(n *Node) bool {
		seen := n.Client.ClusterNodes(ctx).Val()
		return strings.Contains(n.Client.ClusterInfo(ctx).Val(), "cluster_state:ok") &&
			strings.Count(seen, "slave") == len(c.Nodes)-masters && !strings.Contains(seen, "handshake")
	})
	for _, n := range c.Nodes[masters:] {
		following(ctx, t, n)
	}
}

// all waits until each node says so.
func (c *RedisCluster) all(t testing.TB, what string, holds func(*Node) bool) {
	t.Helper()
	for _, n := range c.Nodes {
		Eventually(t, what, func() bool { return holds(n) })
	}
}

// Master is the node that a client asks for a key just now.
func (c *RedisCluster) Master(t testing.TB, client redis.UniversalClient, key string) *Node {
	t.Helper()
	cluster, ok := client.(*redis.ClusterClient)
	if !ok {
		t.Fatalf("a client of %T does not know of clusters", client)
	}
	var addr string
	Eventually(t, "the client knows the master of "+key, func() bool {
		master, err := cluster.MasterForKey(t.Context(), key)
		if err == nil {
			addr = master.Options().Addr
		}
		return err == nil
	})
	for _, n := range c.Nodes {
		if n.Addr == addr {
			return n
		}
	}
	t.Fatalf("%s is no node of the cluster", addr)
	return nil
}

func do(t testing.TB, n *Node, args ...any) {
	t.Helper()
	if err := n.Client.Do(t.Context(), args...).Err(); err != nil {
		t.Fatalf("%v: %v", args[:2], err)
	}
}

// following waits until a replica has all that its master has.
func following(ctx context.Context, t testing.TB, replica *Node) {
	t.Helper()
	Eventually(t, "a replica follows its master", func() bool {
		return strings.Contains(replica.Client.Info(ctx, "replication").Val(), "master_link_status:up")
	})
}
