package index

import (
	"math"
	"math/bits"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// fact is a thing about a person that keys are made of, as one bit.
type fact uint16

const (
	ofFirst fact = 1 << iota
	ofLast
	ofSound // of the last name
	ofYear
	ofDay  // and month
	ofElse // telephone, e-mail, identifier, social security number, address

	damageable = ofFirst | ofLast | ofYear | ofDay
)

// facts are what the keys of a rule are made of.
func (r rule) facts() fact {
	switch r {
	case byBirth:
		return ofYear | ofDay
	case byNames:
		return ofFirst | ofLast | ofSound
	case bySoundYear:
		return ofSound | ofYear
	case bySoundDay:
		return ofSound | ofDay
	case byFirstYear:
		return ofFirst | ofYear
	case byFirstDay:
		return ofFirst | ofDay
	case byLast:
		return ofLast | ofSound
	case byFirst:
		return ofFirst
	default:
		return ofElse
	}
}

// worth is about what agreement with a question is worth, in bits and rather too much than too little: what a search goes by
// to leave aside what cannot be an answer. What it is really worth, the model says.
type worth struct {
	people             float64 // log2 of how many there are
	needed             float32 // of all that agrees, to be an answer
	first, last, birth float64 // of names the rarest one's
	middle             float64
	given              fact // what the question has of what can be damaged

	words         [2 * mostNames]word
	firsts, lasts []word   // among words
	born, turned  birthday // the question's, and that with month and day the other way round; zero: none
	initial, sex  uint32
}

// word is one of the names of a question.
type word struct {
	full, near      float32 // what it is worth, and what a name with an error is at most
	asFirst, asLast uint32  // its letters, as sketches have them
}

// What is credited where a field does not agree, at most: in bits, or as a share of what the field is worth. Errors come
// together in careless records, so what disagrees takes less away here than the model says of it alone.
const (
	nearName   = 0.6 // of a name with an error
	mostNear   = 7.0
	nearYear   = 9.5 // for the same year: day and month can have changed places
	nearDay    = 5.0 // for a day of birth with one other digit
	nickname   = 2.5 // for any other first name
	otherLast  = -2.0
	twoDigits  = 0.0 // for a day of birth of which two digits are others
	otherDay   = -4.0
	sameSex    = 1.0
	otherSex   = -1.0
	middleName = 7.0
	slack      = 2.0 // for all that is not looked at
)

// weigh estimates what a question's facts are worth from how many people have them.
func (w *worth) weigh(p *linkage.Person, k *keyer, asked []asked, people int, m *linkage.Model, least float64) {
	*w = worth{people: math.Log2(float64(max(people, 2))), initial: uint32(initialOf(p.Middle)), sex: uint32(p.Sex)}
	w.needed = float32(least - math.Log2(m.Prior.Matches) + w.people - slack)
	w.firsts, w.lasts = w.words[:len(k.firsts)], w.words[len(k.firsts):len(k.firsts)+len(k.lasts)]
	beside := m.Frequency.Names
	for i := range k.firsts {
		w.firsts[i].full = w.among(1, beside)
	}
	for i := range k.lasts {
		w.lasts[i].full = w.among(1, beside)
	}
	w.birth = float64(w.among(1, m.Frequency.Dates))
	for i := range asked {
		switch a := &asked[i]; a.key.rule {
		case byFirst:
			w.firsts[a.key.first].full = w.among(a.n, beside)
		case byLast:
			w.lasts[a.key.last].full = w.among(a.n, beside)
		case byBirth:
			w.birth = float64(w.among(a.n, m.Frequency.Dates))
		default: // tells only itself
		}
	}
	w.first, w.last = complete(w.firsts, k.firsts), complete(w.lasts, k.lasts)
	if len(k.firsts) > 0 {
		w.given |= ofFirst
	}
	if len(k.lasts) > 0 {
		w.given |= ofLast
	}
	if p.DOB != 0 {
		w.given |= ofYear | ofDay
		w.born = birthdayOf(p.DOB)
		if p.DOB.Day() <= 12 {
			w.turned = birthdayOf(p.DOB/10000*10000 + linkage.Date(p.DOB.Day()*100+p.DOB.Month())) //nolint:gosec // a day
		}
	}
	if w.initial != 0 {
		w.middle = middleName
	}
}

// complete fills in what follows from a word and its worth, and tells what the rarest is worth.
func complete(words []word, names []name) float64 {
	most := float32(0)
	for i := range words {
		n := &words[i]
		n.near, n.asFirst, n.asLast = float32(near(float64(n.full))), asFirst(names[i].letters), asLast(names[i].letters)
		most = max(most, n.full)
	}
	return float64(most)
}

// rarity is what it is worth to be one of some people.
func (w *worth) rarity(n int) float64 { return w.people - math.Log2(float64(n)) }

// among is that where a model counts on people beside those of the tenant, which makes what many of a few have rarer.
func (w *worth) among(n, beside int) float32 {
	return float32(math.Log2((math.Exp2(w.people) + float64(beside)) / float64(n)))
}

func near(name float64) float64 { return min(name*nearName, mostNear) }

// of is the most that somebody is worth of whom some facts are intact and others, of those the question has, damaged.
func (w *worth) of(damaged fact) float64 {
	sum := w.middle + sameSex
	credit := func(f fact, full, nearly float64) {
		switch {
		case w.given&f == 0:
		case damaged&f == 0:
			sum += full
		default:
			sum += nearly
		}
	}
	credit(ofFirst, w.first, near(w.first))
	credit(ofLast, w.last, near(w.last))
	switch born := damaged & (ofYear | ofDay); {
	case w.given&ofYear == 0:
	case born == 0:
		sum += w.birth
	case born == ofDay:
		sum += min(nearYear, w.birth)
	case born == ofYear:
		sum += min(nearDay, w.birth)
	default:
		sum += twoDigits
	}
	return sum
}

// How many are looked at without asking what for.
const (
	few  = 32
	fair = 256
)

// matters tells whether somebody who has a key but none of those read could be an answer. It goes through the ways in which
// what a question says of names and birth can be damaged in a record that has the key.
func (w *worth) matters(r rule, n int, read uint32) bool {
	if n <= few || r == byNames && n <= fair { // names also of those where they have changed places, whom no other key has
		return true
	}
	has := r.facts()
	extra, most := 0.0, 2
	if has&ofElse != 0 {
		extra = w.rarity(n)
	}
	if r >= byPhone && r < byPostal {
		most = 4 // these tell so much that all of names and birth can be damaged
	}
	open := w.given & damageable &^ has
	for damaged := open; ; damaged = (damaged - 1) & open { // all subsets (Knuth, 7.1.3)
		if bits.OnesCount16(uint16(damaged)) <= most && !covered(damaged, read) && w.of(damaged)+extra >= float64(w.needed) {
			return true
		}
		if damaged == 0 {
			return false
		}
	}
}

// covered tells whether somebody with some facts damaged has a key of those read. What else the question tells may be damaged
// or not be known of them, so only keys of names and birth count.
func covered(damaged fact, read uint32) bool {
	if damaged&ofLast != 0 {
		damaged |= ofSound
	}
	for r := byBirth; r <= byFirst; r++ {
		if read&(1<<r) != 0 && r.facts()&damaged == 0 {
			return true
		}
	}
	return false
}

// most is the most that somebody can be worth of whom some facts are known to agree, beside what those are worth.
func (w *worth) most(s sketch, agree fact) float32 {
	sum := w.names(s, agree) + sameSex
	if sex := s.sex(); sex != w.sex && sex != 0 && w.sex != 0 {
		sum += otherSex - sameSex
	}
	if w.born != 0 {
		sum += w.birthOf(s.birth())
	}
	if w.initial != 0 && w.initial == s.initial() {
		sum += middleName
	}
	return sum
}

// names is the most that the names can be worth that are not known to agree.
func (w *worth) names(s sketch, agree fact) float32 {
	first, last := float32(0), float32(0)
	if agree&ofFirst == 0 && len(w.firsts) > 0 {
		first = nickname
		for i := range w.firsts {
			n := &w.firsts[i]
			first = max(first, n.nearly(n.asFirst, s.first(), s&manyFirst != 0))
		}
	}
	if agree&ofLast == 0 && len(w.lasts) > 0 {
		last = otherLast
		for i := range w.lasts {
			n := &w.lasts[i]
			if last = max(last, n.nearly(n.asLast, s.last(), s&manyLast != 0)); agree&ofSound != 0 {
				last = max(last, n.near)
			}
		}
	}
	if agree&(ofFirst|ofLast) == 0 && len(w.firsts) > 0 && len(w.lasts) > 0 {
		return max(first+last, w.swapped(s))
	}
	return first + last
}

// strange tells of most people, quickly, that they have neither the day of birth nor the last name nearly.
func (w *worth) strange(s sketch) bool {
	b := s.birth()
	if b == 0 || b == w.turned || w.born.differ(b) < 3 {
		return false
	}
	first, last := s.first(), s.last()
	for i := range w.lasts {
		n := &w.lasts[i]
		if bits.OnesCount32(n.asLast&^last) < 3 || bits.OnesCount32(n.asFirst&^first) < 3 {
			return false
		}
	}
	return len(w.lasts) > 0
}

// swapped is what names are worth should they have changed places.
func (w *worth) swapped(s sketch) float32 {
	first, last := float32(unlike), float32(unlike)
	for i := range w.firsts {
		n := &w.firsts[i]
		first = max(first, n.nearly(n.asLast, s.last(), s&manyLast != 0))
	}
	for i := range w.lasts {
		n := &w.lasts[i]
		last = max(last, n.nearly(n.asFirst, s.first(), s&manyFirst != 0))
	}
	return first + last
}

// unlike is what a name is worth that cannot be the other.
const unlike = -100

// nearly is the most that a word is worth to somebody whose names have some letters.
func (n *word) nearly(letters, set uint32, many bool) float32 {
	missing := letters &^ set
	switch {
	case missing == 0 && (many || letters == set): // it can be the same
		return n.full
	case set == 0:
		return n.near
	}
	most := 1
	if bits.OnesCount32(letters) > 4 {
		most = 2
	}
	if bits.OnesCount32(missing) <= most && (many || bits.OnesCount32(set&^letters) <= most) {
		return n.near
	}
	return unlike
}

// birthOf is the most that a day of birth can be worth.
func (w *worth) birthOf(b birthday) float32 {
	if b == 0 {
		return 0
	}
	if b == w.turned && b != w.born {
		return float32(min(nearYear, w.birth))
	}
	switch w.born.differ(b) {
	case 0:
		return float32(w.birth)
	case 1:
		return float32(min(nearDay, w.birth))
	case 2:
		return twoDigits
	}
	return otherDay
}
