package index

import (
	"slices"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/services/matching/index/vocabulary"
)

// meant tells whether the record at hand says all that is asked.
func (e *exact) meant() bool {
	p := &e.record.person
	return e.is(p.First, e.first) && e.is(p.Last, e.last) && e.is(p.Middle, e.middle) &&
		(e.asked.SexAtBirth == "" || p.Sex == e.person.Sex) &&
		(e.born == 0 || e.record.born == e.born) &&
		(e.ssn < 0 || e.record.ssn == e.ssn) &&
		(e.suffix == "" || linkage.Fold(suffixOf(e.x.words.Raw(e.record.profile))) == e.suffix) &&
		e.phones() && e.allEmails() && e.allNumbers() && e.allPlaces()
}

// is tells whether a text folds to another; nothing asked is always true.
func (e *exact) is(t *linkage.Text, fold string) bool {
	return fold == "" || t != nil && e.folds.is(t.ID, fold)
}

func (e *exact) phones() bool {
	for i := range e.asked.Contacts {
		c := &e.asked.Contacts[i]
		if c.System == "email" {
			continue
		}
		phone := linkage.ParsePhone(c.E164, c.Value)
		if phone != 0 && !e.phone(phone, ahead(c.E164, phone)) || phone == 0 && !e.other(byPhone, dialled(c)) {
			return false
		}
	}
	return true
}

// phone tells whether the record has a number, in the same country where both are known to be in one.
func (e *exact) phone(asked linkage.Phone, ahead uint64) bool {
	for i, p := range e.record.person.Phones {
		if has := e.record.aheads[i]; p == asked && (has == ahead || has == 0 || ahead == 0) {
			return true
		}
	}
	return false
}

func (e *exact) other(r rule, value string) bool {
	return slices.ContainsFunc(e.record.others, func(o other) bool { return o.rule == r && o.value == value && holds(o.from, o.until, e.now) })
}

func (e *exact) allEmails() bool {
	for _, fold := range e.emails {
		if !e.other(byEmail, fold) && !e.email(fold) {
			return false
		}
	}
	return true
}

// email tells whether an address that is compared as it was given folds to a text.
func (e *exact) email(fold string) bool {
	for i, s := range e.record.person.Emails {
		given := !slices.ContainsFunc(e.record.others, func(o other) bool { return o.instead == i+1 })
		if given && linkage.Fold(s) == fold {
			return true
		}
	}
	return false
}

func (e *exact) allNumbers() bool {
	for _, fold := range e.numbers {
		same := func(n linkage.Number) bool { return n.Value == fold && holds(n.From, n.Until, e.now) }
		if !e.other(byNumber, fold) && !slices.ContainsFunc(e.record.person.Identifiers, same) {
			return false
		}
	}
	return true
}

func (e *exact) allPlaces() bool {
	for i := range e.places {
		if !e.place(&e.places[i]) {
			return false
		}
	}
	return true
}

// place tells whether one of the record's addresses has all parts of one that is asked for.
func (e *exact) place(asked *foldedPlace) bool {
	for i := range e.record.person.Addresses {
		a := &e.record.person.Addresses[i]
		if e.is(a.Postal, asked.postal) && e.is(a.City, asked.city) && e.is(a.State, asked.state) &&
			(asked.line == "" || e.isLine(a, asked.line, e.record.middles[i])) {
			return true
		}
	}
	return false
}

func (e *exact) isLine(a *linkage.Place, fold, middle string) bool {
	street := ""
	if a.Line != nil {
		street = e.folds.of(a.Line.ID)
	}
	return isLine(fold, a.House, street, middle, a.Unit)
}

// suffixOf is the suffix in a profile.
func suffixOf(profile string) string {
	for range profileSuffix {
		_, profile, _ = strings.Cut(profile, "\x00")
	}
	suffix, _, _ := strings.Cut(profile, "\x00")
	return suffix
}

// folds stands for the texts of records of which only numbers are read, and remembers what they fold to.
type folds struct {
	words *vocabulary.Vocabulary
	stubs [64]linkage.Text
	used  int
	whole linkage.Text // the last one looked at
	known [1024]folded
	since uint64 // texts that the vocabulary had lost: another count makes what is known untrue
}

// folded is whether a text folds to one of those asked for.
type folded struct {
	number uint32
	is     bool
	fold   string
}

// begin makes room for another record.
func (f *folds) begin(removed uint64) {
	if f.used = 0; f.since != removed {
		f.known, f.since = [1024]folded{}, removed
	}
}

// text is a stub: a text that has nothing but its number.
func (f *folds) text(number uint32) *linkage.Text {
	if f.used == len(f.stubs) {
		return &linkage.Text{ID: number}
	}
	t := &f.stubs[f.used]
	f.used++
	t.ID = number
	return t
}

func (f *folds) is(number uint32, fold string) bool {
	k := &f.known[number&1023]
	if k.number != number || k.fold != fold {
		*k = folded{number, f.of(number) == fold, fold}
	}
	return k.is
}

func (f *folds) of(number uint32) string {
	f.words.Fill(number, &f.whole)
	return f.whole.Fold
}
