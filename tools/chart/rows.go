package chart

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Rows is a figure with a row for each name, from top to bottom, and in it a dot of each series: what becomes of many values.
type Rows struct {
	Title, X string
	Names    []string
	Series   []Row
}

// Row is a series: a value for each name.
type Row struct {
	Name   string
	Values []float64
}

const rowHeight = 0.45 * vg.Centimeter

// SVG draws, as Chart's does. The dots of the first series are rings, which those of others do not hide.
func (r Rows) SVG() ([]byte, error) {
	p := plot.New()
	p.BackgroundColor = plainBackground()
	p.Title.Text, p.X.Label.Text = r.Title, r.X
	plain(p)
	at := func(name int) float64 { return float64(len(r.Names) - name) }
	names := legend()
	for i, s := range r.Series {
		points := make(plotter.XYs, len(s.Values))
		for name, value := range s.Values {
			points[name].X, points[name].Y = value, at(name)
		}
		if len(points) == 0 {
			continue
		}
		dots, err := plotter.NewScatter(points)
		if err != nil {
			return nil, err
		}
		dots.Color, dots.Radius, dots.Shape = hue(len(r.Series)-1-i), vg.Points(3), circle()
		if i == 0 && len(r.Series) > 1 {
			dots.Radius, dots.Shape = vg.Points(4), draw.RingGlyph{}
		}
		p.Add(dots)
		names.Add(s.Name, dots)
	}
	ticks := make(plot.ConstantTicks, len(r.Names))
	for name, text := range r.Names {
		ticks[name] = plot.Tick{Value: at(name), Label: text + "  "}
	}
	p.Y.Tick.Marker = ticks
	p.Y.Min, p.Y.Max = 0, at(0)+1
	return svg(p, &names, width, vg.Length(len(r.Names)+6)*rowHeight)
}
