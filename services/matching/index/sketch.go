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
	sketchLast    = 0  // 18 bits
	sketchFirst   = 18 // 16 bits
	sketchBirth   = 34 // 20 bits, see birthday; zero: not known
	sketchInitial = 54 // 5 bits; zero: not known
	sketchSex     = 59 // 3 bits; zero: not known

	manyFirst sketch = 1 << 62 // the letters are of several first names
	manyLast  sketch = 1 << 63
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
	s |= sketch(asLast(last))<<sketchLast | sketch(asFirst(first))<<sketchFirst
	return s | sketch(birthdayOf(p.DOB))<<sketchBirth | sketch(initialOf(p.Middle))<<sketchInitial | sketch(p.Sex&7)<<sketchSex
}

// several tells that a text has words whose letters are not those of the whole: some of it may agree while the rest does not.
func several(t *linkage.Text) bool {
	return t != nil && len(t.Parts) > 0 && (t.Whole != t.Parts[0].Text || t.Parts[0].Alt != "")
}

func (s sketch) last() uint32    { return uint32(s >> sketchLast & (1<<18 - 1)) }
func (s sketch) first() uint32   { return uint32(s >> sketchFirst & (1<<16 - 1)) }
func (s sketch) birth() birthday { return birthday(s >> sketchBirth & (1<<20 - 1)) }
func (s sketch) initial() uint32 { return uint32(s >> sketchInitial & 31) }
func (s sketch) sex() uint32     { return uint32(s >> sketchSex & 7) }

// lettersOf are those of a name, as bits from a to z; none: it has none of these, or is not known.
func lettersOf(t *linkage.Text) uint32 {
	if t == nil || t.Missing {
		return 0
	}
	set := lettersIn(t.Whole)
	for i := range t.Parts {
		set |= lettersIn(t.Parts[i].Alt)
	}
	return set
}

func lettersIn(word string) uint32 {
	set := uint32(0)
	for i := 0; i < len(word); i++ {
		if c := word[i] - 'a'; c < 26 {
			set |= 1 << c
		}
	}
	return set
}

// asLast and asFirst fold the last letters of the alphabet into its first, as sketches of the two names have room.
func asLast(letters uint32) uint32  { return (letters | letters>>18) & (1<<18 - 1) }
func asFirst(letters uint32) uint32 { return (letters | letters>>16) & (1<<16 - 1) }

// birthday is a day in four bits each for the last two digits of its year, its month and the two digits of its day.
type birthday uint32

func birthdayOf(d linkage.Date) birthday {
	year, day := d.Year()%100, d.Day()
	return birthday(year/10<<16 | year%10<<12 | d.Month()<<8 | day/10<<4 | day%10) //nolint:gosec // 20 bits
}

// differ is in how many of its parts a day is not another.
func (b birthday) differ(other birthday) int {
	x := uint32(b ^ other)
	x |= x >> 1
	x |= x >> 2
	return bits.OnesCount32(x & 0x11111)
}

// initialOf is the first letter of a middle name from 1; zero: there is none.
func initialOf(t *linkage.Text) uint8 {
	if t == nil || t.Missing || t.Whole == "" {
		return 0
	}
	return initial(t.Whole)
}

func initial(word string) uint8 {
	if c := word[0] - 'a'; c < 26 {
		return c + 1
	}
	return 27
}

// parts are the last two digits of a birthday's year, its month and its day.
func (b birthday) parts() (year, month, day int) {
	return int(b>>16&15*10 + b>>12&15), int(b >> 8 & 15), int(b>>4&15*10 + b&15)
}

func (b birthday) vague() bool { return b&0xFFF == 0x101 }

// borders tells that the last digit of the year and the first of the month can have changed places.
func (b birthday) borders() bool { return b>>12&15 <= 1 }
