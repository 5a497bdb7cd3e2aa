package estimate

import "math"

// Count learns m and u from pairs whose truth is known, under the same anchor.
func Count(s Scheme, same, others *Tally, a Anchor) Fit {
	fit := Fit{U: Strangers(s, others, a), M: make([][]float64, len(s)), Pairs: same.Size()}
	counts := same.Levels(s)
	for f := range s {
		fit.M[f] = a.Monotone(counts[f], s[f].M, fit.U[f])
	}
	return fit
}

// Strangers learns u from pairs of two people.
func Strangers(s Scheme, others *Tally, a Anchor) [][]float64 {
	counts, u := others.Levels(s), make([][]float64, len(s))
	for f := range s {
		u[f] = a.Distribution(counts[f], s[f].U)
	}
	return u
}

// LogLikelihood is the logarithm of how likely pairs of unknown truth are after a fit: the higher, on pairs that it was not
// learnt from, the better it describes them. Each group's share is the likeliest for it, so that what is compared is the
// weights alone.
func (fit Fit) LogLikelihood(s Scheme, groups []*Tally) (sum float64) {
	for _, group := range groups {
		one, part := Fit{M: fit.M, U: fit.U, Shares: []float64{firstShare}}, [][]pattern{group.patterns()}
		likelihood := 0.0
		for range mostIterations {
			var e expected
			e, likelihood = one.expect(s, part)
			share := (e.groups[0] + 1) / (group.Size() + 2)
			moved := math.Abs(share - one.Shares[0])
			if one.Shares[0] = share; moved < settled {
				break
			}
		}
		sum += likelihood
	}
	return sum
}
