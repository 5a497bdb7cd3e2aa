package index

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// Exact gives the people whose records say all that is asked, ascending by id. The error is the context's.
//
// It goes through those who have the rarest of the keys that whoever is asked for must have, or through everybody when the
// question has no key. Finds and changes go on meanwhile: it looks at some people at a time, each as they are then.
func (x *Index) Exact(ctx context.Context, q ExactQuery) (Found, error) {
	e := &exact{x: x, asked: q.Person, now: q.Now, after: q.After, limit: q.Limit}
	e.prepare()
	if err := e.look(ctx); err != nil {
		return Found{}, err
	}
	return e.answer(), nil
}

// exact is an exact question under way.
type exact struct {
	x     *Index
	asked linkage.Demographics
	now   int64
	after int64
	limit int

	person                      linkage.Person // of the question
	first, middle, last, suffix string         // folded
	born                        linkage.Date
	ssn                         int // -1: not asked
	emails, numbers             []string
	places                      []foldedPlace

	record  record
	folds   folds
	total   int
	beyond  int // those after the id
	matches []match
}

type foldedPlace struct{ line, city, state, postal string }

type match struct {
	id      int64
	ordinal uint32
}

func (e *exact) prepare() {
	d := &e.asked
	e.person = e.x.parser.Person(d, nil)
	e.first, e.middle = linkage.Fold(d.FirstName), linkage.Fold(d.MiddleName)
	e.last, e.suffix = linkage.Fold(d.LastName), linkage.Fold(d.Suffix)
	e.born, e.ssn = givenDay(d.DOB), -1
	if d.SSNLast4 != "" {
		e.ssn = int(digits(d.SSNLast4)) //nolint:gosec // four digits
	}
	for i := range d.Contacts {
		if d.Contacts[i].System == "email" {
			e.emails = append(e.emails, linkage.Fold(d.Contacts[i].Value))
		}
	}
	for i := range d.Identifiers {
		e.numbers = append(e.numbers, linkage.Fold(d.Identifiers[i].Value))
	}
	for i := range d.Addresses {
		a := &d.Addresses[i]
		p := foldedPlace{linkage.Fold(a.Line1), linkage.Fold(a.City), linkage.Fold(a.State), linkage.Fold(a.PostalCode)}
		if p != (foldedPlace{}) {
			e.places = append(e.places, p)
		}
	}
	e.folds = folds{words: e.x.words}
}

// Bounds of how long finds and changes wait for an exact question.
const (
	looked = 1000   // people looked at before others have their turn
	heavy  = 20_000 // more people than this are looked at by a few questions at a time
)

// look goes through everybody who can be meant.
func (e *exact) look(ctx context.Context) error {
	ordinals, all := e.rarest()
	if n := len(ordinals); all || n > heavy {
		done, err := e.x.turn(ctx)
		if err != nil {
			return err
		}
		defer done()
	}
	if all {
		return e.everybody(ctx)
	}
	for some := range slices.Chunk(ordinals, looked) {
		if err := ctx.Err(); err != nil {
			return err
		}
		e.x.mu.RLock()
		for _, ordinal := range some {
			e.check(ordinal)
		}
		e.x.mu.RUnlock()
	}
	return nil
}

// turn waits for one to go through many people. Questions of one index have one at a time, and wait for it before they wait for
// those of all: however many a tenant asks, others' have theirs.
func (x *Index) turn(ctx context.Context) (done func(), err error) {
	select {
	case x.scan <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if x.scans == nil {
		return func() { <-x.scan }, nil
	}
	select {
	case x.scans <- struct{}{}:
		return func() { <-x.scans; <-x.scan }, nil
	case <-ctx.Done():
		<-x.scan
		return nil, ctx.Err()
	}
}

func (e *exact) everybody(ctx context.Context) error {
	for from, more := uint32(1), true; more; from += looked {
		if err := ctx.Err(); err != nil {
			return err
		}
		e.x.mu.RLock()
		until := min(from+looked, uint32(e.x.places.Len())) //nolint:gosec // memory ends long before
		for ordinal := from; ordinal < until; ordinal++ {
			if e.glance(sketch(e.x.sketches.At(ordinal))) {
				e.check(ordinal)
			}
		}
		more = until == from+looked
		e.x.mu.RUnlock()
	}
	return nil
}

// glance tells whether a sketch can be of somebody who is meant.
func (e *exact) glance(s sketch) bool {
	return e.asked.SexAtBirth == "" || s.sex() == uint32(e.person.Sex)
}

// rarest are those who have the rarest key that everybody who is meant has. All: there is no such key.
func (e *exact) rarest() (ordinals []uint32, all bool) {
	e.x.mu.RLock()
	defer e.x.mu.RUnlock()
	most := -1
	for _, k := range e.keys() {
		if n := e.x.lists.Len(k); most < 0 || n < most {
			most = n
			ordinals = e.x.lists.Of(k).Append(ordinals[:0], n)
		}
	}
	return ordinals, most < 0
}

// keys are the keys that whoever is meant must have.
func (e *exact) keys() []uint64 {
	var keys []uint64
	of := func(s string) uint64 { return maphash.String(e.x.seed, s) }
	add := func(r rule, a, b uint64) { keys = append(keys, hash(r, a, b)) }
	switch first, last := of(e.first), of(e.last); {
	case e.first != "" && e.last != "":
		add(byNames, min(first, last), max(first, last))
	case e.first != "":
		add(byFirst, first, 0)
	case e.last != "":
		add(byLast, last, 0)
	}
	if e.born != 0 {
		add(byBirth, uint64(e.born), 0) //nolint:gosec // not negative
	}
	if e.ssn >= 0 {
		add(bySSN, uint64(e.ssn), 0)
	}
	for i := range e.asked.Contacts {
		c := &e.asked.Contacts[i]
		switch phone := linkage.ParsePhone(c.E164, c.Value); {
		case c.System == "email":
			add(byEmail, of(linkage.Fold(c.Value)), 0)
		case phone != 0:
			add(byPhone, uint64(phone), 0)
		default:
			add(byPhone, of(dialled(c)), 0)
		}
	}
	for _, n := range e.numbers {
		add(byNumber, of(n), 0)
	}
	for i := range e.person.Addresses {
		// A postal code of digits alone has one normal form however it is written.
		if t := e.person.Addresses[i].Postal; t != nil && !t.Missing && onlyDigits(t.Fold) {
			add(byPostal, of(t.Whole), 0)
		}
	}
	return keys
}

// check counts somebody who is meant.
func (e *exact) check(ordinal uint32) {
	body := e.x.body(ordinal)
	if body == nil {
		return
	}
	e.folds.begin(e.x.words.Removed)
	e.record.read(body, &e.folds)
	if !e.meant() {
		return
	}
	if e.total++; e.record.id <= e.after {
		return
	}
	e.beyond++
	e.matches = append(e.matches, match{e.record.id, ordinal})
	if len(e.matches) > 4*e.limit+looked {
		e.shorten()
	}
}

// shorten keeps the matches with the lowest ids.
func (e *exact) shorten() {
	slices.SortFunc(e.matches, func(a, b match) int { return cmp.Compare(a.id, b.id) })
	e.matches = e.matches[:min(len(e.matches), e.limit)]
}

func (e *exact) answer() Found {
	e.shorten()
	found := Found{Total: e.total, Scored: e.total}
	e.x.mu.RLock()
	defer e.x.mu.RUnlock()
	shelf := shelf{words: e.x.words}
	shelf.clear()
	for _, m := range e.matches {
		body := e.x.body(m.ordinal)
		if body == nil {
			continue // gone meanwhile
		}
		if e.record.read(body, &shelf); e.record.id != m.id {
			continue
		}
		var h Hit
		e.record.show(e.x.words.Raw(e.record.profile), &h.Demographics)
		found.Hits = append(found.Hits, h)
	}
	if n := len(e.matches); e.beyond > n && n > 0 {
		found.Next = e.matches[n-1].id
	}
	return found
}
