package linkage

import "math"

// The grades of an answer.
const (
	Certain  = "certain"
	Probable = "probable"
	Possible = "possible"
)

// Likelihood is the probability that bits stand for.
func Likelihood(bits float64) float64 { return 1 / (1 + math.Exp2(-bits)) }

// Grade is that of the first answer: certain only without a veto, with all candidates seen, and clearly ahead of the second,
// whose bits are minus infinity where there is none.
func (m *Model) Grade(bits, second float64, veto string, truncated bool) string {
	score := Likelihood(bits)
	switch {
	case score >= m.Thresholds.Certain && bits-second >= m.Thresholds.Margin && veto == "" && !truncated:
		return Certain
	case score >= m.Thresholds.Probable:
		return Probable
	}
	return Possible
}
