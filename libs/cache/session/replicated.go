package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrAlone is a revocation that is written where it may still be lost: the master has replicas, and none of them has
// said in time that it has it. Were one of them to take the master's place now, the session would live again.
var ErrAlone = errors.New("no replica of Redis has the revocation yet")

// replicaPatience is how long a replica is waited for. One that hangs is given up by its master after repl-timeout.
const replicaPatience = 300 * time.Millisecond

// set writes a key where a master that dies cannot take it along: it waits for one replica, if there are any. alone is
// ErrAlone when none answered; the key is written for as long as this master lives.
func set(ctx context.Context, client redis.UniversalClient, key, value string, life time.Duration) (alone, err error) {
	node, err := master(ctx, client, key)
	if err != nil {
		return nil, err
	}
	// WAIT is about the writes of its own connection.
	conn := node.Conn()
	defer conn.Close() //nolint:errcheck // it goes back to its pool
	if err := conn.Set(ctx, key, value, life).Err(); err != nil {
		if cluster, ok := client.(*redis.ClusterClient); ok {
			cluster.ReloadState(ctx) // the key may have moved: the next try finds it
		}
		return nil, err
	}
	role, err := conn.Do(ctx, "ROLE").Slice()
	if err != nil || !hasReplicas(role) { // an imitation, or a user who may not ask, is taken for a Redis alone
		return nil, nil
	}
	reached, err := conn.Wait(ctx, 1, replicaPatience).Result()
	if err != nil {
		return nil, fmt.Errorf("wait for a replica: %w", err)
	}
	if reached == 0 {
		return ErrAlone, nil
	}
	return nil, nil
}

// master is the one node that takes writes of a key.
func master(ctx context.Context, client redis.UniversalClient, key string) (*redis.Client, error) {
	switch c := client.(type) {
	case *redis.ClusterClient:
		return c.MasterForKey(ctx, key)
	case *redis.Client:
		return c, nil
	default:
		return nil, fmt.Errorf("%T: %w", client, errKind)
	}
}

var errKind = errors.New("this is no client of one Redis, nor of a cluster")

// hasReplicas reads what ROLE answers: "master", its offset, and its replicas.
func hasReplicas(role []any) bool {
	if len(role) < 3 {
		return false
	}
	replicas, _ := role[2].([]any)
	return len(replicas) > 0
}
