package linkage

import "math"

const (
	sumSteps = 16 // a bit
	sumReach = 26 // bits, beyond which the smaller one does not count
)

// sums adds numbers that are given by their logarithms to base two: log2(2^a + 2^b) = max + log2(1 + 2^-|a-b|), the latter
// from a table with straight lines between its points, less than a ten-thousandth of a bit off. It rises with each of the two.
type sums [sumSteps*sumReach + 2]float64

func newSums() *sums {
	var s sums
	for i := range s {
		s[i] = math.Log2(1 + math.Exp2(-float64(i)/sumSteps))
	}
	return &s
}

func (s *sums) add(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	d := (a - b) * sumSteps
	if !(d < sumSteps*sumReach) { // or one is minus infinity
		return a
	}
	i := int(d)
	rest := d - float64(i)
	return a + s[i] + rest*(s[i+1]-s[i])
}
