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

// dials are what is known before anything is compared, how errors come together, and how far all bits are believed.
func dials() []dial {
	return []dial{
		{func(m *linkage.Model) *float64 { return &m.Prior.Matches }, 0.05, 20},
		{func(m *linkage.Model) *float64 { return &m.Careless.Share }, 0.02, 0.5},
		{func(m *linkage.Model) *float64 { return &m.Careless.Times }, 1, 30},
		{func(m *linkage.Model) *float64 { return &m.Calibration.Scale }, 0.5, 1.5},
	}
}

// steps are by what a dial is turned, once round after round.
func steps() []float64 { return []float64{2, 1.25, 1.1} }

// A dial that is turned by a factor of two costs as much as one wrong answer that was held for twice as likely as not.
const turning = 1.58

// calibrated turns the dials until the scores of the pairs surprise least. It never lets an answer be certain more easily
// than the model did, and not where one of these was wrong; left are those whom that does not help.
func (p *People) calibrated(raw *linkage.Model, list []asked) (model *linkage.Model, left int, err error) {
	best, err := clone(raw)
	if err != nil {
		return nil, 0, err
	}
	least := p.cost(best, raw, list)
	for _, step := range steps() {
		for improved := true; improved; {
			improved = false
			for _, d := range dials() {
				for _, by := range []float64{step, 1 / step} {
					next, err := clone(best)
					if err != nil {
						return nil, 0, err
					}
					*d.of(next) = min(max(*d.of(next)*by, d.low), d.high)
					if cost := p.cost(next, raw, list); cost < least-1e-6 {
						best, least, improved = next, cost, true
					}
				}
			}
		}
	}
	left = p.raise(best, list)
	model, err = clone(best)
	return model, left, err
}

// cost is how much the pairs surprise, and how far the dials were turned.
func (p *People) cost(m, from *linkage.Model, list []asked) (sum float64) {
	var a answers
	for _, of := range list {
		a = p.ask(m, of, a.bits)
		for i, bits := range a.bits {
			sum += surprise(bits, p.same(of.question, of.candidates[i]))
		}
	}
	for _, d := range dials() {
		turned := math.Log2(*d.of(m) / *d.of(from))
		sum += turning * turned * turned
	}
	return sum
}

// raise lifts the score from which on an answer is certain above those that were wrong. Left are those with a score of 1, above
// which there is nothing.
func (p *People) raise(m *linkage.Model, list []asked) (left int) {
	var a answers
	for _, of := range list {
		a = p.ask(m, of, a.bits)
		if first, certain := p.certain(m, of, a); certain && !p.same(of.question, first) {
			_, bits, _ := a.Explain(&p.persons[first])
			score := linkage.Likelihood(bits)
			if score >= linkage.MostCertain {
				left++
			}
			m.Thresholds.Certain = min(math.Nextafter(score, 2), linkage.MostCertain)
		}
	}
	return left
}
