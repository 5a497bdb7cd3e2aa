package linkage

import (
	"strconv"
	"strings"
)

// shares are how common names are in the United States.
type shares struct {
	of   map[string]float32
	tail float64 // of a name that is not in the table
}

// newShares reads a table: a line for the total and the share of names that are not in it, then names with their bearers.
func newShares(name string) shares {
	s := shares{of: make(map[string]float32, 20_000)}
	total := 0.0
	lines(name, func(line string) {
		key, value, _ := strings.Cut(line, " ")
		n, _ := strconv.ParseFloat(value, 64)
		switch key {
		case "TOTAL":
			total = n
		case "TAIL":
			s.tail = n / total
		default:
			s.of[key] = float32(n / total)
		}
	})
	return s
}

// Share is how many people in the United States have the part in their name, of all: from the Census for last names, from
// it and from births for first names. A rare name has the share that rare names have on the average. Other kinds: 0.
func (p *Parser) Share(kind Kind, part string) float64 {
	var s *shares
	switch kind {
	case Given:
		s = &p.given
	case Family:
		s = &p.family
	default:
		return 0
	}
	if share, ok := s.of[part]; ok {
		return float64(share)
	}
	return s.tail
}
