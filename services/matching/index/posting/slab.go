package posting

import (
	"iter"
	"slices"
)

// slab is the memory of the lists of a shard that have more numbers than one. A block is a head, which tells the length of
// the list and the size of the block, and numbers. A list of up to a block's most numbers is one block, so that reading it
// waits for memory once; a longer one is a chain of the largest blocks, of which the first alone may have room.
//
// Blocks are of sizes 2^k and 3·2^k, so that a free one can be split into two others.
type slab struct {
	words []uint32 // the first is nobody's: place 0 is none
	gaps  [sizes]uint32
	free  int // words in gaps
}

const (
	sizes   = 18
	largest = sizes - 1
	chained = 1 // words of a chain's block that are its link
)

// size is how many words a block of a class has: 3, 4, 6, 8, … 768, 1024 and so on.
func size(class int) int {
	if class&1 == 0 {
		return 3 << (class / 2)
	}
	return 4 << (class / 2)
}

// A head is the length of the list and, in five bits, the class of the block.
func head(n, class int) uint32 { return uint32(n<<5 | class) } //nolint:gosec // n is below 2^27, class below 32

func (s *slab) length(at uint32) int { return int(s.words[at] >> 5) }
func (s *slab) class(at uint32) int  { return int(s.words[at] & 31) }

// single is the most numbers of a list that is one block.
const single = 3<<(largest/2) - 1 // of the class before the largest: the largest is for chains

// chainRoom is how many numbers a block of a chain has.
const chainRoom = 4<<(largest/2) - 1 - chained

// inFirst is how many numbers of a chain of n are in its first block.
func inFirst(n int) int { return (n-1)%chainRoom + 1 }

// alloc gives a block of a class or somewhat larger: a free one, a part of a larger free one, or a new one.
func (s *slab) alloc(need int) (at uint32, class int) {
	for c := need; c < sizes; c++ {
		if at := s.gaps[c]; at != 0 {
			s.gaps[c] = s.words[at]
			s.free -= size(c)
			return at, s.split(at, c, need)
		}
	}
	if len(s.words) == 0 {
		s.words = append(s.words, 0)
	}
	from, n := len(s.words), size(need)
	if cap(s.words) < from+n {
		grown := make([]uint32, from, from+from>>3+n+16)
		copy(grown, s.words)
		s.words = grown
	}
	s.words = s.words[:from+n]
	return uint32(from), need //nolint:gosec // a shard is far below 2^31 words
}

// split gives back what of a free block is not needed, and tells the class of what is left.
func (s *slab) split(at uint32, class, need int) int {
	for class > need {
		keep, rest := class-2, class-2 // 2^k is 2^(k-1) twice
		switch {
		case class == 1:
			return class
		case class == 2:
			keep, rest = 0, 0 // 6 is 3 and 3
		case class&1 == 0:
			keep, rest = class-1, class-3 // 3·2^k is 2^(k+1) and 2^k
		}
		if keep < need {
			return class
		}
		s.release(at+uint32(size(keep)), rest) //nolint:gosec // within the slab
		class = keep
	}
	return class
}

func (s *slab) release(at uint32, class int) {
	s.words[at] = s.gaps[class]
	s.gaps[class] = at
	s.free += size(class)
}

// add puts a number to the list that the second half of a slot tells, and tells the new second half.
func (s *slab) add(v, n uint32) uint32 {
	if v&block == 0 {
		at, class := s.alloc(0)
		s.words[at], s.words[at+1], s.words[at+2] = head(2, class), v, n
		return at | block
	}
	at := v &^ block
	length := s.length(at)
	switch {
	case length > single:
		at = s.chain(at, length)
	case length == single:
		at = s.move(at, length, largest, 1+chained)
	case 1+length == size(s.class(at)):
		at = s.move(at, length, s.class(at)+1, 1)
	}
	length++
	s.words[at] = head(length, s.class(at))
	s.words[int(at)+last(length)] = n
	return at | block
}

// last is where, from its head, the newest number of a list is.
func last(n int) int {
	if n > single {
		return chained + inFirst(n)
	}
	return n
}

// move copies a list of one block to another, whose numbers begin at a place from its head.
func (s *slab) move(from uint32, n, class, begin int) uint32 {
	at, class := s.alloc(class)
	copy(s.words[int(at)+begin:], s.words[from+1:int(from)+1+n])
	s.words[at] = head(n, class)
	if begin > 1 {
		s.words[at+chained] = 0
	}
	s.release(from, s.class(from))
	return at
}

// chain puts a block before a chain whose first one is full.
func (s *slab) chain(first uint32, n int) uint32 {
	if inFirst(n) < chainRoom {
		return first
	}
	at, class := s.alloc(largest)
	s.words[at], s.words[at+chained] = head(n, class), first
	return at
}

// remove takes a number from a list, and tells the new second half of its slot.
func (s *slab) remove(at, n uint32) (v uint32, ok bool) {
	place, ok := s.place(at, n)
	if !ok {
		return at | block, false
	}
	length := s.length(at)
	s.words[place] = s.words[int(at)+last(length)]
	length--
	s.words[at] = head(length, s.class(at))
	switch {
	case length == single: // the chain is one block
		next, class := s.alloc(largest - 1)
		copy(s.words[next+1:], s.words[at+1+chained:int(at)+1+chained+length])
		s.words[next] = head(length, class)
		s.release(at, s.class(at))
		at = next
	case length > single && inFirst(length) == chainRoom: // the first block is empty
		next := s.words[at+chained]
		s.words[next] = head(length, s.class(next))
		s.release(at, s.class(at))
		at = next
	case length == 1:
		v = s.words[at+1]
		s.release(at, s.class(at))
		return v, true
	case length <= single && length*3 < size(s.class(at)) && s.class(at) > 1:
		at = s.move(at, length, s.class(at)-2, 1)
	}
	return at | block, true
}

// place is where a number of a list stands.
func (s *slab) place(at, n uint32) (int, bool) {
	for from, part := range s.parts(at) {
		if i := slices.Index(part, n); i >= 0 {
			return from + i, true
		}
	}
	return 0, false
}

// parts are the numbers of a list as they lie, each run of them with its place.
func (s *slab) parts(at uint32) iter.Seq2[int, []uint32] {
	return func(yield func(int, []uint32) bool) {
		n := s.length(at)
		if n <= single {
			yield(int(at)+1, s.words[at+1:int(at)+1+n])
			return
		}
		for here := inFirst(n); n > 0; here = chainRoom {
			from := int(at) + 1 + chained
			if !yield(from, s.words[from:from+here]) {
				return
			}
			n -= here
			at = s.words[at+chained]
		}
	}
}

// take copies a list of another slab to the end of this one, in blocks as small as they can be.
func (s *slab) take(from *slab, at uint32) uint32 {
	n := from.length(at)
	if n > single {
		return s.takeChain(from, at, n)
	}
	class := 0
	for size(class) <= n {
		class++
	}
	to, class := s.alloc(class)
	s.words[to] = head(n, class)
	copy(s.words[to+1:], from.words[at+1:int(at)+1+n])
	return to | block
}

func (s *slab) takeChain(from *slab, at uint32, n int) uint32 {
	first, before := uint32(0), uint32(0)
	for _, part := range from.parts(at) {
		to, class := s.alloc(largest)
		s.words[to], s.words[to+chained] = head(n, class), 0
		copy(s.words[to+1+chained:], part)
		if before == 0 {
			first = to
		} else {
			s.words[before+chained] = to
		}
		before = to
	}
	return first | block
}
