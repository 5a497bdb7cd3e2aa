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
//
// Relatives' records are as careless as anybody's: what a field tells of carelessness counts against those relatives alone who
// do not share the field. So more agreement never lowers the bits.
func (q *Question) weigh(p *pair) weighed {
	t := q.model
	sum, few, many := 0.0, t.careful, t.careless
	var kin [mostRelatives][3]float64 // what they share: log2 of how often, weight and slips taken out
	for f := range p.level {
		l := p.level[f]
		if l < 0 {
			continue
		}
		w, slips := p.weight[f], &t.slips[f][l]
		sum += w
		few += slips[0]
		many += slips[1]
		for _, s := range t.sharing[f] {
			k := &kin[s.relative%mostRelatives]
			k[0] += max(s.shared, s.apart-w) + w
			k[1] += slips[0]
			k[2] += slips[1]
		}
	}
	out := weighed{careless: t.sums.add(few, many), relative: -1}
	most := math.Inf(-1)
	against := -(q.prior + sum + out.careless)
	for i := range t.relatives {
		k := &kin[i%mostRelatives]
		odds := t.relatives[i].expected + k[0] - sum - t.sums.add(few-k[1], many-k[2])
		against = t.sums.add(against, odds)
		if odds > most {
			most, out.relative = odds, i
		}
	}
	out.bits = -against
	out.kin = out.bits - (q.prior + sum + out.careless)
	out.trained = out.bits*(t.scale-1) + t.shift
	out.bits += out.trained
	return out
}
