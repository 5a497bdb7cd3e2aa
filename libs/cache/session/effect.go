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

// EffectLease is the outbox lease that suits the effect: of a program that is killed over a revocation, another, or the
// next one, takes it up so soon.
const EffectLease = 2 * time.Second

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
