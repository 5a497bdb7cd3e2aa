package index

import (
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

// worth is the most that agreement with a question can be worth, by the model and by what lists and sketches tell of somebody:
// what a search goes by to leave aside who cannot be an answer. It is never less than what the model makes of the record.
type worth struct {
	bound    linkage.Bound
	names    letters
	splits   []linkage.Split
	first    [linkage.Sexes]linkage.NameOdds // sex included
	last     linkage.NameOdds
	firstAll [linkage.Sexes]linkage.Odds // with a word of the question's, or whatever it is like
	lastAll  linkage.Odds
	swapped  [linkage.Sexes]linkage.Odds // both names
	crossed  [linkage.Sexes]linkage.Odds // one of them
	anyNames [linkage.Sexes]linkage.Odds // whatever they are like

	alike, unlike linkage.Odds // of the middle name
	suffix        linkage.Odds
	days          linkage.DayOdds
	equal, near   [rules]linkage.Odds // of what is neither of names nor of birth or sex
	nearly        linkage.Odds        // of all of that, should nothing be equal

	any, anyFirst, changedNames linkage.Odds // whatever names and sex are like
	rest                        linkage.Odds // whatever the middle name is like
	given                       fact         // what the question has of what can be damaged
	damaged                     [damageable + 1]linkage.Odds
	intact                      [damageable + 1]uint32 // see intacts
	born, turned                birthday               // the question's, and that with month and day the other way round; zero: none
	initial, sex                uint32
	vague                       bool // the question's day is a first of January
}

// weigh asks a model what agreement with a question can be worth.
func (w *worth) weigh(q *linkage.Question, now int64, parser *linkage.Parser, least float64) {
	p := q.Person
	w.bound = q.Bound(least)
	w.splits = q.Splits(w.splits[:0])
	w.names.of(p, now, parser, w.splits)
	w.last, w.days = q.Last(), w.bound.Days()
	w.lastAll = w.last.Same.Or(w.last.Any())
	first := q.First(w.splits)
	both, one := q.Swapped()
	for sex := range w.first {
		named, alone := q.Sex(sex)
		n := &w.first[sex]
		*n = first.With(named, alone)
		w.firstAll[sex] = n.Same.Or(n.Any())
		w.swapped[sex], w.crossed[sex] = both.And(named), one.And(named)
		w.anyNames[sex] = w.firstAll[sex].And(w.lastAll).Or(w.swapped[sex]).Or(w.crossed[sex])
	}
	w.alike, w.unlike = q.Middle()
	w.suffix = q.Suffix()
	w.nearly = linkage.Odds{}
	for r := byPhone; r <= byPostal; r++ {
		at := elsewhere[r]
		w.equal[r], w.near[r] = q.Elsewhere(at)
		w.nearly = w.nearly.Or(w.near[r])
	}
	w.initial, w.sex = uint32(initialOf(p.Middle)), uint32(p.Sex)
	w.born, w.turned, w.vague, w.given = 0, 0, p.DOB.Vague(), 0
	if len(w.names.firsts) > 0 {
		w.given |= ofFirst
	}
	if len(w.names.lasts) > 0 {
		w.given |= ofLast
	}
	if p.DOB != 0 {
		w.given |= ofYear | ofDay
		w.born = birthdayOf(p.DOB)
		if p.DOB.Day() <= 12 {
			w.turned = birthdayOf(p.DOB/10000*10000 + linkage.Date(p.DOB.Day()*100+p.DOB.Month())) //nolint:gosec // a day
		}
	}
	w.damages()
}

// elsewhere are the rules whose keys are of neither names nor birth.
var elsewhere = [rules]int{ //nolint:gochecknoglobals // constants, which Go has none of
	byPhone: linkage.AtPhone, byEmail: linkage.AtEmail, byNumber: linkage.AtNumber, bySSN: linkage.AtSSN, byDoor: linkage.AtDoor, byPostal: linkage.AtPostal,
}

// damages works out what somebody is worth at most of whom some facts are intact and others, of those the question has, damaged.
func (w *worth) damages() {
	var first, all, swapped linkage.Odds
	for sex := range w.first {
		if sex == 0 {
			first, all, swapped = w.first[sex].Any(), w.firstAll[sex], w.swapped[sex].Or(w.crossed[sex])
		}
		first, all = first.Or(w.first[sex].Any()), all.Or(w.firstAll[sex])
		swapped = swapped.Or(w.swapped[sex]).Or(w.crossed[sex])
	}
	last := w.last.Any()
	w.rest = w.alike.Or(linkage.Odds{}).And(w.suffix)
	w.any, w.anyFirst, w.changedNames = all.And(w.lastAll).Or(swapped), all, swapped
	for damaged := range damageable + 1 {
		if damaged&^w.given != 0 {
			continue
		}
		o, family := first, last
		if damaged&ofFirst == 0 {
			o = all
		}
		if damaged&ofLast == 0 {
			family = w.lastAll
		}
		if o = o.And(family); damaged&(ofFirst|ofLast) == ofFirst|ofLast {
			o = o.Or(swapped)
		}
		w.damaged[damaged] = o.And(w.birth(damaged)).And(w.rest)
	}
}

func (w *worth) birth(damaged fact) linkage.Odds {
	switch {
	case w.born == 0:
		return linkage.Odds{}
	case damaged&(ofYear|ofDay) == 0:
		return w.days.Same
	case damaged&ofYear == 0: // or there is none: see unborn
		return w.days.Swapped.Or(linkage.Odds{})
	case damaged&ofDay == 0 || w.born.borders():
		return w.days.Edit
	}
	return w.days.TwoEdits
}

// How many are looked at without asking what for.
const (
	few  = 32
	fair = 256
)

// matters tells whether somebody who has a key but none of those read could be an answer. It goes through the ways in which
// what a question says of names and birth can be damaged in a record that has the key, but for those of more damages than most.
func (w *worth) matters(a *asked, read uint32, most int, beside linkage.Odds) bool {
	r, n := a.key.rule, a.n
	if n <= few || r == byNames && n <= fair { // names also of those where they have changed places, whom no other key has
		return true
	}
	has := r.facts()
	if has&ofElse != 0 {
		beside = beside.And(w.equal[r])
	}
	unknown := damageable &^ w.given // a question without a day of birth has the keys of those who have none
	open := w.given & damageable &^ has
	for damaged := open; ; damaged = (damaged - 1) & open { // all subsets (Knuth, 7.1.3)
		if bits.OnesCount16(uint16(damaged)) <= most && w.intact[damaged|unknown]&read == 0 && w.bound.Reaches(w.damaged[damaged].And(beside)) {
			return true
		}
		if damaged == 0 {
			return false
		}
	}
}

// intacts are, by what is damaged of somebody, the rules of whose keys that leaves some. What else the question tells may be
// damaged or not be known of them, so only keys of names and birth count.
func intacts() (of [damageable + 1]uint32) {
	for damaged := range of {
		facts := fact(damaged)
		if facts&ofLast != 0 {
			facts |= ofSound
		}
		for r := byBirth; r <= byFirst; r++ {
			if r.facts()&facts == 0 {
				of[damaged] |= 1 << r
			}
		}
	}
	return of
}

// most are the odds of somebody of whom some facts are known to agree, beside what those are worth. False: they do not suffice,
// with whatever else there is beside.
func (w *worth) most(s sketch, agree fact, beside linkage.Odds) (linkage.Odds, bool) {
	sex := w.sexOf(s.sex())
	o := w.suffix
	if initial := s.initial(); initial != 0 {
		if initial == w.initial {
			o = o.And(w.alike)
		} else {
			o = o.And(w.unlike)
		}
	}
	day, close := w.day(s.birth())
	names := w.anyNames[sex]
	if agree&(ofFirst|ofLast) != ofFirst|ofLast {
		if rough := o.And(day).And(names); !w.bound.Reaches(rough.And(beside)) {
			return o, false
		}
		last := w.names.last(&w.last, s, agree&ofSound != 0)
		if agree&ofLast != 0 {
			last = last.Or(w.last.Same)
		}
		names = last.And(w.firstAll[sex]).Or(w.swapped[sex]).Or(w.crossed[sex])
		if rough := o.And(day).And(names); !w.bound.Reaches(rough.And(beside)) {
			return o, false
		}
		first := w.names.first(&w.first[sex], s)
		if agree&ofFirst != 0 {
			first = first.Or(w.first[sex].Same)
		}
		names = last.And(first).Or(w.changed(s, sex))
	}
	if !w.bound.Reaches(o.And(day).And(names).And(beside)) {
		return o, false
	}
	if close {
		day = w.bound.Born(s.birth().parts())
	}
	o = o.And(day).And(names)
	return o, w.bound.Reaches(o.And(beside))
}

// can tells quickly of most people that they cannot be an answer.
func (w *worth) can(s sketch, beside linkage.Odds) bool {
	day, _ := w.day(s.birth())
	o := beside.And(day).And(w.rest)
	if !w.bound.Reaches(o.And(w.any)) {
		return false
	}
	last := w.names.last(&w.last, s, false)
	return w.bound.Reaches(o.And(last.And(w.anyFirst).Or(w.changedNames)))
}

// changed are the odds of names should they have changed places.
func (w *worth) changed(s sketch, sex int) linkage.Odds {
	first, last := w.names.swapped(s)
	switch {
	case first && last:
		return w.swapped[sex].Or(w.crossed[sex])
	case first || last:
		return w.crossed[sex]
	}
	return linkage.Never()
}

func (w *worth) sexOf(sex uint32) int {
	const most = uint32(linkage.Male)
	switch {
	case sex == 0 || w.sex == 0 || sex != w.sex && (sex > most || w.sex > most):
		return linkage.SexMissing
	case sex == w.sex:
		return linkage.SexSame
	}
	return linkage.SexOther
}

// day are the odds of a day of birth. Close: they are rather too much, and Born tells.
func (w *worth) day(b birthday) (o linkage.Odds, close bool) {
	switch {
	case w.born == 0 || b == 0:
		return linkage.Odds{}, false
	case b == w.turned && b != w.born:
		return w.days.Swapped, false
	}
	n := w.born.differ(b)
	year := (b^w.born)>>12 == 0
	switch {
	case n == 0:
		return w.days.Same, false
	case year && (w.vague || b.vague()):
		return w.days.Placeholder, false
	case n <= 2:
		return w.days.Edit, true
	case year:
		return w.days.Year, false
	case n <= 4:
		return w.days.TwoEdits, true
	case w.vague || b.vague():
		return w.days.Vague, false
	}
	return w.days.Differ, false
}
