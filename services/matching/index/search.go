package index

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/services/matching/index/posting"
)

// search finds candidates: those who share keys with a question and can, from what a glance tells, be an answer.
type search struct {
	x         *Index
	truncated bool         // a list was not read to its end, or not at all
	cut       float64      // the most bits of those who can be answers and are not weighed
	everybody bool         // is glanced at, since there are not so many
	beside    linkage.Odds // what people are credited with of whom only a key is known
	most      int          // of what a question says of names and birth is damaged

	worth    worth
	asked    []asked
	unread   [rules]int // keys of a rule that were not read; -1: the question has none
	some     []uint32   // numbers of a list
	tally    tally
	groups   []group
	sketches []sketch
	likely   []likely
	others   []likely
	touched  uint64 // what was read ahead, so that it is read
}

// asked is a key of a question with those who have it.
type asked struct {
	key  key
	list posting.List
	n    int
	read bool
}

// Bounds of the work for a question.
const (
	broad      = 4000 // a list longer than this is not read
	mostRead   = 8000 // numbers of all lists together
	mostScored = 400
	mostLists  = 64

	glanced     = 20_000 // with no more people everybody is glanced at
	mostGlanced = 2500   // and so many are scored
)

// likely is a candidate with the most that it can be worth.
type likely struct {
	ordinal uint32
	most    float64 // bits
}

// candidates finds those worth weighing. Of those who reach the bits only by fields of which nothing tells how far they agree it
// makes others. Lists are left unread that matter only for people of whom more than two of names, year and day of birth are damaged,
// or who agree nearly elsewhere.
func (s *search) candidates(q *linkage.Question, k *keyer, now int64, least float64) {
	s.ask(k.keys)
	s.worth.weigh(q, now, s.x.parser, least)
	s.truncated, s.most, s.beside = false, 2, linkage.Odds{}
	s.everybody = s.x.sketches.Len() <= 2*glanced && s.x.people <= glanced && s.worth.given&(ofFirst|ofLast|ofYear) != 0
	s.read()
	s.choose()
}

// all is candidates again, of whatever lists matter for anybody.
func (s *search) all() {
	for i := range s.asked {
		if a := &s.asked[i]; a.read {
			s.unread[a.key.rule]++
			a.read = false
		}
	}
	s.truncated, s.most, s.beside = false, 4, s.worth.nearly
	s.read()
	s.choose()
}

// complete tells whether no list was left unread that matters for anybody.
func (s *search) complete() bool {
	read := s.covered()
	for i := range s.asked {
		if a := &s.asked[i]; !a.read && s.worth.matters(a, read, 4, s.worth.nearly) {
			return false
		}
	}
	return true
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
			s.asked = append(s.asked, asked{key: k, list: list, n: list.Len()})
			s.unread[k.rule]++
		}
	}
	slices.SortFunc(s.asked, func(a, b asked) int { return cmp.Compare(a.n, b.n) })
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
		if !s.worth.matters(a, s.covered(), s.most, s.beside) {
			continue
		}
		if i >= mostLists {
			s.truncated = true
			break
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
		a.read = true
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

// choose puts those aside who cannot be an answer.
func (s *search) choose() {
	found := s.tally.found
	s.sketches = s.sketches[:0]
	for i := range found {
		s.sketches = append(s.sketches, s.x.sketch(found[i].ordinal))
	}
	s.groups, s.likely, s.others = s.groups[:0], s.likely[:0], s.others[:0]
	s.cut = math.Inf(-1)
	for i := range found {
		s.judge(found[i].ordinal, s.sketches[i], s.group(found[i].lists))
	}
	if s.everybody {
		s.glance()
	}
	s.likely = s.best(s.likely)
}

// best are the likeliest of some, the likeliest first. What the others can reach is remembered.
func (s *search) best(of []likely) []likely {
	slices.SortFunc(of, func(a, b likely) int { return cmp.Compare(b.most, a.most) })
	most := mostScored
	if s.everybody {
		most = mostGlanced
	}
	if len(of) <= most {
		return of
	}
	s.cut = max(s.cut, of[most].most)
	return of[:most]
}

// judge takes somebody for a candidate who can be an answer.
func (s *search) judge(ordinal uint32, at sketch, g *group) {
	w := &s.worth
	odds, ok := w.most(at, g.facts, g.shared.And(g.unsure))
	if !ok {
		return
	}
	odds = odds.And(g.shared)
	if w.bound.Reaches(odds) {
		s.likely = append(s.likely, likely{ordinal, w.bound.Most(odds)})
	} else {
		s.others = append(s.others, likely{ordinal, w.bound.Most(odds.And(g.unsure))})
	}
}

// glance judges those, too, who are in no list that was read: all that keys are made of is damaged.
func (s *search) glance() {
	nobody := *s.group(0)
	ordinal := uint32(0)
	for _, piece := range s.x.sketches.Pieces() {
		for _, at := range piece {
			if s.worth.can(sketch(at), nobody.unsure) && s.x.places.At(ordinal) != 0 && !s.tally.has(ordinal) {
				s.judge(ordinal, sketch(at), &nobody)
			}
			ordinal++
		}
	}
}

// group are the candidates who are in the same lists.
type group struct {
	lists  uint64
	facts  fact
	shared linkage.Odds // what the lists tell is worth
	unsure linkage.Odds // what one field can be worth beside of which the lists do not tell
}

func (s *search) group(lists uint64) *group {
	for i := range s.groups {
		if s.groups[i].lists == lists {
			return &s.groups[i]
		}
	}
	g, in := group{lists: lists}, uint32(0)
	for left := lists; left != 0; left &= left - 1 {
		r := s.asked[bits.TrailingZeros64(left)].key.rule
		g.facts |= r.facts()
		in |= 1 << r
	}
	for r := byPhone; r <= byPostal; r++ {
		switch {
		case in&(1<<r) != 0:
			g.shared = g.shared.And(s.worth.equal[r])
		case s.unread[r] > 0:
			g.unsure = g.unsure.Or(s.worth.equal[r])
		default:
			g.unsure = g.unsure.Or(s.worth.near[r])
		}
	}
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
