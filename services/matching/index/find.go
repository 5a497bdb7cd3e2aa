package index

import (
	"cmp"
	"math"
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// finder answers questions, one at a time. What it needs of memory it uses again.
type finder struct {
	x      *Index
	person linkage.Person
	texts  shelf
	keyer  keyer
	search search
	record record // the one that is shown
	some   [16]record
	asked  linkage.Question
	ranked []ranked
	bits   []float64
}

// ranked is a candidate that was weighed.
type ranked struct {
	bits    float64
	id      int64
	ordinal uint32
}

func newFinder(x *Index) *finder {
	f := &finder{x: x, texts: shelf{words: x.words}, keyer: keyer{seed: x.seed}}
	f.search.x = x
	return f
}

// Find gives the people who are likely to be somebody, as a model weighs it.
func (x *Index) Find(q Query) Found {
	f := x.finders.Get().(*finder)
	defer x.finders.Put(f)
	x.mu.RLock()
	defer x.mu.RUnlock()
	return f.find(&q)
}

func (f *finder) find(q *Query) Found {
	f.texts.clear()
	f.x.parser.Fill(&f.person, &q.Person, f.text)
	question := &f.asked
	q.Model.AskInto(question, &f.person, frequencies{f.x, &f.keyer}, q.Now)
	least := linkage.Least(q.MinScore)
	candidates := f.candidates(q, least)
	found := Found{Second: math.Inf(-1), Truncated: f.search.truncated, Scored: len(candidates)}
	f.weigh(question, candidates)
	for i := range f.ranked {
		if linkage.Shown(f.ranked[i].bits) >= least {
			found.Total++
		}
	}
	slices.SortFunc(f.ranked, better)
	if len(f.ranked) > 1 {
		found.Second = f.ranked[1].bits
	}
	for _, r := range f.ranked[:min(q.Limit, len(f.ranked))] {
		if linkage.Shown(r.bits) < least {
			break
		}
		found.Hits = append(found.Hits, f.hit(question, r))
	}
	return found
}

// Candidates are the ids of those whom Find weighs: for measuring what is lost before anything is weighed.
func (x *Index) Candidates(q Query) []int64 {
	f := x.finders.Get().(*finder)
	defer x.finders.Put(f)
	x.mu.RLock()
	defer x.mu.RUnlock()
	f.texts.clear()
	x.parser.Fill(&f.person, &q.Person, f.text)
	var ids []int64
	for _, ordinal := range f.candidates(&q, linkage.Least(q.MinScore)) {
		if body := x.body(ordinal); body != nil {
			in := reader{b: body}
			ids = append(ids, int64(in.uvarint())) //nolint:gosec // as it was written
		}
	}
	return ids
}

// Whoever is below the one is never shown as an answer's rival, and whoever is below the other not at all.
const (
	rival  = -1.0
	hidden = -10.0
)

// candidates are those to be weighed: not only those who are good enough to be shown, since the second best tells how far
// ahead the best is.
func (f *finder) candidates(q *Query, least float64) []uint32 {
	f.keyer.ask(&f.person, q.Now)
	least = min(max(least, hidden), rival)
	if c := q.Model.Calibration; c.Scale > 0 {
		least = (least - c.Shift) / c.Scale
	}
	return f.search.candidates(&f.person, &f.keyer, q.Model, least)
}

// text is one of the question's: by its number when somebody bears it.
func (f *finder) text(kind linkage.Kind, raw string) *linkage.Text {
	if number := f.x.words.Number(kind, raw); number != 0 {
		return f.texts.text(number)
	}
	return f.x.parser.Parse(kind, raw)
}

// weigh ranks candidates, in no order yet.
func (f *finder) weigh(question *linkage.Question, candidates []uint32) {
	f.ranked, f.bits = f.ranked[:0], f.bits[:0]
	f.search.touched += f.x.touch(candidates)
	for some := range slices.Chunk(candidates, len(f.some)) {
		f.weighSome(question, some)
	}
	question.Settle(f.bits)
	for i, bits := range f.bits {
		f.ranked[i].bits = bits
	}
}

func (f *finder) weighSome(question *linkage.Question, candidates []uint32) {
	later, n := promises{&f.texts}, 0
	from := len(f.ranked)
	for _, ordinal := range candidates {
		if body := f.x.body(ordinal); body != nil {
			f.some[n].read(body, later)
			f.ranked = append(f.ranked, ranked{0, f.some[n].id, ordinal})
			n++
		}
	}
	later.keep()
	for i := range f.ranked[from:] {
		f.bits = append(f.bits, question.Score(&f.some[i].person))
	}
}

// better orders by bits, and by id where they are the same.
func better(a, b ranked) int {
	if a.bits != b.bits {
		return cmp.Compare(b.bits, a.bits)
	}
	return cmp.Compare(a.id, b.id)
}

func (f *finder) hit(question *linkage.Question, r ranked) Hit {
	f.record.read(f.x.body(r.ordinal), &f.texts)
	h := Hit{Bits: r.bits}
	h.Evidence, _, h.Veto = question.Explain(&f.record.person)
	f.record.show(f.x.words.Raw(f.record.profile), &h.Demographics)
	return h
}

// frequencies are those of the index, to whoever holds its lock.
type frequencies struct {
	x *Index
	k *keyer
}

func (f frequencies) People() int { return f.x.people }

func (f frequencies) Bearers(kind linkage.Kind, part string) int {
	var by rule
	switch kind {
	case linkage.Given:
		by = byFirst
	case linkage.Family:
		by = byLast
	case linkage.Postal, linkage.Plain:
		by = byPostal
	default:
		return 0
	}
	return f.x.lists.Len(hash(by, f.k.name(part, "").word, 0))
}

func (f frequencies) Born(d linkage.Date) int { return f.x.lists.Len(hash(byBirth, uint64(d), 0)) } //nolint:gosec // not negative
