package linkage

// verdict is how a text of the question and one of a candidate agree.
type verdict struct {
	level  int8
	weight float32
}

const memorySize = 1024 // a power of two

// memory remembers verdicts, so that a name borne by many candidates is compared once. A later one takes the place of an
// earlier one when there is no room, so it neither grows nor fills up.
type memory struct {
	keys     [memorySize]uint64 // slot and text; zero: empty
	verdicts [memorySize]verdict
}

func (m *memory) recall(slot, text uint32) (*verdict, bool) {
	key := uint64(slot)<<32 | uint64(text)
	at := key * 0x9E3779B97F4A7C15 >> (64 - 10)
	if m.keys[at] == key {
		return &m.verdicts[at], true
	}
	m.keys[at] = key
	return &m.verdicts[at], false
}
