package linkage

import "math"

// weighed is what a pair's levels come to.
type weighed struct {
	bits     float64
	careless float64 // what errors coming together adds
	kin      float64 // what relatives take away
	relative int     // the likeliest of them
	trained  float64 // what calibration adds
}

// weigh adds the weights up. Of one person are P(one) = prior Π m, of strangers P = Π u, and the records can also be of two
// relatives: so bits = log2 of P(one) over what strangers and relatives of all kinds come to together. Since a relative
// agrees in what a household shares as often as the same person does, agreement there cannot outweigh how many relatives a
// person has, however rare it is among strangers.
func (q *Question) weigh(p *pair) weighed {
	t := q.model
	sum, few, many := q.prior, t.careful, t.careless
	var kin [mostRelatives]float64
	for f := range p.level {
		l := p.level[f]
		if l < 0 {
			continue
		}
		w := p.weight[f]
		sum += w
		few += t.slips[f][l][0]
		many += t.slips[f][l][1]
		for k := range t.classes {
			kin[k] += max(t.shared[f][k], t.apart[f][k]-w)
		}
	}
	out := weighed{careless: t.sums.add(few, many), relative: -1}
	sum += out.careless
	most := math.Inf(-1)
	against := -sum
	for k := range t.classes {
		odds := t.expected[k] + kin[k] - out.careless
		against = t.sums.add(against, odds)
		if odds > most {
			most, out.relative = odds, k
		}
	}
	out.bits = -against
	out.kin = out.bits - sum
	out.trained = out.bits*(t.scale-1) + t.shift
	out.bits += out.trained
	return out
}
