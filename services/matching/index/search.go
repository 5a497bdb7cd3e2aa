package index

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/services/matching/index/posting"
)

// search finds candidates: those who share keys with a question and can, from what a glance tells, be an answer.
type search struct {
	x         *Index
	truncated bool
	everybody bool // is glanced at, since there are not so many

	worth    worth
	asked    []asked
	unread   [rules]int // keys of a rule that were not read; -1: the question has none
	some     []uint32   // numbers of a list
	tally    tally
	groups   []group
	sketches []sketch
	likely   []likely
	result   []uint32
	touched  uint64 // what was read ahead, so that it is read
}

// asked is a key of a question with those who have it.
type asked struct {
	key  key
	list posting.List
	n    int
}

// Bounds of the work for a question.
const (
	broad      = 4000 // a list longer than this is not read
	mostRead   = 8000 // numbers of all lists together
	mostScored = 400
	mostLists  = 64

	glanced     = 20_000 // with no more people everybody is glanced at
	mostGlanced = 60     // of those found by that
	beyond      = 4      // bits they must promise more than others
)

// likely is a candidate with the most that it can be worth.
type likely struct {
	ordinal uint32
	worth   float32
}

// candidates are the ordinals of those worth weighing, the likeliest first: all who can reach some bits.
func (s *search) candidates(p *linkage.Person, k *keyer, m *linkage.Model, least float64) []uint32 {
	s.ask(k.keys)
	s.worth.weigh(p, k, s.asked, s.x.people, m, least)
	s.truncated = false
	s.everybody = s.x.sketches.Len() <= 2*glanced && s.x.people <= glanced && s.worth.given&(ofFirst|ofLast|ofYear) != 0
	s.read()
	return s.choose()
}

// ask looks all keys up. Each look-up waits for memory, so they are made one step at a time for all: the waits overlap.
func (s *search) ask(keys []key) {
	for i := range s.unread {
		s.unread[i] = -1
	}
	for _, k := range keys {
		s.touched += s.x.lists.Touch(k.hash)
	}
	s.asked = s.asked[:0]
	for _, k := range keys {
		s.unread[k.rule] = max(s.unread[k.rule], 0)
		if list := s.x.lists.Of(k.hash); list.Len() > 0 {
			s.asked = append(s.asked, asked{k, list, list.Len()})
			s.unread[k.rule]++
		}
	}
	slices.SortFunc(s.asked, func(a, b asked) int { return cmp.Compare(a.n, b.n) })
	s.asked = s.asked[:min(len(s.asked), mostLists)]
}

// read tallies the lists, short ones first, as long as somebody who is in no list before can be an answer.
func (s *search) read() {
	most := 0
	for i := range s.asked {
		most += s.asked[i].n
	}
	s.tally.begin(min(most, mostRead))
	read := 0
	for i := range s.asked {
		a := &s.asked[i]
		if !s.worth.matters(a.key.rule, a.n, s.covered()) {
			continue
		}
		n := min(a.n, broad, mostRead-read)
		if n < a.n {
			s.truncated = true
			if read > 0 {
				continue
			}
		}
		s.some = a.list.Append(s.some[:0], n)
		s.tally.add(s.some, uint64(1)<<i)
		read += n
		s.unread[a.key.rule]--
	}
}

// covered are the rules whose keys were all read, or are nobody's.
func (s *search) covered() uint32 {
	of := uint32(0)
	for r, unread := range s.unread {
		if unread == 0 {
			of |= 1 << r
		}
	}
	return of
}

// choose puts those aside who cannot be an answer, and the likeliest others first.
func (s *search) choose() []uint32 {
	found := s.tally.found
	s.sketches = s.sketches[:0]
	for i := range found {
		s.sketches = append(s.sketches, s.x.sketch(found[i].ordinal))
	}
	s.groups, s.likely = s.groups[:0], s.likely[:0]
	w := &s.worth
	for i := range found {
		g := s.group(found[i].lists)
		if most := g.shared + w.most(s.sketches[i], g.facts); most >= w.needed {
			s.likely = append(s.likely, likely{found[i].ordinal, most})
		}
	}
	s.truncated = s.truncated || len(s.likely) > mostScored
	s.likely = best(s.likely, mostScored)
	if with := len(s.likely); s.everybody {
		s.glance()
		s.likely = s.likely[:with+len(best(s.likely[with:], mostGlanced))]
	}
	s.result = s.result[:0]
	for i := range s.likely {
		s.result = append(s.result, s.likely[i].ordinal)
	}
	return s.result
}

// best are the likeliest of some, the likeliest first.
func best(of []likely, most int) []likely {
	slices.SortFunc(of, func(a, b likely) int { return cmp.Compare(b.worth, a.worth) })
	return of[:min(len(of), most)]
}

// glance adds those who are in no list that was read, and can be an answer all the same: everything about them is damaged that
// keys are made of. There is no end of people of whom that could be said, so they have to look better than others.
func (s *search) glance() {
	w := &s.worth
	needed := w.needed + beyond
	ordinal := uint32(0)
	for _, piece := range s.x.sketches.Pieces() {
		for _, at := range piece {
			if w.born != 0 && w.strange(sketch(at)) {
				ordinal++
				continue
			}
			if most := w.most(sketch(at), 0); most >= needed && s.x.places.At(ordinal) != 0 && !s.tally.has(ordinal) {
				s.likely = append(s.likely, likely{ordinal, most})
			}
			ordinal++
		}
	}
}

// group are the candidates who are in the same lists.
type group struct {
	lists  uint64
	facts  fact
	shared float32 // what the lists tell is worth
}

func (s *search) group(lists uint64) *group {
	for i := range s.groups {
		if s.groups[i].lists == lists {
			return &s.groups[i]
		}
	}
	g, w := group{lists: lists}, &s.worth
	first, last, other := float32(0), float32(0), 0.0
	for left := lists; left != 0; left &= left - 1 {
		a := &s.asked[bits.TrailingZeros64(left)]
		facts := a.key.rule.facts()
		g.facts |= facts
		if facts&ofFirst != 0 {
			first = max(first, w.firsts[a.key.first].full)
		}
		if facts&ofLast != 0 {
			last = max(last, w.lasts[a.key.last].full)
		}
		if facts&ofElse != 0 {
			other += w.rarity(a.n)
		}
	}
	g.shared = first + last + float32(other)
	s.groups = append(s.groups, g)
	return &s.groups[len(s.groups)-1]
}

// tally counts in whose lists somebody is.
type tally struct {
	found []found
	cells []tallied
	turn  uint32
	shift uint
}

type found struct {
	lists   uint64 // by their place among those asked
	ordinal uint32
}

type tallied struct{ turn, ordinal, at uint32 }

// begin empties the tally and makes it large enough for some numbers.
func (t *tally) begin(most int) {
	t.found = t.found[:0]
	bits := uint(8)
	for 1<<bits < 2*most {
		bits++
	}
	if len(t.cells) < 1<<bits {
		t.cells, t.turn = make([]tallied, 1<<bits), 0
	}
	t.shift = 32 - bits
	if t.turn++; t.turn == 0 {
		clear(t.cells)
		t.turn = 1
	}
}

func (t *tally) add(ordinals []uint32, list uint64) {
	mask := uint32(1)<<(32-t.shift) - 1
	for _, o := range ordinals {
		at := o * 2654435769 >> t.shift
		for t.cells[at].turn == t.turn && t.cells[at].ordinal != o {
			at = (at + 1) & mask
		}
		c := &t.cells[at]
		if c.turn != t.turn {
			*c = tallied{t.turn, o, uint32(len(t.found))} //nolint:gosec // thousands at most
			t.found = append(t.found, found{ordinal: o})
		}
		t.found[c.at].lists |= list
	}
}

func (t *tally) has(ordinal uint32) bool {
	mask := uint32(1)<<(32-t.shift) - 1
	at := ordinal * 2654435769 >> t.shift
	for t.cells[at].turn == t.turn && t.cells[at].ordinal != ordinal {
		at = (at + 1) & mask
	}
	return t.cells[at].turn == t.turn
}
