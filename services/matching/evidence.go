package matching

import (
	"cmp"
	"math"
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// A weight is shown to a thousandth of a bit, and a score to a millionth.
const (
	perBit   = 1000
	perScore = 1e6
)

// vetoField is the field of the evidence that names why a match is not certain, whatever its score.
const vetoField = "veto"

// weighed brings evidence to the form in which it is shown. The weights sum to the bits that it gives, which are those
// given, cut to a thousandth: each is cut, and what is left over goes to those that lost most (Hamilton's method).
func weighed(evidence []linkage.Evidence, bits float64, veto string) (shown []Evidence, total float64) {
	shown = make([]Evidence, len(evidence), len(evidence)+1)
	whole := math.Floor(bits * perBit)
	left, lost := int(whole), make([]int, len(evidence))
	for i, e := range evidence {
		cut := math.Floor(e.Weight * perBit)
		shown[i] = Evidence{Field: e.Field, Level: e.Level, Weight: cut}
		left, lost[i] = left-int(cut), i
	}
	slices.SortStableFunc(lost, func(a, b int) int { return cmp.Compare(remainder(evidence[b]), remainder(evidence[a])) })
	for i := range shown {
		if i < left {
			shown[lost[i]].Weight++
		}
	}
	for i := range shown {
		shown[i].Weight /= perBit
	}
	if veto != "" {
		shown = append(shown, Evidence{Field: vetoField, Level: veto})
	}
	return shown, whole / perBit
}

func remainder(e linkage.Evidence) float64 { return e.Weight*perBit - math.Floor(e.Weight*perBit) }

// score is the probability that bits stand for, cut to a millionth, so that it is never shown as more than it is. Nothing
// but an exact find is sure.
func score(bits float64) float64 {
	return min(math.Floor(perScore/(1+math.Exp2(-bits))), perScore-1) / perScore
}

// exactly is the evidence of an exact find: all that was given is true.
func exactly(given Given) []Evidence {
	var shown []Evidence
	for d, text := range given {
		if text != "" {
			shown = append(shown, Evidence{Field: Demographic(d).String(), Level: exactLevel})
		}
	}
	return shown
}
