package index

import (
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/services/matching/index/vocabulary"
)

// shelf gives texts of the vocabulary by number, each rebuilt once, until it is cleared. Then it uses their memory again.
type shelf struct {
	words *vocabulary.Vocabulary
	slots []*linkage.Text
	used  int
	cells []cell // by number: where it is among the slots
	turn  uint32 // cells of another turn are empty

	promised []*linkage.Text // have nothing but their numbers
	touched  uint64
}

type cell struct{ turn, number, slot uint32 }

const cells = 4096

func (s *shelf) clear() {
	if s.cells == nil {
		s.cells = make([]cell, cells)
	}
	s.used, s.promised = 0, s.promised[:0]
	if s.turn++; s.turn == 0 {
		clear(s.cells)
		s.turn = 1
	}
}

// text is the text of a number. One whose cell another has taken is rebuilt again, which does no harm.
func (s *shelf) text(number uint32) *linkage.Text {
	t, known := s.place(number)
	if !known {
		s.words.Fill(number, t)
	}
	return t
}

// place is where the text of a number is, or is to be.
func (s *shelf) place(number uint32) (t *linkage.Text, known bool) {
	c := &s.cells[number*2654435769>>20]
	if c.turn == s.turn && c.number == number {
		return s.slots[c.slot], true
	}
	t = s.fresh()
	*c = cell{s.turn, number, uint32(s.used - 1)} //nolint:gosec // thousands at most
	return t, false
}

// promises are a shelf whose texts are rebuilt all together, by keep: nobody may look into one before.
type promises struct{ *shelf }

func (p promises) text(number uint32) *linkage.Text {
	t, known := p.place(number)
	if !known {
		t.ID = number
		p.promised = append(p.promised, t)
	}
	return t
}

func (p promises) keep() {
	p.touched += p.words.FillAll(p.promised)
	p.promised = p.promised[:0]
}

// fresh is a text that nobody has since the last clear.
func (s *shelf) fresh() *linkage.Text {
	if s.used == len(s.slots) {
		block := make([]linkage.Text, 64)
		for i := range block {
			s.slots = append(s.slots, &block[i])
		}
	}
	s.used++
	return s.slots[s.used-1]
}
