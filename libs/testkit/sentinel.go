package testkit

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// RedisSentinels is a master, its replica and three sentinels of a test's own.
type RedisSentinels struct {
	URL             string
	Master, Replica *Node // as they are at first
}

// StartRedisSentinels starts them and returns when the sentinels could agree on another master.
func StartRedisSentinels(t testing.TB) *RedisSentinels {
	t.Helper()
	const sentinels = 3
	s := newServers(t)
	data := []string{`save ""`, "appendonly no", "masterauth " + s.password, "repl-diskless-sync-delay 0", "repl-ping-replica-period 1"}
	master := s.start("", data...)
	host, port, _ := net.SplitHostPort(master.Addr)
	replica := s.start("", append(data, "replicaof "+host+" "+port)...)
	following(t.Context(), t, replica)

	all := make([]*Node, 0, sentinels)
	addrs := make([]string, 0, sentinels)
	for range sentinels {
		n := s.start("--sentinel",
			fmt.Sprintf("sentinel monitor main %s %s 2", host, port), "sentinel auth-pass main "+s.password,
			"sentinel sentinel-pass "+s.password, "sentinel down-after-milliseconds main 1000", "sentinel failover-timeout main 3000")
		all, addrs = append(all, n), append(addrs, n.Addr)
	}
	for _, n := range all {
		Eventually(t, "sentinels know each other and the replica", func() bool {
			told, err := n.Client.Do(t.Context(), "SENTINEL", "MASTER", "main").StringSlice()
			facts := strings.Join(told, " ")
			return err == nil && strings.Contains(facts, "num-other-sentinels 2") && strings.Contains(facts, "num-slaves 1")
		})
	}
	url := fmt.Sprintf("redis+sentinel://:%s@%s/main?password=%s", s.password, strings.Join(addrs, ","), s.password)
	return &RedisSentinels{URL: url, Master: master, Replica: replica}
}
