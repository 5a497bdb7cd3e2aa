// Package arena keeps many small things in few pieces of memory without pointers, so that the garbage collector has nothing
// to walk: byte strings of any length, and columns of numbers. It knows no locks, and not what it keeps.
package arena

import "encoding/binary"

// Ref is where an entry lies; zero is nowhere.
type Ref uint32

// An entry lies in one chunk, at a multiple of four bytes. So a Ref reaches 16 GiB.
const (
	chunkBits = 20
	chunkSize = 1 << chunkBits
	align     = 4
	perChunk  = chunkSize / align
	beginning = 256 // of the first chunk, which grows until it is as large as others
)

// Arena keeps entries: bytes that begin with their length as a varint. What was written is never written over, and what is
// dropped goes with its chunk, so whoever holds an entry's bytes can keep them for as long as it likes.
type Arena struct {
	chunks []chunk
	free   []int // chunks without memory
	last   int   // the chunk that is written to
	dead   int   // bytes of dropped entries
	total  int   // bytes of all
}

type chunk struct {
	bytes []byte
	dead  int
}

// Add keeps an entry of a body.
func (a *Arena) Add(body []byte) Ref {
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(body)))
	c := a.room(n + len(body))
	at := len(c.bytes)
	c.bytes = append(c.bytes, length[:n]...)
	c.bytes = append(c.bytes, body...)
	for len(c.bytes)%align != 0 {
		c.bytes = append(c.bytes, 0)
	}
	a.total += len(c.bytes) - at
	return Ref(a.last*perChunk + at/align) //nolint:gosec // see Ref
}

// room gives the chunk that an entry of some bytes fits in.
func (a *Arena) room(n int) *chunk {
	n += align - 1
	if len(a.chunks) == 0 {
		return a.open(max(beginning, n))
	}
	c := &a.chunks[a.last]
	switch size := len(c.bytes) + n; {
	case size <= cap(c.bytes) && len(c.bytes) < chunkSize:
	case size <= chunkSize:
		grown := make([]byte, len(c.bytes), min(max(cap(c.bytes)+cap(c.bytes)/2, size), chunkSize))
		copy(grown, c.bytes)
		c.bytes = grown
	default: // an entry too long for any chunk has one of its own
		c = a.open(max(chunkSize-align, n))
	}
	return c
}

func (a *Arena) open(size int) *chunk {
	if n := len(a.free); n > 0 {
		a.last, a.free = a.free[n-1], a.free[:n-1]
	} else {
		a.chunks, a.last = append(a.chunks, chunk{}), len(a.chunks)
	}
	c := &a.chunks[a.last]
	*c = chunk{bytes: make([]byte, align, size+align)} // what is before the first entry keeps Ref zero free
	return c
}

// Body is what an entry was made of.
func (a *Arena) Body(r Ref) []byte {
	b := a.chunks[r/perChunk].bytes[int(r%perChunk)*align:]
	n, size := binary.Uvarint(b)
	return b[size : size+int(n) : size+int(n)] //nolint:gosec // as it was written
}

// Touch reads where an entry begins. Touching many before reading them waits for memory about once.
func (a *Arena) Touch(r Ref) byte { return a.chunks[r/perChunk].bytes[int(r%perChunk)*align] }

// Drop says that nobody needs an entry any more.
func (a *Arena) Drop(r Ref) {
	n := extent(a.chunks[r/perChunk].bytes[int(r%perChunk)*align:])
	a.chunks[r/perChunk].dead += n
	a.dead += n
}

// extent is how many bytes the entry at the beginning takes.
func extent(b []byte) int {
	n, size := binary.Uvarint(b)
	return (size + int(n) + align - 1) / align * align //nolint:gosec // as it was written
}

// Memory is how many bytes the arena takes.
func (a *Arena) Memory() int {
	n := 0
	for i := range a.chunks {
		n += cap(a.chunks[i].bytes)
	}
	return n
}

// Sweep goes through the entries of a chunk that has many dropped ones. Whoever keeps the entries moves those it still needs,
// a few at a time, and then the chunk goes.
type Sweep struct{ chunk, at int }

// Sparse begins a sweep when more than a third of all is of dropped entries: of the chunk that has most of them.
func (a *Arena) Sparse() (Sweep, bool) {
	if a.dead*3 <= a.total || a.total == 0 {
		return Sweep{}, false
	}
	most := 0
	for i := range a.chunks {
		if a.chunks[i].dead > a.chunks[most].dead {
			most = i
		}
	}
	if most == a.last {
		a.open(min(cap(a.chunks[most].bytes), chunkSize) / 2)
	}
	return Sweep{chunk: most, at: align}, true
}

// Next is another entry of a sweep, dropped or not. After the last one the chunk is gone.
func (a *Arena) Next(s *Sweep) (Ref, bool) {
	c := &a.chunks[s.chunk]
	if s.at >= len(c.bytes) {
		a.total -= len(c.bytes) - align
		a.dead -= c.dead
		a.free = append(a.free, s.chunk)
		*c = chunk{}
		return 0, false
	}
	r := Ref(s.chunk*perChunk + s.at/align) //nolint:gosec // see Ref
	s.at += extent(c.bytes[s.at:])
	return r, true
}
