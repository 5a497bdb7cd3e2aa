package train

import (
	"math"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// dial is a figure of a model that calibrates all of its scores.
type dial struct {
	of        func(m *linkage.Model) *float64
	low, high float64
}

// dials are what is known before anything is compared, and how errors come together.
func dials() []dial {
	return []dial{
		{func(m *linkage.Model) *float64 { return &m.Prior.Matches }, 0.05, 20},
		{func(m *linkage.Model) *float64 { return &m.Careless.Share }, 0.02, 0.5},
		{func(m *linkage.Model) *float64 { return &m.Careless.Times }, 1, 30},
	}
}

// steps are by what a dial is turned, once round after round.
func steps() []float64 { return []float64{2, 1.25, 1.1} }

// A dial that is turned by a factor of two costs as much as one wrong answer that was held for twice as likely as not.
const turning = 1.58

// calibrated turns the dials until the scores of the pairs surprise least. It never lets an answer be certain more easily
// than the model did, and not where one of these was wrong.
func (p *People) calibrated(raw *linkage.Model, list []asked) (*linkage.Model, error) {
	best, err := clone(raw)
	if err != nil {
		return nil, err
	}
	least := p.cost(best, raw, list)
	for _, step := range steps() {
		for improved := true; improved; {
			improved = false
			for _, d := range dials() {
				for _, by := range []float64{step, 1 / step} {
					next, err := clone(best)
					if err != nil {
						return nil, err
					}
					*d.of(next) = min(max(*d.of(next)*by, d.low), d.high)
					if cost := p.cost(next, raw, list); cost < least-1e-6 {
						best, least, improved = next, cost, true
					}
				}
			}
		}
	}
	p.raise(best, list)
	return clone(best)
}

// cost is how much the pairs surprise, and how far the dials were turned.
func (p *People) cost(m, from *linkage.Model, list []asked) (sum float64) {
	for _, a := range list {
		q := m.Ask(&p.persons[a.question], p.common, p.now)
		for _, c := range a.candidates {
			sum += surprise(q.Score(&p.persons[c]), p.same(a.question, c))
		}
	}
	for _, d := range dials() {
		turned := math.Log2(*d.of(m) / *d.of(from))
		sum += turning * turned * turned
	}
	return sum
}

// raise lifts the score from which on an answer is certain above those that were wrong.
func (p *People) raise(m *linkage.Model, list []asked) {
	for _, a := range list {
		q := m.Ask(&p.persons[a.question], p.common, p.now)
		first, second, best := math.Inf(-1), math.Inf(-1), int32(-1)
		for _, c := range a.candidates {
			switch bits := q.Score(&p.persons[c]); {
			case bits > first:
				first, second, best = bits, first, c
			case bits > second:
				second = bits
			}
		}
		_, bits, veto := q.Explain(&p.persons[best])
		if m.Grade(bits, second, veto, false) == linkage.Certain && !p.same(a.question, best) {
			m.Thresholds.Certain = math.Nextafter(linkage.Likelihood(bits), 2)
		}
	}
	m.Thresholds.Certain = min(m.Thresholds.Certain, 1)
}
