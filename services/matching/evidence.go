package matching

import (
	"cmp"
	"math"
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// A weight is shown to a thousandth of a bit, as bits are.
const (
	perWeight = 1000
	finer     = 1000 // how much finer than they are shown weights are counted
)

// vetoField is the field of the evidence that names why a match is not certain, whatever its score.
const vetoField = "veto"

// weighed brings evidence to the form in which it is shown. The weights sum to the bits as they are shown: they are cut to a
// thousandth, and what is left over goes to those that lost most (Hamilton's method).
func weighed(evidence []linkage.Evidence, bits float64, veto string) (shown []Evidence, total float64) {
	total = linkage.Shown(bits)
	fine, left, losers := make([]int, len(evidence)), int(math.Round(total*perWeight)), make([]int, len(evidence))
	for i, e := range evidence {
		fine[i] = int(math.Round(e.Weight * perWeight * finer))
		left, losers[i] = left-floor(fine[i]), i
	}
	slices.SortStableFunc(losers, func(a, b int) int { return cmp.Compare(lost(fine[b]), lost(fine[a])) })
	shown = make([]Evidence, len(evidence), len(evidence)+1)
	for rank, i := range losers {
		weight := floor(fine[i])
		switch {
		case rank < left:
			weight++
		case rank >= len(losers)+left: // what was rounded of each was a thousandth of all
			weight--
		}
		shown[i] = Evidence{Field: evidence[i].Field, Level: evidence[i].Level, Weight: float64(weight) / perWeight}
	}
	if veto != "" {
		shown = append(shown, Evidence{Field: vetoField, Level: veto})
	}
	return shown, total
}

// floor cuts to what is shown, downwards for negative ones too.
func floor(fine int) int { return (fine - lost(fine)) / finer }

func lost(fine int) int { return (fine%finer + finer) % finer }

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
