// Package index keeps a tenant's people in memory, so that somebody is found among millions in a fraction of a millisecond.
// It knows what is compared and what an answer shows; it knows no storage, no transport and not what an agreement is worth.
package index

import (
	"hash/maphash"
	"sync"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/services/matching/index/arena"
	"github.com/patient-mesh/patient-mesh/services/matching/index/posting"
	"github.com/patient-mesh/patient-mesh/services/matching/index/vocabulary"
)

// Options say how an index is made. The zero value will do.
type Options struct {
	Parser *linkage.Parser // nil: one of its own
	Scans  chan struct{}   // has room for the questions that may go through many people at a time, of all indexes; nil: one of each
}

// Index are the people of one tenant. Any number of goroutines may ask and change it.
//
// Everybody has an ordinal, under which the lists know them. What is kept of them are bytes in an arena, and their texts are
// numbers of the vocabulary: there are next to no pointers, so the garbage collector has nothing to walk.
type Index struct {
	parser *linkage.Parser
	seed   maphash.Seed

	mu       sync.RWMutex
	lists    posting.Lists // ordinals by key and by id, numbers of texts
	words    *vocabulary.Vocabulary
	records  arena.Arena
	sweep    *arena.Sweep
	places   arena.Column[arena.Ref] // of records, by ordinal
	sketches arena.Column[uint64]    // by ordinal
	free     []uint32                // ordinals that nobody has
	people   int

	scans   chan struct{} // of all indexes, may be nil
	scan    chan struct{} // of this one
	finders sync.Pool     // *finder
	writers sync.Pool     // *writer
}

// New makes an empty index.
func New(o Options) *Index {
	x := &Index{parser: o.Parser, seed: maphash.MakeSeed(), scans: o.Scans, scan: make(chan struct{}, 1)}
	if x.parser == nil {
		x.parser = linkage.NewParser()
	}
	x.words = vocabulary.New(x.seed, &x.lists)
	x.places.Set(0, 0) // nobody's
	x.sketches.Set(0, 0)
	x.finders.New = func() any { return newFinder(x) }
	x.writers.New = func() any { return newWriter(x) }
	return x
}

// People is how many there are.
func (x *Index) People() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.people
}

// Memory is how many bytes the index takes.
func (x *Index) Memory() int64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	const itself = 40_000
	return int64(itself + x.lists.Memory() + x.words.Memory() + x.records.Memory() + x.places.Memory(4) + x.sketches.Memory(8) + 4*cap(x.free))
}

// idKey is where the lists have the ordinal of a patient.
func idKey(id int64) uint64 { return hash(rules, uint64(id), 0) } //nolint:gosec // positive

// ordinal is that of a patient; zero: there is no such one.
func (x *Index) ordinal(id int64) uint32 {
	var few [4]uint32
	for _, at := range x.lists.Of(idKey(id)).Append(few[:0], 64) {
		if body := x.body(at); body != nil {
			if in := (reader{b: body}); int64(in.uvarint()) == id { //nolint:gosec // as it was written
				return at
			}
		}
	}
	return 0
}

// body are the bytes of somebody's record, nil when nobody has the ordinal: keys can, seldom, lead to those of others.
func (x *Index) body(ordinal uint32) []byte {
	if int(ordinal) >= x.places.Len() {
		return nil
	}
	place := x.places.At(ordinal)
	if place == 0 {
		return nil
	}
	return x.records.Body(place)
}

// sketch is somebody's. What the lists have under a key can, seldom, be another key's, and not an ordinal at all.
func (x *Index) sketch(ordinal uint32) sketch {
	if int(ordinal) >= x.sketches.Len() {
		return 0
	}
	return sketch(x.sketches.At(ordinal))
}

// touch reads where records begin, so that reading one after the other does not wait for memory each time.
func (x *Index) touch(ordinals []uint32) (read uint64) {
	for _, o := range ordinals {
		if int(o) < x.places.Len() {
			read += uint64(x.places.At(o))
		}
	}
	for _, o := range ordinals {
		if int(o) < x.places.Len() && x.places.At(o) != 0 {
			read += uint64(x.records.Touch(x.places.At(o)))
		}
	}
	return read
}
