package identity

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// The pace at which uses of keys are written down, and how many may wait. A use that finds no place is noted another
// time: it is coarse on purpose.
const (
	usesEvery = 30 * time.Second
	mostUses  = 10_000
)

// UseStore keeps when keys were used last.
type UseStore interface {
	// TouchKeys notes that a tenant's keys were in use at a time.
	TouchKeys(ctx context.Context, tenant string, ids []string, at time.Time) error
}

// Uses gathers when keys were used and writes it down now and then, off the path of requests. It is safe for
// concurrent use.
type Uses struct {
	store UseStore
	log   *slog.Logger
	mu    sync.Mutex
	noted map[string]map[string]struct{} // key ids by tenant
	count int
	at    time.Time // the latest use
}

// NewUses makes an empty gathering.
func NewUses(store UseStore, log *slog.Logger) *Uses {
	return &Uses{store: store, log: log, noted: map[string]map[string]struct{}{}}
}

// Note remembers that a key was used.
func (u *Uses) Note(tenant, id string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.at = now
	if u.count >= mostUses {
		return
	}
	keys := u.noted[tenant]
	if keys == nil {
		keys = map[string]struct{}{}
		u.noted[tenant] = keys
	}
	if _, ok := keys[id]; !ok {
		keys[id] = struct{}{}
		u.count++
	}
}

// Run writes down what was noted until ctx ends, and once more at the end.
func (u *Uses) Run(ctx context.Context) error {
	ticker := time.NewTicker(usesEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			u.Flush(end)
			return ctx.Err()
		case <-ticker.C:
			u.Flush(ctx)
		}
	}
}

// Flush writes down what was noted since the last time. What cannot be written is forgotten.
func (u *Uses) Flush(ctx context.Context) {
	u.mu.Lock()
	noted, at := u.noted, u.at
	u.noted, u.count = map[string]map[string]struct{}{}, 0
	u.mu.Unlock()
	for tenant, keys := range noted {
		ids := make([]string, 0, len(keys))
		for id := range keys {
			ids = append(ids, id)
		}
		if err := u.store.TouchKeys(ctx, tenant, ids, at); err != nil {
			u.log.WarnContext(ctx, "last use of keys not written down", "keys", len(ids), "error", err.Error())
			return
		}
	}
}
