package session

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Effect is the kind of the outbox messages whose payload is a Revocation.
const Effect = "session.revoke"

// What suits the effect of an outbox's options: a revocation may not wait.
const (
	EffectLease = 2 * time.Second // over which a program may be killed; then another, or its next run, takes it up
	EffectPause = time.Second     // between tries: a Redis that comes back may still hold what was ended
)

// Handler brings about the revocations that an outbox carries. It may be repeated.
func Handler(client redis.UniversalClient) func(ctx context.Context, payload []byte) error {
	return func(ctx context.Context, payload []byte) error {
		var r Revocation
		if err := json.Unmarshal(payload, &r); err != nil {
			return fmt.Errorf("read revocation: %w", err)
		}
		return Revoke(ctx, client, r)
	}
}
