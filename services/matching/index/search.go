package index

import (
	"cmp"
	"slices"

	"github.com/patient-mesh/patient-mesh/services/matching/index/posting"
)

// search finds candidates: those who share keys with a question, most of all rare ones.
type search struct {
	lists     *posting.Lists
	people    int
	truncated bool

	asked  []asked
	some   []uint32
	tally  map[uint32]float32
	result []uint32
}

// asked is a key of a question with those who have it.
type asked struct {
	key  key
	list posting.List
	n    int
}

const (
	broad      = 1000 // a list longer than this is not read
	mostScored = 400
)

func (s *search) candidates(keys []key) []uint32 {
	s.asked, s.truncated = s.asked[:0], false
	for _, k := range keys {
		if list := s.lists.Of(k.hash); list.Len() > 0 {
			s.asked = append(s.asked, asked{k, list, list.Len()})
		}
	}
	slices.SortFunc(s.asked, func(a, b asked) int { return cmp.Compare(a.n, b.n) })
	s.tally = map[uint32]float32{}
	for _, a := range s.asked {
		if a.n > broad {
			s.truncated = len(s.tally) == 0
			continue
		}
		s.some = a.list.Append(s.some[:0], broad)
		for _, o := range s.some {
			s.tally[o] += 1
		}
	}
	s.result = s.result[:0]
	for o := range s.tally {
		s.result = append(s.result, o)
	}
	slices.SortFunc(s.result, func(a, b uint32) int { return cmp.Compare(s.tally[b], s.tally[a]) })
	if len(s.result) > mostScored {
		s.result = s.result[:mostScored]
	}
	return s.result
}
