package arena

// Column is numbers by a dense index from zero. It grows piece by piece, so that growth never copies much.
type Column[T uint16 | uint32 | uint64 | Ref] struct {
	pieces [][]T
	n      int
}

const (
	pieceBits = 14
	pieceSize = 1 << pieceBits
)

// Len is how many numbers there are.
func (c *Column[T]) Len() int { return c.n }

// At is the number at an index.
func (c *Column[T]) At(i uint32) T { return c.pieces[i>>pieceBits][i&(pieceSize-1)] }

// Set writes the number at an index: one that is there, or the next.
func (c *Column[T]) Set(i uint32, v T) {
	if int(i) < c.n {
		c.pieces[i>>pieceBits][i&(pieceSize-1)] = v
		return
	}
	if int(i>>pieceBits) == len(c.pieces) {
		var piece []T
		if i > 0 {
			piece = make([]T, 0, pieceSize)
		}
		c.pieces = append(c.pieces, piece)
	}
	piece := &c.pieces[i>>pieceBits]
	*piece = append(*piece, v)
	c.n++
}

// Pieces are the numbers in runs, in order: for whoever reads all.
func (c *Column[T]) Pieces() [][]T { return c.pieces }

// Memory is how many bytes the column takes.
func (c *Column[T]) Memory(size int) int {
	n := 0
	for _, p := range c.pieces {
		n += cap(p) * size
	}
	return n
}
