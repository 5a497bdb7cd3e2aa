package arena_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/services/matching/index/arena"
)

// TestArena keeps entries of all lengths, drops some, sweeps, and finds the others as they were.
func TestArena(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a arena.Arena
		refs, bodies := map[uint32]arena.Ref{}, map[uint32][]byte{}
		next := uint32(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			size := rapid.SampledFrom([]int{4, 5, 60, 130, 5_000, 130_000, 1<<20 + 1}).Draw(t, "size")
			for range rapid.IntRange(1, 40_000/size+1).Draw(t, "entries") {
				body := bytes.Repeat([]byte{byte(next)}, size)
				binary.BigEndian.PutUint32(body, next)
				refs[next], bodies[next] = a.Add(body), body
				next++
			}
			for range rapid.IntRange(0, 100).Draw(t, "drops") {
				if n := rapid.Uint32Range(0, next).Draw(t, "drop"); refs[n] != 0 {
					a.Drop(refs[n])
					delete(refs, n)
					delete(bodies, n)
				}
			}
			if rapid.Bool().Draw(t, "sweep") {
				sweep(&a, refs)
			}
		}
		live := 0
		for n, ref := range refs {
			if ref == 0 || !bytes.Equal(a.Body(ref), bodies[n]) {
				t.Fatalf("entry %d is another", n)
			}
			live += len(bodies[n]) + 8
		}
		sweep(&a, refs)
		if a.Memory() > 4<<20+3*live {
			t.Fatalf("%d bytes for %d", a.Memory(), live)
		}
	})
}

func sweep(a *arena.Arena, refs map[uint32]arena.Ref) {
	for s, ok := a.Sparse(); ok; s, ok = a.Sparse() {
		for ref, ok := a.Next(&s); ok; ref, ok = a.Next(&s) {
			if n := binary.BigEndian.Uint32(a.Body(ref)); refs[n] == ref {
				refs[n] = a.Add(a.Body(ref))
				a.Drop(ref)
			}
		}
	}
}

func TestColumn(t *testing.T) {
	var c arena.Column[uint32]
	for i := range uint32(100_000) {
		c.Set(i, i*3)
	}
	c.Set(5, 1)
	for i := range uint32(100_000) {
		if want := map[bool]uint32{true: 1, false: i * 3}[i == 5]; c.At(i) != want {
			t.Fatalf("%d is %d", i, c.At(i))
		}
	}
	if c.Len() != 100_000 {
		t.Errorf("%d of 100,000", c.Len())
	}
}
