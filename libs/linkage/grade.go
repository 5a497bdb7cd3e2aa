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

// Bits are shown to a thousandth, scores to a millionth.
const (
	perBit   = 1000
	perScore = 1e6
	finer    = 1000 // how much finer than they are shown bits count
)

// Shown are bits as answers show them: cut, so that a score is never shown as more than it is.
func Shown(bits float64) float64 {
	return math.Floor(math.Round(bits*perBit*finer)/finer) / perBit
}

// Score is the probability that bits stand for as answers show it: cut too, and never one, since nothing but an exact find is
// sure.
func Score(bits float64) float64 {
	return min(math.Floor(perScore*Likelihood(bits)), perScore-1) / perScore
}

// Least are the least bits that are shown with a score, or a higher one; infinite: none are.
func Least(score float64) float64 {
	if score <= 0 {
		return math.Inf(-1)
	}
	shown := math.Round(score * perScore)
	if shown/perScore < score {
		shown++
	}
	if shown >= perScore {
		return math.Inf(1)
	}
	score = shown / perScore
	bits := math.Floor(math.Log2(score/(1-score))*perBit) - 1
	for Score(bits/perBit) < score {
		bits++
	}
	return bits / perBit
}

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
