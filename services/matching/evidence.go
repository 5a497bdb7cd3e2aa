package matching

import (
	"cmp"
	"math"
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// A weight is shown to a thousandth of a bit, and a score to a millionth.
const (
	perWeight = 1000
	perScore  = 1e6
	finer     = 1000 // how much finer than they are shown weights are counted
)

// vetoField is the field of the evidence that names why a match is not certain, whatever its score.
const vetoField = "veto"

// weighed brings evidence to the form in which it is shown. The weights sum to the bits that it gives: they are cut to a
// thousandth, their sum too, and what is left over goes to those that lost most (Hamilton's method).
func weighed(evidence []linkage.Evidence, veto string) (shown []Evidence, bits float64) {
	fine, all := make([]int, len(evidence)), 0
	for i, e := range evidence {
		fine[i] = int(math.Round(e.Weight * perWeight * finer))
		all += fine[i]
	}
	total := floor(all)
	left, losers := total, make([]int, len(evidence))
	for i, weight := range fine {
		left, losers[i] = left-floor(weight), i
	}
	slices.SortStableFunc(losers, func(a, b int) int { return cmp.Compare(lost(fine[b]), lost(fine[a])) })
	shown = make([]Evidence, len(evidence), len(evidence)+1)
	for rank, i := range losers {
		weight := floor(fine[i])
		if rank < left {
			weight++
		}
		shown[i] = Evidence{Field: evidence[i].Field, Level: evidence[i].Level, Weight: float64(weight) / perWeight}
	}
	if veto != "" {
		shown = append(shown, Evidence{Field: vetoField, Level: veto})
	}
	return shown, float64(total) / perWeight
}

// floor cuts to what is shown, downwards for negative ones too.
func floor(fine int) int { return (fine - lost(fine)) / finer }

func lost(fine int) int { return (fine%finer + finer) % finer }

// score is the probability that bits stand for, cut to a millionth, so that it is never shown as more than it is. Nothing
// but an exact find is sure.
func score(bits float64) float64 {
	return min(math.Floor(perScore*linkage.Likelihood(bits)), perScore-1) / perScore
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
