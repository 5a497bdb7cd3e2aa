package linkage

import "math"

// Settle adds to the bits that Score gave for all candidates of a question what they tell together. A tenant that holds several
// records of somebody is likely to hold another one: if the number of a person's records is Poisson distributed with a mean
// that is itself drawn from a Gamma distribution of shape and rate one, then of n others found the mean is expected to be
// (n+1)/2. It never takes anything away, and does nothing where a person has one record or two. Explain follows it.
func (q *Question) Settle(bits []float64) {
	q.found = 0
	for _, b := range bits {
		if b > hopeless {
			q.found += Likelihood(b)
		}
	}
	for i, b := range bits {
		bits[i] += q.company(b)
	}
}

// hopeless are the bits below which nobody counts: a millionth.
const hopeless = -20

// company is what a candidate gains by the others.
func (q *Question) company(bits float64) float64 {
	if q.found <= 1 {
		return 0
	}
	return math.Log2(max(1, (1+q.found-Likelihood(bits))/2))
}
