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
	}
	return ofElse
}

// worth is about what agreement with a question is worth, in bits and rather too much than too little: what a search goes by
// to leave aside what cannot be an answer. What it is really worth, the model says.
type worth struct {
	people             float64 // log2 of how many there are
	needed             float64 // of all that agrees, to be an answer
	first, last, birth float64 // of names the rarest one's
	middle             float64
	given              fact // what the question has of what can be damaged

	firsts, lasts [mostNames]word
	sketch        sketch
	digits        dayDigits
}

// word is one of the names of a question.
type word struct {
	worth   float64
	letters uint32
}

// What is credited where a field does not agree, at most: in bits, or as a share of what the field is worth.
const (
	nearName   = 0.7 // of a name with an error
	mostNear   = 11.0
	nearYear   = 9.5 // for the same year: day and month can have changed places
	nearDay    = 5.0 // for the same day of the year
	nickname   = 3.0 // for any other first name
	otherLast  = -1.0
	twoDigits  = 0.0 // for a day of birth of which two digits are others
	otherDay   = -3.0
	sameSex    = 1.0
	middleName = 8.0
	slack      = 2.0 // for all that is not looked at
)

// weigh estimates what a question's facts are worth from how many people have them.
func (w *worth) weigh(p *linkage.Person, k *keyer, asked []asked, people int, m *linkage.Model, least float64) {
	*w = worth{people: math.Log2(float64(max(people, 2)))}
	w.needed = least - math.Log2(m.Prior.Matches/math.Exp2(w.people)) - slack
	w.sketch = sketchOf(p)
	w.digits = digitsOf(w.sketch.birth())
	name := w.among(1, m.Frequency.Names)
	w.birth = w.among(1, m.Frequency.Dates)
	for i, n := range k.firsts {
		w.firsts[i] = word{name, fewer(n.letters, 18)}
	}
	for i, n := range k.lasts {
		w.lasts[i] = word{name, fewer(n.letters, 20)}
	}
	for i := range asked {
		switch a := &asked[i]; a.key.rule {
		case byFirst:
			w.firsts[a.key.first].worth = w.among(a.n, m.Frequency.Names)
		case byLast:
			w.lasts[a.key.last].worth = w.among(a.n, m.Frequency.Names)
		case byBirth:
			w.birth = w.among(a.n, m.Frequency.Dates)
		}
	}
	for i := range k.firsts {
		w.first, w.given = max(w.first, w.firsts[i].worth), w.given|ofFirst
	}
	for i := range k.lasts {
		w.last, w.given = max(w.last, w.lasts[i].worth), w.given|ofLast
	}
	if p.DOB != 0 {
		w.given |= ofYear | ofDay
	}
	if initialOf(p.Middle) != 0 {
		w.middle = middleName
	}
}

// rarity is what it is worth to be one of some people.
func (w *worth) rarity(n int) float64 { return w.people - math.Log2(float64(n)) }

// among is that where a model counts on people beside those of the tenant, which makes what many of a few have rarer.
func (w *worth) among(n, beside int) float64 {
	return math.Log2((math.Exp2(w.people) + float64(beside)) / float64(n))
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

// matters tells whether somebody who has a key but none of those read could be an answer. It goes through the ways in which
// what a question says of names and birth can be damaged in a record that has the key.
func (w *worth) matters(r rule, n int, read uint32) bool {
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
		if bits.OnesCount16(uint16(damaged)) <= most && !covered(damaged, read) && w.of(damaged)+extra >= w.needed {
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

// nearly is the most that a name can be worth of which no key in common was read.
func nearly(words *[mostNames]word, set uint32, many, sounds bool, other float64) float32 {
	most := other
	for i := range words {
		switch n := &words[i]; {
		case n.worth == 0:
		case n.letters == set || many && n.letters&^set == 0: // it can be the same
			most = max(most, n.worth)
		case sounds || set == 0 || alike(n.letters, set, many):
			most = max(most, near(n.worth))
		}
	}
	return float32(most)
}

// birthOf is the most that a day of birth can be worth.
func (w *worth) birthOf(s sketch) float32 {
	a, b := w.sketch.birth(), s.birth()
	switch differ := a ^ b; {
	case b == 0:
		return 0
	case differ == 0:
		return float32(w.birth)
	case differ>>9 == 0 && a>>5&15 == b&31 && b>>5&15 == a&31:
		return float32(min(nearYear, w.birth))
	}
	switch w.digits.differ(digitsOf(b)) {
	case 1:
		return float32(min(nearDay, w.birth))
	case 2:
		return twoDigits
	}
	return otherDay
}

// dayDigits are the last two digits of a year, the two of a month and those of a day, in four bits each.
type dayDigits uint32

func digitsOf(birth uint16) dayDigits {
	year := uint32(birth>>9-1900&127) % 100 // of the years from 1900 to 2027
	month, day := uint32(birth>>5&15), uint32(birth&31)
	return dayDigits(year/10<<20 | year%10<<16 | month/10<<12 | month%10<<8 | day/10<<4 | day%10)
}

// differ is how many digits are not the same.
func (d dayDigits) differ(e dayDigits) int {
	x := uint32(d ^ e)
	x |= x >> 1
	x |= x >> 2
	return bits.OnesCount32(x & 0x111111)
}
