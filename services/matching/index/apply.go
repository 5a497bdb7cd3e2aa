package index

import (
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// Apply inserts, replaces or, those who are Deleted, removes people. Finds go on meanwhile, and see each person as before or
// as after. It keeps nothing of what it is given.
func (x *Index) Apply(people []linkage.Demographics) {
	w := x.writers.Get().(*writer)
	defer x.writers.Put(w)
	for some := range slices.Chunk(people, atOnce) {
		w.prepare(some)
		w.commit(some)
	}
}

// atOnce is how many people are written while finds wait: some twenty microseconds.
const atOnce = 4

// writer brings people into the index. What takes long, it does before it asks finds to wait.
type writer struct {
	x       *Index
	news    [atOnce]record
	keys    [atOnce][]key
	known   shelf // texts of news that the index has
	fresh   []fresh
	removed uint64 // that the vocabulary had lost when it was asked for known ones
	keyer   keyer

	old     record
	past    shelf // texts of old
	oldKeys keyer
	dropped []uint32 // numbers of texts that have a bearer less
	buffer  []byte
}

// fresh is a text that the index has not: its ID is its place among the others, after the last number that a text can have.
type fresh struct {
	kind linkage.Kind
	text *linkage.Text
}

const freshID = 1 << 31

func newWriter(x *Index) *writer {
	return &writer{
		x: x, known: shelf{words: x.words}, past: shelf{words: x.words},
		keyer: keyer{seed: x.seed}, oldKeys: keyer{seed: x.seed},
	}
}

// prepare learns while finds go on.
func (w *writer) prepare(people []linkage.Demographics) {
	w.x.mu.RLock()
	defer w.x.mu.RUnlock()
	w.learn(people)
}

// learn makes records and keys of people. Texts that the index has need not be parsed again.
func (w *writer) learn(people []linkage.Demographics) {
	w.known.clear()
	w.fresh, w.removed = w.fresh[:0], w.x.words.Removed
	for i := range people {
		if people[i].Deleted {
			continue
		}
		r := &w.news[i]
		w.x.parser.Fill(&r.person, &people[i], w.text)
		r.learn(&people[i])
		r.profile = w.text(linkage.Blank, profileOf(&people[i])).ID
		w.keys[i] = append(w.keys[i][:0], w.keyer.of(r)...)
	}
}

func (w *writer) text(kind linkage.Kind, raw string) *linkage.Text {
	if number := w.x.words.Number(kind, raw); number != 0 {
		return w.known.text(number)
	}
	t := w.x.parser.Parse(kind, raw)
	t.ID = freshID + uint32(len(w.fresh)) //nolint:gosec // a few
	w.fresh = append(w.fresh, fresh{kind, t})
	return t
}

func (w *writer) commit(people []linkage.Demographics) {
	x := w.x
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.words.Removed != w.removed {
		w.learn(people) // a number may be another text's by now
	}
	for i := range people {
		if people[i].Deleted {
			w.remove(people[i].ID)
		} else {
			w.put(&w.news[i], w.keys[i])
		}
	}
	for _, number := range w.dropped { // not before: the next of the people may bear the text
		x.words.Drop(number)
	}
	w.dropped = w.dropped[:0]
	x.tidy()
}

// put writes a record: a new one, or in place of the old.
func (w *writer) put(r *record, keys []key) {
	x := w.x
	ordinal := x.ordinal(r.id)
	r.profile = w.take(r.profile)
	w.buffer = r.write(w.buffer[:0], func(t *linkage.Text) uint32 { return w.take(t.ID) })
	if ordinal == 0 {
		ordinal = x.admit(r.id)
		for i := range keys {
			x.lists.Add(keys[i].hash, ordinal)
		}
	} else {
		was := w.recall(ordinal)
		x.change(ordinal, was, keys)
		w.forget(ordinal)
	}
	x.places.Set(ordinal, x.records.Add(w.buffer))
	x.sketches.Set(ordinal, uint64(sketchOf(&r.person)))
}

// take counts one more bearer of a text, known or fresh.
func (w *writer) take(id uint32) uint32 {
	if id < freshID {
		w.x.words.Retake(id)
		return id
	}
	f := &w.fresh[id-freshID]
	return w.x.words.Take(f.kind, f.text)
}

func (w *writer) remove(id int64) {
	x := w.x
	ordinal := x.ordinal(id)
	if ordinal == 0 {
		return
	}
	for _, k := range w.recall(ordinal) {
		x.lists.Remove(k.hash, ordinal)
	}
	w.forget(ordinal)
	x.dismiss(id, ordinal)
}

// recall reads what is kept of somebody, and makes the keys under which the lists have them.
func (w *writer) recall(ordinal uint32) []key {
	w.past.clear()
	w.old.read(w.x.body(ordinal), &w.past)
	return w.oldKeys.of(&w.old)
}

// forget drops what was recalled.
func (w *writer) forget(ordinal uint32) {
	x, p := w.x, &w.old.person
	x.records.Drop(x.places.At(ordinal))
	w.dropped = append(w.dropped, w.old.profile)
	drop := func(texts ...*linkage.Text) {
		for _, t := range texts {
			if t != nil {
				w.dropped = append(w.dropped, t.ID)
			}
		}
	}
	drop(p.First, p.Middle, p.Last, p.Suffix)
	for i := range p.Aliases {
		drop(p.Aliases[i].First, p.Aliases[i].Last)
	}
	for i := range p.Addresses {
		drop(p.Addresses[i].Line, p.Addresses[i].City, p.Addresses[i].State, p.Addresses[i].Postal)
	}
}

// admit gives a patient an ordinal.
func (x *Index) admit(id int64) uint32 {
	ordinal := uint32(x.places.Len()) //nolint:gosec // memory ends long before
	if n := len(x.free); n > 0 {
		ordinal, x.free = x.free[n-1], x.free[:n-1]
	}
	x.lists.Add(idKey(id), ordinal)
	x.people++
	return ordinal
}

func (x *Index) dismiss(id int64, ordinal uint32) {
	x.places.Set(ordinal, 0)
	x.free = append(x.free, ordinal)
	x.lists.Remove(idKey(id), ordinal)
	x.people--
}

// change moves somebody from old keys to new ones. Both are in order.
func (x *Index) change(ordinal uint32, olds, news []key) {
	for len(olds) > 0 || len(news) > 0 {
		switch {
		case len(news) == 0 || len(olds) > 0 && olds[0].hash < news[0].hash:
			x.lists.Remove(olds[0].hash, ordinal)
			olds = olds[1:]
		case len(olds) == 0 || news[0].hash < olds[0].hash:
			x.lists.Add(news[0].hash, ordinal)
			news = news[1:]
		default:
			olds, news = olds[1:], news[1:]
		}
	}
}

// tidied is how many entries of memory that is mostly waste are moved with each change.
const tidied = 32

// tidy moves some records out of memory that is mostly of records that were replaced.
func (x *Index) tidy() {
	x.words.Tidy(tidied)
	if x.sweep == nil {
		s, ok := x.records.Sparse()
		if !ok {
			return
		}
		x.sweep = &s
	}
	for range tidied {
		place, ok := x.records.Next(x.sweep)
		if !ok {
			x.sweep = nil
			return
		}
		body := x.records.Body(place)
		in := reader{b: body}
		ordinal := x.ordinal(int64(in.uvarint())) //nolint:gosec // as it was written
		if ordinal != 0 && x.places.At(ordinal) == place {
			x.places.Set(ordinal, x.records.Add(body))
			x.records.Drop(place)
		}
	}
}
