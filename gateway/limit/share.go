package limit

import "sync"

// Share bounds what is under way at a time, of everybody and of each. What streams lasts for minutes: a few callers who
// send slowly could hold all the places that there are. No bound is no limit. It is safe for concurrent use.
type Share struct {
	All, Each int

	mu    sync.Mutex
	total int
	held  map[string]int
}

// Take gives a place to one. The place is given back once, by calling leave; nil says that there is none.
func (s *Share) Take(who string) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.All > 0 && s.total >= s.All || s.Each > 0 && s.held[who] >= s.Each {
		return nil
	}
	if s.held == nil {
		s.held = map[string]int{}
	}
	s.total++
	s.held[who]++
	return func() { s.leave(who) }
}

func (s *Share) leave(who string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.held[who]--; s.held[who] == 0 {
		delete(s.held, who)
	}
}
