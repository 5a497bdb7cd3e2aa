package posting

// List are the numbers of a key, in no order. It holds until the next change of the lists.
type List struct {
	n   int
	one uint32 // the only number, when there is one
	at  uint32
	in  *slab
}

// Len is how many there are.
func (l List) Len() int { return l.n }

// Append adds the numbers to some, but no more than most of them.
func (l List) Append(to []uint32, most int) []uint32 {
	if l.in == nil {
		if l.n == 1 && most > 0 {
			to = append(to, l.one)
		}
		return to
	}
	for _, part := range l.in.parts(l.at) {
		part = part[:min(len(part), most)]
		to = append(to, part...)
		if most -= len(part); most == 0 {
			break
		}
	}
	return to
}
