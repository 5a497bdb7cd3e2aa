package train

import (
	"io"
	"maps"
	"math"
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/tools/chart"
)

type figure interface{ SVG() ([]byte, error) }

func draw(f figure, to io.Writer) error {
	raw, err := f.SVG()
	if err != nil {
		return err
	}
	_, err = to.Write(raw)
	return err
}

// outline is the steps of a histogram on a scale of powers of ten, on which none is a half.
func outline(counts map[int]int) (points []chart.Point) {
	if len(counts) == 0 {
		return nil
	}
	const none = 0.5
	bars := slices.Sorted(maps.Keys(counts))
	for at := bars[0]; at <= bars[len(bars)-1]+bitsInBar; at += bitsInBar {
		points = append(points, chart.Point{X: float64(at), Y: max(float64(counts[at]), none)})
	}
	return points
}

// PlotScores draws how many pairs have which score in bits.
func (l *Learnt) PlotScores(to io.Writer) error {
	c := chart.Chart{Title: "Scores of pairs that were held out", X: "score in bits (0: as likely as not)", Y: "pairs", LogY: true}
	for _, series := range []struct {
		name   string
		counts map[int]int
	}{
		{"one person", l.After.Histogram.Matches},
		{"two people", l.After.Histogram.Others},
		{"one person, active model", l.Before.Histogram.Matches},
		{"two people, active model", l.Before.Histogram.Others},
		{"pairs", l.After.Histogram.Unknown},
		{"pairs, active model", l.Before.Histogram.Unknown},
	} {
		if points := outline(series.counts); points != nil {
			c.Series = append(c.Series, chart.Series{Name: series.name, Look: chart.Steps, Points: points})
		}
	}
	return draw(c, to)
}

// fewest pairs of a bin say something.
const fewest = 5

// PlotCalibration draws which share of the pairs of one score are of one person: of a calibrated score, as many as it says.
func (l *Learnt) PlotCalibration(to io.Writer) error {
	c := chart.Chart{
		Title: "Calibration on pairs that were held out", X: "score", Y: "share of pairs of one person", Range: &chart.Range{X1: 1, Y1: 1},
		Series: []chart.Series{{Name: "as it should be", Look: chart.Dashed, Points: []chart.Point{{}, {X: 1, Y: 1}}}},
	}
	for _, series := range []struct {
		name string
		of   *Measure
	}{{"active model", &l.Before}, {"new model", &l.After}} {
		var points []chart.Point
		for _, b := range series.of.Bins {
			if b.Pairs >= fewest {
				points = append(points, chart.Point{X: b.Scores / float64(b.Pairs), Y: float64(b.Matches) / float64(b.Pairs)})
			}
		}
		c.Series = append(c.Series, chart.Series{Name: series.name, Look: chart.Dots, Points: points})
	}
	return draw(c, to)
}

// PlotWeights draws what each level of each field is worth in the active model and in the new one.
func (l *Learnt) PlotWeights(to io.Writer) error {
	r := chart.Rows{Title: "What agreement is worth", X: "weight in bits: log2 of m/u", Series: []chart.Row{{Name: "active model"}, {Name: "new model"}}}
	for _, row := range levels(l.Model) {
		r.Names = append(r.Names, row.name)
		for i, m := range []*linkage.Model{l.Active, l.Model} {
			r.Series[i].Values = append(r.Series[i].Values, row.weight(m))
		}
	}
	return draw(r, to)
}

// level is a level's place in a model.
type level struct {
	name         string
	field, place int
}

// levels are those of all fields.
func levels(m *linkage.Model) (rows []level) {
	for f, field := range m.Fields {
		for i, l := range field.Levels {
			rows = append(rows, level{field.Name + ": " + l.Name, f, i})
		}
	}
	return rows
}

func (l level) of(m *linkage.Model) linkage.Level { return m.Fields[l.field].Levels[l.place] }

func (l level) weight(m *linkage.Model) float64 {
	at := l.of(m)
	return math.Log2(at.M / at.U)
}
