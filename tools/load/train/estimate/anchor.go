package estimate

// Anchor is how much what was believed before weighs against what is counted.
type Anchor struct {
	Pairs  float64 // the belief about a field is worth so many pairs
	Events float64 // and that about a level at least so many pairs at this level, however rare it is
}

// DefaultAnchor lets a thousand pairs say more than what was believed, and ten less. A level that three pairs in a million
// have is believed in until millions of pairs were counted.
func DefaultAnchor() Anchor { return Anchor{Pairs: 100, Events: 2} }

// Distribution is the likeliest one over levels after counts. Its prior is, at each level, a Gamma density with its mode at
// the belief: pseudo-counts, as a Dirichlet prior has them, but of as many pairs at each level as the anchor says. Without
// counts it is the belief.
func (a Anchor) Distribution(counts, belief []float64) []float64 {
	return a.fit(counts, belief, nil)
}

// Monotone is Distribution among those whose ratio to u never rises from a level to a worse one: the maximum under the
// order of likelihood ratios is an isotonic regression of the ratios (Robertson, Wright & Dykstra 1988, §1.5), which
// pooling adjacent violators gives.
func (a Anchor) Monotone(counts, belief, u []float64) []float64 {
	return a.fit(counts, ordered(belief, u), u) // a belief need not be monotone against a u that was learnt
}

// events are the pseudo-counts of the levels.
func (a Anchor) events(belief []float64) []float64 {
	out := make([]float64, len(belief))
	for i, p := range belief {
		out[i] = max(a.Events, a.Pairs*p)
	}
	return out
}

// fit maximises Σ (c+e) log m − (e/belief) m over the m that sum to 1, and are monotone against u where that is given. For
// Lagrange's multiplier λ the levels, or the pools of them, are apart: m = (c+e) / (λ + e/belief). Their sum falls in λ. It is
// 1 or more at 0, where m is the belief raised by the counts, and 1 or less at the sum of all counts.
func (a Anchor) fit(counts, belief, u []float64) []float64 {
	events := a.events(belief)
	above, below := make([]float64, len(belief)), make([]float64, len(belief))
	most := 0.0
	for i := range belief {
		above[i] = counts[i] + events[i]
		most += above[i]
	}
	at := func(lambda float64) (m []float64, sum float64) {
		for i := range below {
			below[i] = lambda + events[i]/belief[i]
		}
		if u == nil {
			m = make([]float64, len(belief))
			for i := range m {
				m[i] = above[i] / below[i]
			}
		} else {
			m = spread(pool(above, below, u), u)
		}
		for _, p := range m {
			sum += p
		}
		return m, sum
	}
	low, high := 0.0, most
	for range 100 {
		middle := (low + high) / 2
		if _, sum := at(middle); sum > 1 {
			low = middle
		} else {
			high = middle
		}
	}
	m, sum := at(high)
	for i := range m {
		m[i] /= sum // what halving has left
	}
	return m
}

// pool is the isotonic regression, falling, of the ratios above / (below·u), weighted by below·u.
func pool(above, below, u []float64) []float64 {
	type block struct {
		above, below float64
		levels       int
	}
	blocks := make([]block, 0, len(u))
	for i := range u {
		blocks = append(blocks, block{above[i], below[i] * u[i], 1})
		for n := len(blocks); n > 1 && blocks[n-2].above*blocks[n-1].below < blocks[n-1].above*blocks[n-2].below; n = len(blocks) {
			blocks[n-2].above += blocks[n-1].above
			blocks[n-2].below += blocks[n-1].below
			blocks[n-2].levels += blocks[n-1].levels
			blocks = blocks[:n-1]
		}
	}
	ratios := make([]float64, 0, len(u))
	for _, b := range blocks {
		for range b.levels {
			ratios = append(ratios, b.above/b.below)
		}
	}
	return ratios
}

func spread(ratios, u []float64) []float64 {
	m := make([]float64, len(u))
	for i := range m {
		m[i] = ratios[i] * u[i]
	}
	return m
}
