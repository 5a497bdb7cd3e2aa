package train

import (
	"bytes"
	"image/color"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// The colours can be told apart by those who see no red or green (Okabe & Ito 2008).
func blue() color.Color   { return color.RGBA{0, 114, 178, 255} }
func orange() color.Color { return color.RGBA{213, 94, 0, 255} }
func grey() color.Color   { return color.Gray{150} }

// chart is an empty plot with a grid.
func chart(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = 4 * vg.Millimeter
	for _, font := range []*font.Font{
		&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font,
		&p.Legend.TextStyle.Font,
	} {
		font.Variant, font.Size = "Sans", vg.Points(10)
	}
	p.Title.TextStyle.Font.Size = vg.Points(12)
	p.X.Tick.Marker, p.Y.Tick.Marker = whole{}, whole{}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	p.Legend.Top, p.Legend.Padding = true, vg.Millimeter
	return p
}

// whole are the usual ticks without zeros behind the point.
type whole struct{}

func (whole) Ticks(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = strconv.FormatFloat(ticks[i].Value, 'g', 4, 64)
		}
	}
	return ticks
}

// powers are those of ten.
type powers struct{}

func (powers) Ticks(_, high float64) (ticks []plot.Tick) {
	for at := 1.; at <= high*10; at *= 10 {
		ticks = append(ticks, plot.Tick{Value: at, Label: strconv.FormatFloat(at, 'f', 0, 64)})
	}
	return ticks
}

// write draws a plot. Its letters are as wide as those of the fonts that others have in place of its own.
func write(p *plot.Plot, to io.Writer, width, height vg.Length) error {
	out, err := p.WriterTo(width, height, "svg")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := out.WriteTo(&b); err != nil {
		return err
	}
	_, err = to.Write(regexp.MustCompile(`font-family:[^;"]*;`).ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans,Arimo,Arial,Helvetica,sans-serif;")))
	return err
}

// outline is that of a histogram on a scale of powers of ten, on which none is a tenth.
func outline(counts map[int]int, c color.Color, dashed bool) (*plotter.Line, error) {
	var points plotter.XYs
	if len(counts) > 0 {
		bars := slices.Sorted(maps.Keys(counts))
		for at := bars[0]; at <= bars[len(bars)-1]; at += bitsInBar {
			height := max(float64(counts[at]), none)
			points = append(points, plotter.XY{X: float64(at), Y: height}, plotter.XY{X: float64(at + bitsInBar), Y: height})
		}
	} else {
		points = plotter.XYs{{X: 0, Y: none}}
	}
	l, err := plotter.NewLine(points)
	if err != nil {
		return nil, err
	}
	l.Color, l.Width = c, vg.Points(1.5)
	if dashed {
		l.Dashes, l.Width = []vg.Length{vg.Points(4), vg.Points(3)}, vg.Points(1)
	}
	return l, nil
}

const none = 0.5

// PlotScores draws how many pairs have which score in bits.
func (l *Learnt) PlotScores(to io.Writer) error {
	p := chart("Scores of pairs that were held out", "score in bits (0 is as likely as not)", "pairs")
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, powers{}
	p.Y.Min = none
	for _, series := range []struct {
		name   string
		counts map[int]int
		colour color.Color
		dashed bool
	}{
		{"one person, active model", l.Before.Histogram.Matches, blue(), true},
		{"two people, active model", l.Before.Histogram.Others, orange(), true},
		{"pairs, active model", l.Before.Histogram.Unknown, grey(), true},
		{"one person", l.After.Histogram.Matches, blue(), false},
		{"two people", l.After.Histogram.Others, orange(), false},
		{"pairs", l.After.Histogram.Unknown, blue(), false},
	} {
		if len(series.counts) == 0 {
			continue
		}
		drawn, err := outline(series.counts, series.colour, series.dashed)
		if err != nil {
			return err
		}
		p.Add(drawn)
		p.Legend.Add(series.name, drawn)
	}
	return write(p, to, 18*vg.Centimeter, 10*vg.Centimeter)
}

// PlotCalibration draws which share of the pairs of one score are of one person: of a calibrated score, as many as it says.
func (l *Learnt) PlotCalibration(to io.Writer) error {
	p := chart("Calibration on pairs that were held out", "score", "share of pairs of one person")
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	ideal, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}})
	if err != nil {
		return err
	}
	ideal.Color = grey()
	p.Add(ideal)
	p.Legend.Add("as it should be", ideal)
	p.Legend.Top, p.Legend.Left = true, true
	for _, series := range []struct {
		name   string
		of     *Measure
		colour color.Color
		shape  draw.GlyphDrawer
	}{{"active model", &l.Before, orange(), draw.RingGlyph{}}, {"new model", &l.After, blue(), draw.CircleGlyph{}}} {
		var points plotter.XYs
		for _, b := range series.of.Bins {
			if b.Pairs >= fewest {
				points = append(points, plotter.XY{X: b.Scores / float64(b.Pairs), Y: float64(b.Matches) / float64(b.Pairs)})
			}
		}
		if len(points) == 0 {
			continue
		}
		drawn, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		drawn.Color, dots.Color, dots.Shape, dots.Radius = series.colour, series.colour, series.shape, vg.Points(3)
		p.Add(drawn, dots)
		p.Legend.Add(series.name, drawn, dots)
	}
	return write(p, to, 13*vg.Centimeter, 13*vg.Centimeter)
}

// fewest pairs of a bin say something.
const fewest = 5

// PlotWeights draws what each level of each field is worth in the active model and in the new one.
func (l *Learnt) PlotWeights(to io.Writer) error {
	p := chart("What agreement is worth", "weight in bits: log2 of m/u", "")
	rows := levels(l.Model)
	for _, series := range []struct {
		name   string
		of     *linkage.Model
		colour color.Color
		shape  draw.GlyphDrawer
	}{{"active model", l.Active, orange(), draw.RingGlyph{}}, {"new model", l.Model, blue(), draw.CircleGlyph{}}} {
		points := make(plotter.XYs, len(rows))
		for i, row := range rows {
			points[i] = plotter.XY{X: row.weight(series.of), Y: float64(len(rows) - i)}
		}
		dots, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		dots.Color, dots.Shape, dots.Radius = series.colour, series.shape, vg.Points(3)
		p.Add(dots)
		p.Legend.Add(series.name, dots)
	}
	ticks := make(plot.ConstantTicks, len(rows))
	for i, row := range rows {
		ticks[i] = plot.Tick{Value: float64(len(rows) - i), Label: row.name}
	}
	p.Y.Tick.Marker = ticks
	p.Y.Min, p.Y.Max = 0, float64(len(rows)+1)
	return write(p, to, 18*vg.Centimeter, vg.Length(len(rows)+8)*0.5*vg.Centimeter)
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
