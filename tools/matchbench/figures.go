package matchbench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/patient-mesh/patient-mesh/tools/bench/traffic"
	"github.com/patient-mesh/patient-mesh/tools/chart"
)

// scores is how the bits of right and of wrong answers are spread.
func scores(o Outcome) chart.Chart {
	const from, to = -20, 60
	right, wrong := make([]float64, to-from), make([]float64, to-from)
	for _, a := range o.Answers {
		bit := min(max(int(math.Floor(a.Bits)), from), to-1) - from
		if a.Same {
			right[bit]++
		} else {
			wrong[bit]++
		}
	}
	steps := func(counts []float64) (points []chart.Point) {
		for i, n := range counts {
			points = append(points, chart.Point{X: float64(from + i), Y: max(n, 0.5)}) // half an answer is none, on this axis
		}
		return points
	}
	return chart.Chart{
		Title: o.Set.Name + ": answers by their score", X: "bits for being the same person (log2 odds; 0 is a score of 0.5)", Y: "answers a bit", LogY: true,
		Series: []chart.Series{{Name: "same person", Look: chart.Steps, Points: steps(right)}, {Name: "somebody else", Look: chart.Steps, Points: steps(wrong)}},
	}
}

// diagram is the reliability diagram: of answers with a score, how many are right.
func diagram(outcomes []Outcome) chart.Chart {
	c := chart.Chart{
		Title: "Calibration: what a score promises and what it keeps", X: "score (mean of each twentieth with 20 answers or more)", Y: "share that is the same person",
		Range:  &chart.Range{X1: 1, Y1: 1},
		Series: []chart.Series{{Name: "ideal", Look: chart.Dashed, Points: []chart.Point{{}, {X: 1, Y: 1}}}},
	}
	for _, o := range outcomes {
		s := chart.Series{Name: o.Set.Name, Look: chart.Dots}
		for _, b := range reliability(o.Answers, 0) {
			if b.Answers >= 20 {
				s.Points = append(s.Points, chart.Point{X: b.Score, Y: b.Same})
			}
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// precisions is precision over recall, from the best score on.
func precisions(outcomes []Outcome) chart.Chart {
	c := chart.Chart{Title: "Precision and recall", X: "recall", Y: "precision", Range: &chart.Range{X0: 0.8, X1: 1, Y0: 0.9, Y1: 1.002}}
	for _, o := range outcomes {
		total, _ := o.others()
		if total == 0 {
			continue
		}
		answers := slices.Clone(o.Answers)
		slices.SortFunc(answers, func(a, b Answer) int { return cmp.Compare(b.Bits, a.Bits) })
		s := chart.Series{Name: o.Set.Name}
		right, last := 0, -1.0
		for i, a := range answers {
			if a.Same {
				right++
			}
			recall, precision := ratio(right, total), ratio(right, i+1)
			if recall < 0.8 || recall-last < 0.0005 && i+1 < len(answers) {
				continue
			}
			if precision < 0.9 {
				break
			}
			last = recall
			s.Points = append(s.Points, chart.Point{X: recall, Y: precision})
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// times is how long answers took.
func times(results []Times) chart.Chart {
	c := chart.Chart{Title: "Time of a find through the gateway, 16 at a time, " + people(results[0].People), X: "share of answers, per cent", Y: "milliseconds at most", LogY: true}
	for _, r := range results {
		s := chart.Series{Name: r.What}
		for _, q := range r.Curve {
			s.Points = append(s.Points, chart.Point{X: 100 * q.Share, Y: max(float64(q.Took)/float64(time.Millisecond), 0.01)})
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// Times is how long finds took in a tenant of so many people.
type Times struct {
	What   string
	People int64
	traffic.Result
}

func people(n int64) string {
	if n%1_000_000 == 0 {
		return fmt.Sprintf("%d million people", n/1_000_000)
	}
	return fmt.Sprintf("%d people", n)
}
