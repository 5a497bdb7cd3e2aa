package door

import (
	"sync"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/cache/session"
)

// unknown remembers for a moment which tokens are none, apart from the sessions, so that a flood of them pushes out
// nobody. It is safe for concurrent use.
type unknown struct {
	mu      sync.Mutex
	entries map[session.Hash]int64 // until when, Unix nanoseconds
}

const (
	unknownLifetime = time.Second
	maxUnknown      = 16_384
)

func (u *unknown) has(h session.Hash, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	until, ok := u.entries[h]
	return ok && now.UnixNano() < until
}

func (u *unknown) add(h session.Hash, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.entries == nil || len(u.entries) >= maxUnknown {
		u.entries = map[session.Hash]int64{} // most of them are over anyway
	}
	u.entries[h] = now.Add(unknownLifetime).UnixNano()
}
