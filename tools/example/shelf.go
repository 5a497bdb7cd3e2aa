package example

import (
	"crypto/rand"
	"sync"
	"time"
)

// shelf keeps visits under random ids for a while. It is bounded: when it is full the oldest goes. It is safe for
// concurrent use.
type shelf struct {
	mu      sync.Mutex
	entries map[string]entry
	life    time.Duration
	most    int
	now     func() time.Time
}

type entry struct {
	visit *visit
	until time.Time
}

func newShelf(life time.Duration, most int, now func() time.Time) *shelf {
	return &shelf{entries: map[string]entry{}, life: life, most: most, now: now}
}

func (s *shelf) put(v *visit) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.entries) >= s.most {
		oldest := ""
		for id, e := range s.entries {
			if oldest == "" || e.until.Before(s.entries[oldest].until) {
				oldest = id
			}
		}
		delete(s.entries, oldest)
	}
	id = rand.Text() + rand.Text() // 256 bits and a little
	s.entries[id] = entry{visit: v, until: s.now().Add(s.life)}
	return id
}

// get gives a visit that is kept and whose time is not over; nil for others.
func (s *shelf) get(id string) *visit {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entries[id]
	if !ok || !s.now().Before(e.until) {
		delete(s.entries, id)
		return nil
	}
	return e.visit
}

// take is get, and keeps the visit no longer. Of several that take it one gets it.
func (s *shelf) take(id string) *visit {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entries[id]
	delete(s.entries, id)
	if !ok || !s.now().Before(e.until) {
		return nil
	}
	return e.visit
}
