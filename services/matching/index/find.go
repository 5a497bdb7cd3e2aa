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
	chosen []uint32
}

// ranked is a candidate that was weighed.
type ranked struct {
	bits    float64
	id      int64
	ordinal uint32
}

func newFinder(x *Index) *finder {
	f := &finder{x: x, texts: shelf{words: x.words}, keyer: keyer{seed: x.seed}}
	f.search.x, f.search.worth.intact = x, intacts()
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
	f.keyer.ask(&f.person, q.Now)
	f.candidates(q, least)
	found := Found{Second: math.Inf(-1), Truncated: f.search.truncated, Scored: len(f.ranked)}
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
	q.Model.AskInto(&f.asked, &f.person, frequencies{x, &f.keyer}, q.Now)
	f.keyer.ask(&f.person, q.Now)
	f.candidates(&q, linkage.Least(q.MinScore))
	var ids []int64
	for i := range f.ranked {
		ids = append(ids, f.ranked[i].id)
	}
	return ids
}

// Whoever is below the one is an answer's rival only by models that want it far ahead, and whoever is below the other is not
// looked for: a thousandth of a likelihood.
const (
	rival  = -1.0
	hidden = -10.0
)

// candidates weighs those who can be good enough to be shown, and those who tell how far ahead the best is. Once somebody is
// certainly so, it looks no farther for people who are in long lists alone and of whom most is damaged, or who agree elsewhere
// nearly and are not near the best: there is no end of lists to read for them.
func (f *finder) candidates(q *Query, least float64) {
	const one = 53 // bits from which on a likelihood is 1
	certain, margin := min(linkage.Least(q.Model.Thresholds.Certain), one), q.Model.Thresholds.Margin
	least = max(least, hidden)
	need, company := min(least, rival), slack
	for s := &f.search; ; {
		s.candidates(&f.asked, &f.keyer, q.Now, need-company)
		f.weighFirst()
		first, _ := f.two()
		clear := first >= certain && first-margin >= need-company
		if !clear && !s.complete() {
			s.all()
			f.weighFirst()
		}
		others := s.others
		if clear {
			others = slices.DeleteFunc(others, func(l likely) bool { return l.most < first-margin })
		}
		f.weigh(&f.asked, s.best(others))
		first, second := f.two()
		f.asked.Settle(f.bits)
		switch more := f.asked.Company(); {
		case more > company:
			company = more
		case first >= certain && first-second >= margin && first-margin < need-company:
			need = first - margin + company
		default:
			s.truncated = s.truncated || s.cut >= rival-company || first >= certain && s.cut >= first-margin
			for i, bits := range f.bits {
				f.ranked[i].bits = bits
			}
			return
		}
	}
}

// weighFirst weighs those who are likely before others.
func (f *finder) weighFirst() {
	f.ranked, f.bits = f.ranked[:0], f.bits[:0]
	f.weigh(&f.asked, f.search.likely)
}

// slack are the bits that the company of others adds where there are next to none.
const slack = 0.25

// two are the bits of the best two.
func (f *finder) two() (first, second float64) {
	first, second = math.Inf(-1), math.Inf(-1)
	for _, b := range f.bits {
		first, second = max(first, b), max(second, min(first, b))
	}
	return first, second
}

// text is one of the question's: by its number when somebody bears it.
func (f *finder) text(kind linkage.Kind, raw string) *linkage.Text {
	if number := f.x.words.Number(kind, raw); number != 0 {
		return f.texts.text(number)
	}
	return f.x.parser.Parse(kind, raw)
}

// weigh ranks candidates, in no order yet.
func (f *finder) weigh(question *linkage.Question, likely []likely) {
	candidates := f.chosen[:0]
	for i := range likely {
		candidates = append(candidates, likely[i].ordinal)
	}
	f.chosen = candidates
	f.search.touched += f.x.touch(candidates)
	for some := range slices.Chunk(candidates, len(f.some)) {
		f.weighSome(question, some)
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
