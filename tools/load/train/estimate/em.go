package estimate

import "math"

// Fit is what was learnt.
type Fit struct {
	M, U       [][]float64 // by field and level
	Shares     []float64   // of pairs of one person, in each group of pairs
	Pairs      float64     // how many pairs of one person it was learnt from, at least: those of the group with most of them
	Iterations int
	Trace      []float64 // the logarithm of the posterior density after each iteration, but for a constant: it never falls
}

const (
	mostIterations = 500
	settled        = 1e-7 // no probability moves by more
)

// EM learns m, and each group's share of pairs of one person, from pairs of unknown truth. A group holds the pairs that one way
// of looking for them found; the fields by which it did are Missing in its vectors, since they agree whoever it is. U is given:
// pairs taken at random are of two people, nearly all, and tell it better than those that were looked for. The fields are taken
// to be independent within pairs of one person, and of two, as Fellegi & Sunter do.
func EM(s Scheme, u [][]float64, groups []*Tally, a Anchor) Fit {
	fit := Fit{U: u, M: make([][]float64, len(s)), Shares: make([]float64, len(groups))}
	parts := make([][]pattern, len(groups))
	for g, group := range groups {
		parts[g], fit.Shares[g] = group.patterns(), firstShare
	}
	none := s.zero()
	for f := range s {
		fit.M[f] = a.Monotone(none[f], s[f].M, u[f])
	}
	for fit.Iterations = 1; fit.Iterations <= mostIterations; fit.Iterations++ {
		counts, likelihood := fit.expect(s, parts)
		fit.Trace = append(fit.Trace, likelihood+fit.prior(s, a))
		if fit.maximise(s, a, counts, groups) < settled {
			break
		}
	}
	return fit
}

// firstShare is where a group's share begins: few of the pairs that are looked for are of one person, but not none.
const firstShare = 0.1

// expected is the pairs of one person that an E-step expects: at each level of each field, and in each group.
type expected struct {
	levels [][]float64
	groups []float64
}

// expect is the E-step, at what was learnt so far. It tells the logarithm of its likelihood, too.
func (fit *Fit) expect(s Scheme, parts [][]pattern) (e expected, likelihood float64) {
	e = expected{s.zero(), make([]float64, len(parts))}
	ratios := fit.logRatios()
	for g, part := range parts {
		odds := math.Log(fit.Shares[g] / (1 - fit.Shares[g]))
		for _, p := range part {
			total, strangers := odds, 0.0
			for f, level := range p.levels {
				if level != Missing {
					total += ratios[f][level]
					strangers += math.Log(fit.U[f][level])
				}
			}
			one := 1 / (1 + math.Exp(-total))
			likelihood += p.pairs * (math.Log(1-fit.Shares[g]) + strangers + softplus(total))
			e.groups[g] += p.pairs * one
			for f, level := range p.levels {
				if level != Missing {
					e.levels[f][level] += p.pairs * one
				}
			}
		}
	}
	return e, likelihood
}

func (fit *Fit) logRatios() [][]float64 {
	out := make([][]float64, len(fit.M))
	for f := range fit.M {
		out[f] = make([]float64, len(fit.M[f]))
		for level := range out[f] {
			out[f][level] = math.Log(fit.M[f][level] / fit.U[f][level])
		}
	}
	return out
}

// softplus is log(1+eˣ).
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// maximise is the M-step. It tells by how much a probability moved at most.
func (fit *Fit) maximise(s Scheme, a Anchor, e expected, groups []*Tally) (moved float64) {
	for f := range s {
		m := a.Monotone(e.levels[f], s[f].M, fit.U[f])
		for level := range m {
			moved = max(moved, math.Abs(m[level]-fit.M[f][level]))
		}
		fit.M[f] = m
	}
	fit.Pairs = 0
	for g, group := range groups {
		share := (e.groups[g] + 1) / (group.Size() + 2) // Laplace: never none, never all
		moved = max(moved, math.Abs(share-fit.Shares[g]))
		fit.Shares[g] = share
		fit.Pairs = max(fit.Pairs, e.groups[g])
	}
	return moved
}

// prior is the logarithm of the prior density of what was learnt.
func (fit *Fit) prior(s Scheme, a Anchor) (sum float64) {
	for f := range s {
		none := make([]float64, len(s[f].M))
		belief := a.Monotone(none, s[f].M, fit.U[f])
		for level, events := range a.events(belief) {
			m := fit.M[f][level]
			sum += events*math.Log(m) - events/belief[level]*m
		}
	}
	for _, share := range fit.Shares {
		sum += math.Log(share) + math.Log(1-share)
	}
	return sum
}
