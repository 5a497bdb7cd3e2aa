package index

import (
	"math/bits"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// letters are those of a question's names, by which sketches are told apart.
type letters struct {
	firsts, lasts         []word
	starts                []uint32 // letters of the beginnings of words
	firstSound, lastSound sounds
	nicknames             []uint32 // letters of the first name's
	nickname              uint32   // of any of these

	splits  []split
	initial uint32 // of the first name
	middle  uint32 // letters of the middle name; zero: none
}

// word is one of the names of a question.
type word struct {
	set, swapped uint32  // its letters, as sketches have them of names in its place, and in the other one's
	extra        [6]int8 // how many other letters a similar name may have, of how many of its own are missing; -1: none is similar
	from, until  int     // its starts
	single       bool
}

// sounds are what letters names have that sound like one of the question's.
type sounds struct {
	one  []uint32 // of each set
	none uint32
}

func (h *sounds) of(p *linkage.Part, fold func(uint32) uint32) {
	h.one = p.Sounds(h.one)
	for i := range h.one {
		h.one[i] = fold(h.one[i])
	}
	none := p.Silent()
	h.none = fold(none) &^ fold(^none&(1<<26-1)) // but for those that others are folded with
}

// can tells whether names of some letters can sound so. Those of several names tell only what must be there.
func (h *sounds) can(set uint32, many bool) bool {
	if !many && set&h.none != 0 {
		return false
	}
	for _, one := range h.one {
		if one&set == 0 {
			return false
		}
	}
	return true
}

// split is a first name taken for a first and a middle name.
type split struct{ first, initial uint32 } // initial: of the middle name; zero: whatever that is

func (l *letters) of(p *linkage.Person, now int64, parser *linkage.Parser, splits []linkage.Split) {
	l.firsts, l.lasts, l.starts, l.nicknames, l.nickname = l.firsts[:0], l.lasts[:0], l.starts[:0], l.nicknames[:0], 0
	l.splits = l.splits[:0]
	l.firstSound, l.lastSound = sounds{one: l.firstSound.one[:0]}, sounds{one: l.lastSound.one[:0]}
	l.initial, l.middle = 0, 0
	if !says(p.First) && !says(p.Last) {
		return
	}
	l.add(p.First, p.Last, parser)
	for i := range p.Aliases {
		if a := &p.Aliases[i]; holds(a.From, a.Until, now) {
			l.add(a.First, a.Last, parser)
		}
	}
	if says(p.Last) {
		l.lastSound.of(&p.Last.Parts[0], asLast)
	}
	if !says(p.First) {
		return
	}
	l.firstSound.of(&p.First.Parts[0], asFirst)
	l.initial = uint32(initialOf(p.First))
	for _, s := range splits {
		at := split{first: asFirst(lettersIn(s.First))}
		if s.Middle != "" {
			at.initial = uint32(initial(s.Middle))
		}
		l.splits = append(l.splits, at)
	}
	if says(p.Middle) {
		l.middle = asFirst(lettersIn(p.Middle.Whole))
	}
}

func says(t *linkage.Text) bool { return t != nil && !t.Missing && len(t.Parts) > 0 }

func (l *letters) add(first, last *linkage.Text, parser *linkage.Parser) {
	if says(first) {
		l.firsts = l.words(l.firsts, first, asFirst, asLast)
		parser.Nicknames(first, func(name string) {
			set := asFirst(lettersIn(name))
			l.nicknames, l.nickname = append(l.nicknames, set), l.nickname|set
		})
	}
	if says(last) {
		l.lasts = l.words(l.lasts, last, asLast, asFirst)
	}
}

func (l *letters) words(to []word, t *linkage.Text, fold, swapped func(uint32) uint32) []word {
	add := func(s string) {
		w := word{set: fold(lettersIn(s)), swapped: swapped(lettersIn(s)), from: len(l.starts), single: len(s) == 1}
		for missing := range w.extra {
			w.extra[missing] = int8(min(linkage.Extra(len(s), missing), 100)) //nolint:gosec // small
		}
		for n := 3; n < len(s); n++ {
			if set := fold(lettersIn(s[:n])); len(l.starts) == w.from || set != l.starts[len(l.starts)-1] {
				l.starts = append(l.starts, set)
			}
		}
		w.until = len(l.starts)
		to = append(to, w)
	}
	add(t.Whole)
	for i := range t.Parts {
		p := &t.Parts[i]
		if p.Text != t.Whole {
			add(p.Text)
		}
		if p.Alt != "" {
			add(p.Alt)
		}
	}
	return to
}

// How names are alike by their letters.
const (
	alikeNot = iota
	alikeNearly
	alikeByEdit
	alikeSame
)

// like tells how much like a word names of some letters can be.
func (l *letters) like(w *word, own, set uint32, many bool) int {
	missing, extra := bits.OnesCount32(own&^set), 0
	if !many {
		extra = bits.OnesCount32(set &^ own)
	}
	switch {
	case missing == 0 && extra == 0:
		return alikeSame
	case missing <= 1 && extra <= 1:
		return alikeByEdit
	case missing < len(w.extra) && extra <= int(w.extra[missing]):
		return alikeNearly
	case extra == 0:
		for _, start := range l.starts[w.from:w.until] {
			if set == start || many && start&^set == 0 {
				return alikeNearly
			}
		}
	}
	return alikeNot
}

func (l *letters) best(words []word, set uint32, many bool) int {
	best := alikeNot
	for i := range words {
		best = max(best, l.like(&words[i], words[i].set, set, many))
	}
	return best
}

// last are the odds of last names of somebody, who may be known to have one that sounds like the question's.
func (l *letters) last(n *linkage.NameOdds, s sketch, sounds bool) linkage.Odds {
	if len(l.lasts) == 0 {
		return linkage.Odds{}
	}
	set, many := s.last(), s&manyLast != 0
	return l.alike(n, l.lasts, set, many, sounds || l.lastSound.can(set, many))
}

// first are the odds of first names of somebody.
func (l *letters) first(n *linkage.NameOdds, s sketch) linkage.Odds {
	if len(l.firsts) == 0 {
		return n.Missing
	}
	set, many := s.first(), s&manyFirst != 0
	o := l.alike(n, l.firsts, set, many, l.firstSound.can(set, many))
	if s.initial() == l.initial || l.middle != 0 && is(l.middle, set, many) {
		o = o.Or(n.Middle)
	}
	return l.other(o, n, s)
}

// alike are the odds of names of some letters that may be like words, sound like them, be their initial, or not be known.
func (l *letters) alike(n *linkage.NameOdds, words []word, set uint32, many, sounds bool) linkage.Odds {
	o := n.Other
	if set == 0 || many {
		o = o.Or(n.Missing)
	}
	if bits.OnesCount32(set) <= 1 || many || words[0].single {
		o = o.Or(n.Initial)
	}
	if sounds {
		o = o.Or(n.Sound)
	}
	switch l.best(words, set, many) {
	case alikeSame:
		o = o.Or(n.Same).Or(n.Edit).Or(n.Similar)
	case alikeByEdit:
		o = o.Or(n.Edit).Or(n.Similar)
	case alikeNearly:
		o = o.Or(n.Similar)
	}
	return o
}

// other are the odds should the first name be a nickname, or two run together.
func (l *letters) other(o linkage.Odds, n *linkage.NameOdds, s sketch) linkage.Odds {
	set, many := s.first(), s&manyFirst != 0
	if many || set&^l.nickname == 0 {
		for _, name := range l.nicknames {
			if is(name, set, many) {
				o = o.Or(n.Nickname)
				break
			}
		}
	}
	initial := s.initial()
	for _, at := range l.splits {
		if (at.initial == 0 || at.initial == initial) && is(at.first, set, many) {
			o = o.Or(n.Together)
			break
		}
	}
	return o
}

// is tells whether names of some letters can be one of others.
func is(name, set uint32, many bool) bool {
	return name == set || many && name&^set == 0
}

// swapped tells whether the question's first name can be among somebody's last names, and the other way round.
func (l *letters) swapped(s sketch) (first, last bool) {
	for i := range l.firsts {
		first = first || l.like(&l.firsts[i], l.firsts[i].swapped, s.last(), s&manyLast != 0) >= alikeByEdit
	}
	for i := range l.lasts {
		last = last || l.like(&l.lasts[i], l.lasts[i].swapped, s.first(), s&manyFirst != 0) >= alikeByEdit
	}
	return first, last
}
