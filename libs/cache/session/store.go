package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Store reads and fills sessions; gateways use it. It is safe for concurrent use.
type Store struct {
	Redis redis.UniversalClient
}

// State is what Redis knows of a session.
type State int

// The states.
const (
	Unknown State = iota // identity has to be asked
	Live
	Ended // revoked a moment ago
)

// Look is what was found. Mark goes into Keep: it tells when, among revocations, the look was.
type Look struct {
	State     State
	Principal principal.Principal // of a live session
	Mark      string
}

// entry is a session's value.
type entry struct {
	Principal principal.Principal `json:"p"`
	Epochs    []string            `json:"e"` // of epochs(Principal), in their order; "" where there was none
}

// Find looks a session up. One that is out of date because its user's or tenant's sessions were ended is removed, and
// counts as unknown. Errors are Redis'.
func (s Store) Find(ctx context.Context, h Hash) (Look, error) {
	values, err := s.values(ctx, sessionKey(h), allEpochs)
	if err != nil {
		return Look{}, fmt.Errorf("find session: %w", err)
	}
	raw, look := values[0], Look{Mark: values[1]}
	switch raw {
	case "":
		return look, nil
	case tombstone:
		look.State = Ended
		return look, nil
	}
	var e entry
	if json.Unmarshal([]byte(raw), &e) == nil { // what an older release wrote otherwise is removed
		now, err := s.values(ctx, epochs(e.Principal)...)
		if err != nil {
			return Look{}, fmt.Errorf("find epochs: %w", err)
		}
		if slices.Equal(now, e.Epochs) {
			look.State, look.Principal = Live, e.Principal
			return look, nil
		}
	}
	if err := removeUnchanged.Run(ctx, s.Redis, []string{sessionKey(h)}, raw).Err(); err != nil {
		return Look{}, fmt.Errorf("remove session: %w", err)
	}
	return look, nil
}

// removeUnchanged deletes a key if it still holds the value: a tombstone put there meanwhile stays.
//
//nolint:gochecknoglobals // a constant, which Go cannot say of a script
var removeUnchanged = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

// Drop removes what is kept of a session, so that identity is asked next. A tombstone stays.
func (s Store) Drop(ctx context.Context, h Hash) error {
	if err := removeLive.Run(ctx, s.Redis, []string{sessionKey(h)}, tombstone).Err(); err != nil {
		return fmt.Errorf("drop session: %w", err)
	}
	return nil
}

//nolint:gochecknoglobals // a constant, which Go cannot say of a script
var removeLive = redis.NewScript(`if redis.call("GET", KEYS[1]) ~= ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

// Kept says what became of a principal that was to be kept.
type Kept int

// The outcomes of Keep.
const (
	Stored   Kept = iota // or another gateway was first
	Passed               // something was revoked since the look: look and ask again
	WasEnded             // the session was revoked since the look
)

// Keep stores what identity said, which was asked after the look that gave mark. A revocation that came in between
// prevents it. The principal lives for Lifetime, and not past its own expiry.
func (s Store) Keep(ctx context.Context, h Hash, p principal.Principal, mark string, now time.Time) (Kept, error) {
	seen, err := s.values(ctx, epochs(p)...)
	if err != nil {
		return Passed, fmt.Errorf("read epochs: %w", err)
	}
	// After the epochs, never before or beside them: see moveOn.
	after, err := s.values(ctx, allEpochs)
	if err != nil {
		return Passed, fmt.Errorf("read epochs: %w", err)
	}
	if after[0] != mark {
		return Passed, nil
	}
	life := Lifetime
	if !p.ExpiresAt.IsZero() {
		life = min(life, p.ExpiresAt.Sub(now).Truncate(time.Millisecond))
	}
	if life <= 0 {
		return Stored, nil // expired: not kept, and refused by whoever looks at the time
	}
	raw, err := json.Marshal(entry{Principal: p, Epochs: seen})
	if err != nil {
		return Passed, fmt.Errorf("write session: %w", err)
	}
	was, err := s.Redis.SetArgs(ctx, sessionKey(h), raw, redis.SetArgs{Mode: "NX", Get: true, TTL: life}).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return Stored, nil
	case err != nil:
		return Passed, fmt.Errorf("keep session: %w", err)
	case was == tombstone:
		return WasEnded, nil
	default:
		return Stored, nil
	}
}

// values gets keys in one trip; "" is a key that is not there.
func (s Store) values(ctx context.Context, keys ...string) ([]string, error) {
	values := make([]string, len(keys))
	if len(keys) == 0 {
		return values, nil
	}
	commands, err := s.Redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, k := range keys {
			p.Get(ctx, k)
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	for i, c := range commands {
		text, err := c.(*redis.StringCmd).Result() //nolint:forcetypeassert // made by Get above
		if err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
		values[i] = text
	}
	return values, nil
}
