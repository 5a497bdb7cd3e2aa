// Package once remembers in Redis what may be used once, for as long as it could be used again. It does not know what
// that is.
package once

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Memory is shared by all replicas. It is safe for concurrent use.
type Memory struct {
	Redis redis.UniversalClient
}

// First reports whether the key is seen for the first time within its lifetime. A Redis that is away is a fault of kind
// Unavailable: nobody can tell then, and what may be used once is not used.
func (m Memory) First(ctx context.Context, key string, lifetime time.Duration) (bool, error) {
	err := m.Redis.SetArgs(ctx, "once:"+key, 1, redis.SetArgs{Mode: "NX", TTL: lifetime}).Err()
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, redis.Nil):
		return false, nil
	}
	return false, fault.Away(fmt.Errorf("remember use: %w", err), "Something that the server needs is away; try again shortly.")
}
