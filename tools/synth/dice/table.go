package dice

import (
	"errors"
	"math/bits"
)

// Table draws from weighted entries in constant time, by the alias method (Walker 1977, Vose 1991).
type Table struct {
	rows  []row
	total uint64
}

// row stands for itself as often as keep says, of 2^32 times, and for another entry otherwise.
type row struct{ keep, other uint32 }

// NewTable makes a table of weights; entry i is drawn as often as weights[i] of their sum.
func NewTable(weights []uint64) (Table, error) {
	var total uint64
	for _, w := range weights {
		total += w
	}
	n := uint64(len(weights))
	if total == 0 || total > 1<<40 || n > 1<<20 {
		return Table{}, errors.New("a table needs weights, and not too many")
	}
	t := Table{rows: make([]row, n), total: total}
	rest := make([]uint64, n) // weight × n, against the total
	var small, large []uint32
	for i, w := range weights {
		rest[i] = w * n
		if rest[i] < total {
			small = append(small, uint32(i))
		} else {
			large = append(large, uint32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		t.rows[s] = row{keep: share(rest[s], total), other: l}
		rest[l] -= total - rest[s]
		if rest[l] < total {
			large, small = large[:len(large)-1], append(small, l)
		}
	}
	for _, i := range append(large, small...) {
		t.rows[i] = row{keep: ^uint32(0), other: i}
	}
	return t, nil
}

// share is part/whole in units of 2^-32; part is less than whole.
func share(part, whole uint64) uint32 {
	q, _ := bits.Div64(part>>32, part<<32, whole)
	return uint32(q) //nolint:gosec // below 2^32, since part < whole
}

// Draw gives the number of an entry.
func (t *Table) Draw(d *Dice) int {
	x := d.Uint64()
	high, _ := bits.Mul64(x, uint64(len(t.rows)))
	at := t.rows[high]
	if uint32(d.Uint64()>>32) > at.keep {
		return int(at.other)
	}
	return int(high) //nolint:gosec // below the table's length
}

// Total is the sum of the weights.
func (t *Table) Total() uint64 { return t.total }

// Len is the number of entries.
func (t *Table) Len() int { return len(t.rows) }
