// Package limit counts attempts in Redis, for all replicas together, in windows that begin with the first attempt. It
// does not know what is attempted.
package limit

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// Counters is identity.Limits. It is safe for concurrent use.
type Counters struct {
	client       redis.UniversalClient
	take, unique *redis.Script
	give         *redis.Script
}

var _ identity.Limits = (*Counters)(nil)

// Each script asks and counts in one step, so that attempts that come at once cannot all pass before one is counted. A
// refused attempt is not counted: otherwise whoever goes on trying would keep others out for good.
const (
	takeScript = `
		local n = tonumber(redis.call('GET', KEYS[1]) or '0')
		if n >= tonumber(ARGV[1]) then return math.max(redis.call('PTTL', KEYS[1]), 1) end
		if redis.call('INCR', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
		return 0`
	uniqueScript = `
		if redis.call('SISMEMBER', KEYS[1], ARGV[3]) == 1 then return 0 end
		local n = redis.call('SCARD', KEYS[1])
		if n >= tonumber(ARGV[1]) then return math.max(redis.call('PTTL', KEYS[1]), 1) end
		redis.call('SADD', KEYS[1], ARGV[3])
		if n == 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
		return 0`
	giveScript = `
		local n = tonumber(redis.call('GET', KEYS[1]) or '0')
		if n > 1 then redis.call('DECR', KEYS[1]) elseif n == 1 then redis.call('DEL', KEYS[1]) end
		return 0`
)

// New makes counters.
func New(client redis.UniversalClient) *Counters {
	return &Counters{client: client, take: redis.NewScript(takeScript), unique: redis.NewScript(uniqueScript), give: redis.NewScript(giveScript)}
}

const prefix = "attempts:"

// Take is identity.Limits'.
func (c *Counters) Take(ctx context.Context, key string, limit int, window time.Duration) (time.Duration, error) {
	return wait(c.take.Run(ctx, c.client, []string{prefix + key}, limit, window.Milliseconds()))
}

// TakeDistinct is identity.Limits'.
func (c *Counters) TakeDistinct(ctx context.Context, key, member string, limit int, window time.Duration) (time.Duration, error) {
	return wait(c.unique.Run(ctx, c.client, []string{prefix + key}, limit, window.Milliseconds(), member))
}

func wait(answer *redis.Cmd) (time.Duration, error) {
	ms, err := answer.Int64()
	return time.Duration(ms) * time.Millisecond, away(err)
}

// GiveBack is identity.Limits'.
func (c *Counters) GiveBack(ctx context.Context, key string) error {
	return away(c.give.Run(ctx, c.client, []string{prefix + key}).Err())
}

// GiveBackDistinct is identity.Limits'.
func (c *Counters) GiveBackDistinct(ctx context.Context, key, member string) error {
	return away(c.client.SRem(ctx, prefix+key, member).Err())
}

// Forget is identity.Limits'.
func (c *Counters) Forget(ctx context.Context, key string) error {
	return away(c.client.Del(ctx, prefix+key).Err())
}

func away(err error) error {
	if err == nil {
		return nil
	}
	return fault.Away(err, "Attempts cannot be counted just now; try again shortly.")
}
