package door

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/cache/session"
)

// memoryLifetime is the longest that the process trusts what it remembers.
const memoryLifetime = 5 * time.Second

// memory is the process's own cache of sessions, bounded, in use only while revocations are heard of. It is safe for
// concurrent use.
type memory struct {
	live   atomic.Bool
	shards [shardCount]shard
	limit  int // entries of a shard

	mu  sync.Mutex // held for every change, so that none slips between a revocation and its log entry
	log [logLength]session.Revocation
	seq uint64 // revocations so far; the log holds the last of them
}

const (
	shardCount = 64
	logLength  = 1024
)

type shard struct {
	mu      sync.RWMutex
	entries map[session.Hash]held
}

type held struct {
	session *Session
	until   int64 // Unix nanoseconds
}

func newMemory(limit int) *memory {
	m := &memory{limit: max(1, limit/shardCount)}
	m.clear()
	return m
}

func (m *memory) shard(h session.Hash) *shard { return &m.shards[h[0]%shardCount] }

// get gives a session that is remembered and still fresh, else nil.
func (m *memory) get(h session.Hash, now time.Time) *Session {
	if !m.live.Load() {
		return nil
	}
	s := m.shard(h)
	s.mu.RLock()
	entry, ok := s.entries[h]
	s.mu.RUnlock()
	if !ok || now.UnixNano() >= entry.until {
		return nil
	}
	return entry.session
}

// now is the point in the log from which a refill has to be on its guard.
func (m *memory) now() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seq
}

// fate is what became of a session that was to be remembered.
type fate int

const (
	kept    fate = iota
	unsafe       // not remembered, since nobody can tell whether it was revoked meanwhile
	revoked      // not remembered, since it was
)

// put remembers a session that was learned after the point since in the log.
func (m *memory) put(s *Session, since uint64, now time.Time) fate {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.live.Load() || m.seq-since > logLength {
		return unsafe
	}
	for n := since; n < m.seq; n++ {
		if m.log[n%logLength].Covers(s.Hash, s.Principal) {
			return revoked
		}
	}
	at := m.shard(s.Hash)
	at.mu.Lock()
	defer at.mu.Unlock()
	if _, known := at.entries[s.Hash]; !known && len(at.entries) >= m.limit {
		for victim := range at.entries { // any will do: what is in use comes back from Redis
			delete(at.entries, victim)
			break
		}
	}
	at.entries[s.Hash] = held{session: s, until: now.Add(memoryLifetime).UnixNano()}
	return kept
}

// forget drops a session that may be learned again.
func (m *memory) forget(h session.Hash) {
	at := m.shard(h)
	at.mu.Lock()
	delete(at.entries, h)
	at.mu.Unlock()
}

// Revoked forgets what a revocation covers, and keeps refills under way from bringing it back.
func (m *memory) Revoked(r session.Revocation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log[m.seq%logLength] = r
	m.seq++
	if h, ok := r.Hash(); ok {
		at := m.shard(h)
		at.mu.Lock()
		delete(at.entries, h)
		at.mu.Unlock()
		return
	}
	for i := range m.shards {
		at := &m.shards[i]
		at.mu.Lock()
		for h, entry := range at.entries {
			if r.Covers(h, entry.session.Principal) {
				delete(at.entries, h)
			}
		}
		at.mu.Unlock()
	}
}

// Subscribed begins to remember, with nothing of before.
func (m *memory) Subscribed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gap()
	m.live.Store(true)
}

// Lost forgets everything, and remembers nothing until Subscribed.
func (m *memory) Lost() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.live.Store(false)
	m.gap()
}

// gap marks that revocations may have been missed.
func (m *memory) gap() {
	m.seq += logLength + 1
	m.clear()
}

func (m *memory) clear() {
	for i := range m.shards {
		at := &m.shards[i]
		at.mu.Lock()
		at.entries = map[session.Hash]held{}
		at.mu.Unlock()
	}
}

// size is how many sessions are remembered.
func (m *memory) size() int {
	n := 0
	for i := range m.shards {
		m.shards[i].mu.RLock()
		n += len(m.shards[i].entries)
		m.shards[i].mu.RUnlock()
	}
	return n
}
