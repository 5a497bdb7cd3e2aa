package index

import (
	"math/bits"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// sketch is what a glance at a record tells: day of birth, which letters the names have, sex and the middle name's first
// letter. Sketches of all people lie side by side, so that a search puts most candidates aside for the price of one look at
// memory each, without reading their records.
type sketch uint64

// The parts of a sketch. Letters take the place of names: an error changes one or two of them, another name most.
const (
	sketchLast    = 0  // 20 bits
	sketchFirst   = 20 // 18 bits
	sketchBirth   = 38 // 16 bits: year modulo 128, month, day; zero: not known
	sketchInitial = 54 // 5 bits; zero: not known
	sketchSex     = 59 // 3 bits; zero: not known

	manyFirst sketch = 1 << 62 // the letters are of several first names
	manyLast  sketch = 1 << 63

	lastLetters  = 1<<20 - 1
	firstLetters = 1<<18 - 1
)

func sketchOf(p *linkage.Person) sketch {
	first, last := lettersOf(p.First), lettersOf(p.Last)
	var s sketch
	if several(p.First) {
		s |= manyFirst
	}
	if several(p.Last) {
		s |= manyLast
	}
	for i := range p.Aliases {
		a := &p.Aliases[i]
		if a.First != nil {
			first, s = first|lettersOf(a.First), s|manyFirst
		}
		if a.Last != nil {
			last, s = last|lettersOf(a.Last), s|manyLast
		}
	}
	s |= sketch(fewer(last, 20))<<sketchLast | sketch(fewer(first, 18))<<sketchFirst
	if p.DOB != 0 {
		s |= sketch(p.DOB.Year()&127<<9|p.DOB.Month()<<5|p.DOB.Day()) << sketchBirth //nolint:gosec // 16 bits
	}
	return s | sketch(initialOf(p.Middle))<<sketchInitial | sketch(p.Sex&7)<<sketchSex
}

func several(t *linkage.Text) bool { return t != nil && len(t.Parts) > 1 }

func (s sketch) last() uint32    { return uint32(s >> sketchLast & lastLetters) }
func (s sketch) first() uint32   { return uint32(s >> sketchFirst & firstLetters) }
func (s sketch) birth() uint16   { return uint16(s >> sketchBirth) } //nolint:gosec // 16 bits
func (s sketch) initial() uint32 { return uint32(s >> sketchInitial & 31) }
func (s sketch) sex() uint32     { return uint32(s >> sketchSex & 7) }

// lettersOf are those of a name, as bits from a to z; none: it has none of these, or is not known.
func lettersOf(t *linkage.Text) uint32 {
	if t == nil || t.Missing {
		return 0
	}
	return letters(t.Whole)
}

func letters(word string) uint32 {
	set := uint32(0)
	for i := 0; i < len(word); i++ {
		if c := word[i] - 'a'; c < 26 {
			set |= 1 << c
		}
	}
	return set
}

// fewer folds the last letters of the alphabet into its first.
func fewer(set uint32, bits int) uint32 { return (set | set>>bits) & (1<<bits - 1) }

// initialOf is the first letter of a middle name from 1; zero: there is none.
func initialOf(t *linkage.Text) uint8 {
	if t == nil || t.Missing || t.Whole == "" {
		return 0
	}
	if c := t.Whole[0] - 'a'; c < 26 {
		return c + 1
	}
	return 27
}

// alike tells whether one set of letters can be of the other's name with an error or two. A set of many names may have more.
func alike(asked, set uint32, many bool) bool {
	most := 1
	if bits.OnesCount32(asked) > 4 {
		most = 2
	}
	return bits.OnesCount32(asked&^set) <= most && (many || bits.OnesCount32(set&^asked) <= most)
}
