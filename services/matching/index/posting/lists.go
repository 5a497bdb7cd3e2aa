// Package posting keeps, for each of many keys, the numbers that were put under it: an inverted index in little memory, that
// takes and gives up numbers at any time. It knows nothing of people, and of locks: whoever uses it keeps writers apart from
// everybody else.
package posting

// Lists are numbers by key. Keys are hashes of 64 bits; the first 40 of them tell keys apart, so a list can, seldom, hold the
// numbers of two keys. Numbers are at least 1 and below 2^31.
//
// A table is an ordered one (Amble & Knuth, Ordered hash tables, 1974): a search that finds nothing ends as early as one
// that finds, so that it can be nine tenths full. There are many tables, so that the growth of one takes no time to speak of.
type Lists struct{ shards [shards]shard }

const shards = 256

// shard are the lists of the keys with the same first byte.
type shard struct {
	slots []uint64 // tag, then the only number or the block: ascending by tag with empty slots (0) between
	home  int      // slots that can be a tag's first; those after are for the ones displaced at the end
	used  int
	words slab
}

const block = 1 << 31 // says that the second half of a slot is the place of a block

func tagOf(key uint64) uint64 { return key >> 24 & 0xFFFFFFFF }

func (l *Lists) shard(key uint64) *shard { return &l.shards[key>>56] }

// first is where a tag is looked for. It never falls while the tag grows, so slots stay in order.
func (s *shard) first(tag uint64) int { return int(tag * uint64(s.home) >> 32) } //nolint:gosec // a tag has 32 bits

// find tells the slot of a tag, or where it belongs.
func (s *shard) find(tag uint64) (at int, ok bool) {
	if len(s.slots) == 0 {
		return 0, false
	}
	for at = s.first(tag); at < len(s.slots); at++ {
		slot := s.slots[at]
		if slot == 0 || slot>>32 > tag {
			return at, false
		}
		if slot>>32 == tag {
			return at, true
		}
	}
	return at, false
}

// Of is the list of a key.
func (l *Lists) Of(key uint64) List {
	s := l.shard(key)
	at, ok := s.find(tagOf(key))
	if !ok {
		return List{}
	}
	v := uint32(s.slots[at]) //nolint:gosec // its second half
	if v&block == 0 {
		return List{one: v, n: 1}
	}
	return List{n: s.words.length(v &^ block), at: v &^ block, in: &s.words}
}

// Len is how many numbers a key has.
func (l *Lists) Len(key uint64) int { return l.Of(key).Len() }

// Touch reads where the list of a key begins. Asking for many lists one after the other waits for memory each time; touching
// all of them first waits about once.
func (l *Lists) Touch(key uint64) uint64 {
	s := l.shard(key)
	if len(s.slots) == 0 {
		return 0
	}
	return s.slots[s.first(tagOf(key))]
}

// Add puts a number, which is not there yet, under a key.
func (l *Lists) Add(key uint64, n uint32) {
	s := l.shard(key)
	tag := tagOf(key)
	at, ok := s.find(tag)
	if ok {
		slot := &s.slots[at]
		*slot = tag<<32 | uint64(s.words.add(uint32(*slot), n)) //nolint:gosec // its second half
		s.tidy()
		return
	}
	if len(s.slots) == 0 || s.used*10 >= s.home*9 {
		s.resize(s.home + s.home>>3 + 8)
	}
	for !s.insert(tag<<32 | uint64(n)) {
		s.resize(s.home + s.home>>3 + 8)
	}
}

// insert makes room for a slot by moving those after it. It fails when the room at the end is used up.
func (s *shard) insert(slot uint64) bool {
	at, _ := s.find(slot >> 32)
	end := at
	for end < len(s.slots) && s.slots[end] != 0 {
		end++
	}
	if end == len(s.slots) {
		return false
	}
	copy(s.slots[at+1:end+1], s.slots[at:end])
	s.slots[at] = slot
	s.used++
	return true
}

// spare is the room for slots displaced at the end of a table.
func spare(home int) int { return min(4+home>>4, 48) }

// resize moves the slots to a table of another size, in order. Should the room at the end not do, it makes a larger one.
func (s *shard) resize(home int) {
	for ; ; home += home>>3 + 8 {
		next := shard{slots: make([]uint64, home+spare(home)), home: home}
		at := 0
		for _, slot := range s.slots {
			if slot == 0 {
				continue
			}
			at = max(at, next.first(slot>>32))
			if at == len(next.slots) {
				break
			}
			next.slots[at] = slot
			next.used++
			at++
		}
		if next.used == s.used {
			s.slots, s.home = next.slots, next.home
			return
		}
	}
}

// Remove takes a number from a key, and tells whether it was there.
func (l *Lists) Remove(key uint64, n uint32) bool {
	s := l.shard(key)
	tag := tagOf(key)
	at, ok := s.find(tag)
	if !ok {
		return false
	}
	v := uint32(s.slots[at]) //nolint:gosec // its second half
	if v == n {
		s.delete(at)
		return true
	}
	if v&block == 0 {
		return false
	}
	left, removed := s.words.remove(v&^block, n)
	s.slots[at] = tag<<32 | uint64(left)
	s.tidy()
	return removed
}

// delete closes the gap of a slot with those after it that are not at their first place.
func (s *shard) delete(at int) {
	end := at + 1
	for end < len(s.slots) && s.slots[end] != 0 && s.first(s.slots[end]>>32) < end {
		end++
	}
	copy(s.slots[at:], s.slots[at+1:end])
	s.slots[end-1] = 0
	if s.used--; s.used == 0 {
		*s = shard{}
		return
	}
	if s.home > 64 && s.used*3 < s.home {
		s.resize(s.used + s.used>>2 + 8)
	}
}

// tidy moves the blocks of a shard together when much of their memory is free.
func (s *shard) tidy() {
	if s.words.free < 64+len(s.slots)/16 || s.words.free*3 < len(s.words.words) {
		return
	}
	from := s.words
	s.words = slab{words: make([]uint32, 1, len(from.words)-from.free+64)}
	for i, slot := range s.slots {
		if v := uint32(slot); v&block != 0 { //nolint:gosec // its second half
			s.slots[i] = slot>>32<<32 | uint64(s.words.take(&from, v&^block))
		}
	}
}

// Keys is how many keys have a list.
func (l *Lists) Keys() int {
	n := 0
	for i := range l.shards {
		n += l.shards[i].used
	}
	return n
}

// Memory is how many bytes the lists take.
func (l *Lists) Memory() int {
	n := 0
	for i := range l.shards {
		n += 8*len(l.shards[i].slots) + 4*cap(l.shards[i].words.words)
	}
	return n
}
