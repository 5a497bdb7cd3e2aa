// Package vocabulary keeps the texts that people bear, each once: as bytes, from which a linkage.Text is rebuilt when it is
// looked at. It knows no people and no locks.
package vocabulary

import (
	"hash/maphash"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/services/matching/index/arena"
	"github.com/patient-mesh/patient-mesh/services/matching/index/posting"
)

// Vocabulary numbers texts by kind and raw string, from 1, and counts who bears each. A text that nobody bears goes at once,
// and its number is given to another.
type Vocabulary struct {
	Removed uint64 // how many texts went: as long as it stays, numbers mean what they meant

	seed    maphash.Seed
	numbers *posting.Lists // by hash of kind and raw; shared with others, whose keys are other hashes
	arena   arena.Arena
	sweep   *arena.Sweep
	places  arena.Column[arena.Ref]
	bearers arena.Column[uint32]
	free    []uint32
}

// New makes a vocabulary that keeps its look-up among others' lists.
func New(seed maphash.Seed, numbers *posting.Lists) *Vocabulary {
	v := &Vocabulary{seed: seed, numbers: numbers}
	v.places.Set(0, 0)
	v.bearers.Set(0, 0)
	return v
}

func (v *Vocabulary) key(kind linkage.Kind, raw string) uint64 {
	h := maphash.String(v.seed, raw) + uint64(kind)*0x9E3779B97F4A7C15 + 1
	h ^= h >> 32
	return h * 0xD6E8FEB86659FD93
}

// Number is the number of a text; zero: nobody bears it.
func (v *Vocabulary) Number(kind linkage.Kind, raw string) uint32 {
	var few [4]uint32
	for _, id := range v.numbers.Of(v.key(kind, raw)).Append(few[:0], 64) {
		if int(id) < v.places.Len() && v.is(id, kind, raw) {
			return id
		}
	}
	return 0
}

func (v *Vocabulary) is(id uint32, kind linkage.Kind, raw string) bool {
	ref := v.places.At(id)
	if ref == 0 {
		return false
	}
	r := reader{b: v.arena.Body(ref)}
	return linkage.Kind(r.byte()) == kind && string(r.bytes()) == raw
}

// Take counts one more bearer of a text.
func (v *Vocabulary) Take(kind linkage.Kind, t *linkage.Text) uint32 {
	id := v.Number(kind, t.Raw)
	if id != 0 {
		v.Retake(id)
		return id
	}
	if n := len(v.free); n > 0 {
		id, v.free = v.free[n-1], v.free[:n-1]
	} else {
		id = uint32(v.places.Len()) //nolint:gosec // memory ends long before
	}
	var buffer [512]byte
	v.places.Set(id, v.arena.Add(write(buffer[:0], kind, t)))
	v.bearers.Set(id, 1)
	v.numbers.Add(v.key(kind, t.Raw), id)
	return id
}

// Retake counts one more bearer of a text that has some.
func (v *Vocabulary) Retake(id uint32) { v.bearers.Set(id, v.bearers.At(id)+1) }

// Drop counts one bearer less.
func (v *Vocabulary) Drop(id uint32) {
	n := v.bearers.At(id) - 1
	v.bearers.Set(id, n)
	if n > 0 {
		return
	}
	ref := v.places.At(id)
	r := reader{b: v.arena.Body(ref)}
	kind := linkage.Kind(r.byte())
	v.numbers.Remove(v.key(kind, string(r.bytes())), id)
	v.arena.Drop(ref)
	v.places.Set(id, 0)
	v.free = append(v.free, id)
	v.Removed++
}

// Fill rebuilds a text. Its strings are views of memory that is never written over.
func (v *Vocabulary) Fill(id uint32, t *linkage.Text) {
	read(v.arena.Body(v.places.At(id)), t)
	t.ID = id
}

// FillAll rebuilds texts that have nothing but their ids. To do so one after the other would wait for memory each time.
func (v *Vocabulary) FillAll(texts []*linkage.Text) (touched uint64) {
	for _, t := range texts {
		touched += uint64(v.places.At(t.ID))
	}
	for _, t := range texts {
		touched += uint64(v.arena.Touch(v.places.At(t.ID)))
	}
	for _, t := range texts {
		v.Fill(t.ID, t)
	}
	return touched
}

// Raw is a text as it was given.
func (v *Vocabulary) Raw(id uint32) string {
	r := reader{b: v.arena.Body(v.places.At(id))}
	r.byte()
	return r.view()
}

// Texts is how many there are.
func (v *Vocabulary) Texts() int { return v.places.Len() - 1 - len(v.free) }

// Tidy moves some texts out of memory that is mostly of texts that went.
func (v *Vocabulary) Tidy(steps int) {
	if v.sweep == nil {
		s, ok := v.arena.Sparse()
		if !ok {
			return
		}
		v.sweep = &s
	}
	for range steps {
		ref, ok := v.arena.Next(v.sweep)
		if !ok {
			v.sweep = nil
			return
		}
		body := v.arena.Body(ref)
		r := reader{b: body}
		kind := linkage.Kind(r.byte())
		if id := v.Number(kind, r.view()); id != 0 && v.places.At(id) == ref {
			v.places.Set(id, v.arena.Add(body))
			v.arena.Drop(ref)
		}
	}
}

// Memory is how many bytes the texts take, but for their look-up.
func (v *Vocabulary) Memory() int {
	return v.arena.Memory() + v.places.Memory(4) + v.bearers.Memory(4) + 4*cap(v.free)
}
