package matchbench

import (
	"cmp"
	"math"
	"slices"
)

// Threshold is the score from which an answer counts as "the same person": one for all sets. It is what somebody would ask for
// (minScore) who looks at the answers before acting on them; at find's own 0.5 more of the answers are right and some are missed.
const Threshold = 0.3

// usual is the score from which find shows answers when nobody says otherwise.
const usual = 0.5

// Measures are what an outcome is worth. Pairs are directed: a person with two records is two pairs, one for either asked.
type Measures struct {
	Asked, True       int     // records, and records of the same person that they have
	Precision, Recall float64 // at Threshold
	F1                float64
	ShownPrecision    float64 // at usual
	ShownRecall       float64
	BestF1, BestAt    float64 // at the set's own best threshold
	RecallAt99        float64 // the most that there is at a precision of 0.99
	Top1              float64 // share of those with another record whose best answer is one
	Certain           int     // answers graded so
	CertainWrong      int
	CertainOf         float64 // share of the true pairs that are graded so
	Calibration       float64 // expected calibration error of all answers
	CalibrationUpper  float64 // and of those from 0.5 on
	Answers           int
	Seen              float64 // share of the true pairs that came back at all: what blocking left
}

// Measure looks at an outcome.
func Measure(o Outcome) Measures {
	m := Measures{Asked: len(o.Asked), Answers: len(o.Answers)}
	m.True, m.Top1 = o.others()
	answers := slices.Clone(o.Answers)
	slices.SortFunc(answers, func(a, b Answer) int { return cmp.Compare(b.Score, a.Score) })
	found, right := 0, 0
	for i, a := range answers {
		found++
		if a.Same {
			right++
		}
		if i+1 < len(answers) && answers[i+1].Score == a.Score {
			continue // a threshold cannot part them
		}
		precision, recall := ratio(right, found), ratio(right, m.True)
		if f := harmonic(precision, recall); f > m.BestF1 {
			m.BestF1, m.BestAt = f, a.Score
		}
		if precision >= 0.99 {
			m.RecallAt99 = max(m.RecallAt99, recall)
		}
		if a.Score >= Threshold {
			m.Precision, m.Recall = precision, recall
		}
		if a.Score >= usual {
			m.ShownPrecision, m.ShownRecall = precision, recall
		}
	}
	m.F1 = harmonic(m.Precision, m.Recall)
	m.Seen = ratio(right, m.True)
	sure := 0
	for _, a := range answers {
		if a.Grade != "certain" {
			continue
		}
		if m.Certain++; a.Same {
			sure++
		} else {
			m.CertainWrong++
		}
	}
	m.CertainOf = ratio(sure, m.True)
	m.Calibration, m.CalibrationUpper = calibration(answers, 0), calibration(answers, usual)
	return m
}

// others counts the true pairs of the records asked, and how many of those asked have one on top of their answers.
func (o Outcome) others() (pairs int, top float64) {
	of := map[int64]int{}
	for _, r := range o.Set.Records {
		of[r.Truth]++
	}
	having, first := 0, 0
	has := map[int]bool{}
	for _, i := range o.Asked {
		if n := of[o.Set.Records[i].Truth] - 1; n > 0 {
			pairs += n
			having++
			has[i] = true
		}
	}
	for _, a := range o.Answers {
		if a.Rank == 0 && a.Same && has[a.Asked] {
			first++
		}
	}
	return pairs, ratio(first, having)
}

// Bins of a reliability diagram.
const bins = 20

// bin is the answers whose score is in a twentieth of the scale.
type bin struct {
	Answers   int
	Score     float64 // their mean
	Same      float64 // the share that is the same person
	sum, good float64
}

func reliability(answers []Answer, from float64) [bins]bin {
	var out [bins]bin
	for _, a := range answers {
		if a.Score < from {
			continue
		}
		b := &out[min(int(a.Score*bins), bins-1)]
		b.Answers++
		b.sum += a.Score
		if a.Same {
			b.good++
		}
	}
	for i := range out {
		if b := &out[i]; b.Answers > 0 {
			b.Score, b.Same = b.sum/float64(b.Answers), b.good/float64(b.Answers)
		}
	}
	return out
}

// calibration is the expected calibration error: how far the share of right answers is from the score, over the bins, each
// counting as much as it has answers (Naeini, Cooper and Hauskrecht 2015).
func calibration(answers []Answer, from float64) float64 {
	total, sum := 0, 0.0
	for _, b := range reliability(answers, from) {
		total += b.Answers
		sum += float64(b.Answers) * math.Abs(b.Score-b.Same)
	}
	if total == 0 {
		return 0
	}
	return sum / float64(total)
}

func ratio(a, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(a) / float64(of)
}

func harmonic(a, b float64) float64 {
	if a+b == 0 {
		return 0
	}
	return 2 * a * b / (a + b)
}
