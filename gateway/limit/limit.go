// Package limit bounds how often one credential, or one address, may ask. The budgets are kept in Redis, for all gateways
// together, and drawn from it a slice at a time, so that a steady caller costs no trip a request. Without Redis each
// gateway keeps budgets of its own. It does not know who asks, nor for what.
package limit

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
	"golang.org/x/time/rate"
)

// Rate is so many requests a second, and so many at once after a pause. No rate is no limit.
type Rate struct {
	PerSecond int
	Burst     int
}

// Key names a budget: what kind it is of, and whose.
type Key struct {
	Kind byte
	ID   [32]byte
}

// Limiter hands out requests. It is safe for concurrent use, and its memory is bounded.
type Limiter struct {
	rates  map[byte]Rate
	remote *redis_rate.Limiter
	now    func() time.Time
	away   atomic.Int64 // until when Redis is not asked, Unix nanoseconds
	shards [shardCount]shard
	limit  int // budgets of a shard
}

const (
	shardCount   = 64
	leaseTime    = time.Second            // what was drawn and not spent by then is lost
	maxDenied    = 250 * time.Millisecond // how long a refusal is repeated without looking again
	awayTime     = time.Second
	slicesASec   = 10 // the largest slice is a tenth of a second's budget
	remoteBudget = 100 * time.Millisecond
)

type shard struct {
	mu      sync.Mutex
	budgets map[Key]*budget
}

// budget is what this gateway holds of one key's.
type budget struct {
	mu      sync.Mutex
	left    int
	until   int64 // when the lease ends, Unix nanoseconds
	slice   int   // what was drawn last
	denied  int64 // refused until then, Unix nanoseconds
	standIn *rate.Limiter
}

// New makes a limiter with a rate for each kind of key, that keeps at most so many budgets in memory.
func New(client redis.UniversalClient, rates map[byte]Rate, maxBudgets int, now func() time.Time) *Limiter {
	l := &Limiter{rates: rates, remote: redis_rate.NewLimiter(client), now: now, limit: max(1, maxBudgets/shardCount)}
	for i := range l.shards {
		l.shards[i].budgets = map[Key]*budget{}
	}
	return l
}

// Take spends one request of a key's budget. When there is none left, wait says when there will be.
func (l *Limiter) Take(ctx context.Context, k Key) (ok bool, wait time.Duration) {
	r := l.rates[k.Kind]
	if r.PerSecond <= 0 {
		return true, 0
	}
	b := l.budget(k)
	b.mu.Lock()
	defer b.mu.Unlock()
	now := l.now()
	at := now.UnixNano()
	switch {
	case at < b.denied:
		return false, time.Duration(b.denied - at)
	case b.left > 0 && at < b.until:
		b.left--
		return true, 0
	case at < l.away.Load():
		return b.local(r, now)
	}
	return l.draw(ctx, k, r, b, now)
}

// draw gets a new slice. A caller that spent the last one in time gets twice as much, up to a tenth of a second's budget.
func (l *Limiter) draw(ctx context.Context, k Key, r Rate, b *budget, now time.Time) (bool, time.Duration) {
	if now.UnixNano() < b.until {
		b.slice = min(2*b.slice, max(1, r.PerSecond/slicesASec))
	} else {
		b.slice = 1
	}
	ctx, cancel := context.WithTimeout(ctx, remoteBudget)
	defer cancel()
	limits := redis_rate.Limit{Rate: r.PerSecond, Burst: max(r.Burst, 1), Period: time.Second}
	result, err := l.remote.AllowAtMost(ctx, string(append([]byte{k.Kind, ':'}, k.ID[:]...)), limits, b.slice)
	if err != nil {
		l.away.Store(now.Add(awayTime).UnixNano())
		return b.local(r, now)
	}
	if result.Allowed == 0 {
		b.left = 0
		wait := max(result.RetryAfter, time.Millisecond)
		b.denied = now.Add(min(wait, maxDenied)).UnixNano()
		return false, wait
	}
	b.left, b.until = result.Allowed-1, now.Add(leaseTime).UnixNano()
	return true, 0
}

// local is the budget that this gateway keeps alone while Redis is away.
func (b *budget) local(r Rate, now time.Time) (bool, time.Duration) {
	if b.standIn == nil {
		b.standIn = rate.NewLimiter(rate.Limit(r.PerSecond), max(r.Burst, 1))
	}
	if b.standIn.AllowN(now, 1) {
		return true, 0
	}
	return false, time.Duration(float64(time.Second) / float64(r.PerSecond))
}

func (l *Limiter) budget(k Key) *budget {
	s := &l.shards[k.ID[0]%shardCount]
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.budgets[k]
	if !ok {
		if len(s.budgets) >= l.limit {
			for victim := range s.budgets { // it loses a lease at most: the budget itself is in Redis
				delete(s.budgets, victim)
				break
			}
		}
		b = &budget{}
		s.budgets[k] = b
	}
	return b
}
