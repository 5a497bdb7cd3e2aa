package door

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// attempts is how often a refill begins again because something was revoked while it was under way.
const attempts = 4

// load finds a session in Redis, else asks identity, and keeps what it found where that is safe. What was learned before
// a revocation is never kept after it: Redis sees to it by marks and tombstones (package session), the process by its
// log of revocations. Caught by one, the refill begins again.
func (d *Door) load(ctx context.Context, hash session.Hash, token string) (*Session, error) {
	for range attempts {
		since := d.memory.now()
		p, stored, err := d.find(ctx, hash, token)
		if fault.Is(err, fault.Unauthenticated) {
			d.unknown.add(hash, d.opts.Now())
			return nil, err
		}
		if err != nil {
			return nil, err
		}
		if stored == session.Passed {
			continue // before the process remembers it, for which the message may not have come yet
		}
		s := &Session{Hash: hash, Budget: budget(p), Principal: p, Encoded: principal.Encode(p)}
		switch d.memory.put(s, since, d.opts.Now()) {
		case revoked:
			continue
		case kept, unsafe:
		}
		return s, nil
	}
	return nil, fault.Away(nil, "The credential could not be checked just now.")
}

// find is one way through Redis and identity. Without Redis identity is asked each time, a few at once.
func (d *Door) find(ctx context.Context, hash session.Hash, token string) (principal.Principal, session.Kept, error) {
	look, redis := session.Look{}, !d.redis.lasts(d.opts.Now())
	if redis {
		var err error
		if look, err = d.store.Find(ctx, hash); err != nil {
			d.redis.begin(d.opts.Now())
			d.meters.count(ctx, redisAway)
			redis = false
		}
	}
	switch look.State {
	case session.Live:
		d.meters.count(ctx, inRedis)
		return look.Principal, session.Stored, nil
	case session.Ended:
		d.meters.count(ctx, ended)
		return principal.Principal{}, session.WasEnded, invalidToken()
	case session.Unknown:
	}
	p, err := d.ask(ctx, token)
	if err != nil || !redis {
		return p, session.Stored, err
	}
	kept, err := d.store.Keep(ctx, hash, p, look.Mark, d.opts.Now())
	if err != nil {
		d.redis.begin(d.opts.Now())
		return p, session.Stored, nil //nolint:nilerr // identity's word is good; it is only not kept
	}
	if kept == session.WasEnded {
		return principal.Principal{}, kept, invalidToken()
	}
	return p, kept, nil
}

// ask puts the question to identity, unless too many are under way.
func (d *Door) ask(ctx context.Context, token string) (principal.Principal, error) {
	select {
	case d.asking <- struct{}{}:
		defer func() { <-d.asking }()
	case <-ctx.Done():
		return principal.Principal{}, fault.Away(errBusy, "The credential could not be checked just now.")
	}
	p, err := d.identity.Credential(ctx, token)
	switch {
	case err == nil:
		d.meters.count(ctx, asked)
		return p, nil
	case fault.Is(err, fault.NotFound):
		d.meters.count(ctx, notFound)
		return p, invalidToken()
	default:
		d.meters.count(ctx, identityAway)
		return p, fault.Away(err, "The credential could not be checked just now.")
	}
}

// outage remembers for a moment that Redis does not answer, so that not every request waits for it in vain.
type outage struct{ until atomic.Int64 }

const outageMemory = 500 * time.Millisecond

func (o *outage) begin(now time.Time)      { o.until.Store(now.Add(outageMemory).UnixNano()) }
func (o *outage) lasts(now time.Time) bool { return now.UnixNano() < o.until.Load() }
