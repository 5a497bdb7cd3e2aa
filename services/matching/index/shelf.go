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
}

type cell struct{ turn, number, slot uint32 }

const cells = 4096

func (s *shelf) clear() {
	if s.cells == nil {
		s.cells = make([]cell, cells)
	}
	s.used = 0
	if s.turn++; s.turn == 0 {
		clear(s.cells)
		s.turn = 1
	}
}

// text is the text of a number. One whose cell another has taken is rebuilt again, which does no harm.
func (s *shelf) text(number uint32) *linkage.Text {
	c := &s.cells[number*2654435769>>20]
	if c.turn == s.turn && c.number == number {
		return s.slots[c.slot]
	}
	t := s.fresh()
	s.words.Fill(number, t)
	*c = cell{s.turn, number, uint32(s.used - 1)} //nolint:gosec // thousands at most
	return t
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
