// Package chart draws figures as SVG that is read on a light page and on a dark one. It knows nothing of what they show.
package chart

import (
	"bytes"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is one figure. Its axes have names, with units.
type Chart struct {
	Title, X, Y string
	LogX, LogY  bool
	Range       *Range // nil: what the series need
	Series      []Series
}

// Range is what the axes show.
type Range struct{ X0, X1, Y0, Y1 float64 }

// Series is points that belong together, with a name for the legend.
type Series struct {
	Name   string
	Points []Point
	Look   Look
}

// Point is one of a series. On a logarithmic axis it has to be above zero.
type Point struct{ X, Y float64 }

// Look is how a series is drawn.
type Look int

// The looks.
const (
	Line   Look = iota
	Steps       // a histogram: a point is where a step begins
	Dots        // points joined by a line
	Dashed      // something to compare with
)

// Width and height of a figure, what is left free round it, and the room for the names of the series at its right.
const (
	width  = 20 * vg.Centimeter
	height = 9 * vg.Centimeter
	margin = 3 * vg.Millimeter
	aside  = 5 * vg.Centimeter
	head   = 6 * vg.Millimeter
)

// SVG draws. Nothing is behind the figure: its lines and letters are of a grey that shows on white and on black.
func (c Chart) SVG() ([]byte, error) {
	p := plot.New()
	p.BackgroundColor = plainBackground()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.X, c.Y
	plain(p)
	if c.LogX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	if c.LogY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	names := legend()
	for i, s := range c.Series {
		if err := s.add(p, &names, i); err != nil {
			return nil, err
		}
	}
	if r := c.Range; r != nil {
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = r.X0, r.X1, r.Y0, r.Y1
	}
	return svg(p, &names, width, height)
}

// svg draws a plot, and beside it the names of its series.
func svg(p *plot.Plot, names *plot.Legend, width, height vg.Length) ([]byte, error) {
	canvas := vgsvg.New(width, height)
	whole := draw.New(canvas)
	p.Draw(draw.Crop(whole, margin, -margin-aside, margin, -margin))
	names.Draw(draw.Crop(whole, width-aside-margin, -margin, margin, -margin-head))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, err
	}
	// Whoever reads has another sans serif than the one that the figure was measured with.
	return bytes.ReplaceAll(out.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")), nil
}

func (s Series) add(p *plot.Plot, names *plot.Legend, nth int) error {
	in := hue(nth)
	points := make(plotter.XYs, len(s.Points))
	for i, at := range s.Points {
		points[i].X, points[i].Y = at.X, at.Y
	}
	if len(points) == 0 {
		return nil
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.Color, line.Width = in, vg.Points(1.5)
	if nth >= hues { // the colours come a second time
		line.Dashes = []vg.Length{vg.Points(6), vg.Points(2)}
	}
	switch s.Look {
	case Steps:
		line.StepStyle = plotter.PostStep
	case Dashed:
		line.Color, line.Width, line.Dashes = ink(), vg.Points(1), []vg.Length{vg.Points(3), vg.Points(3)}
	case Dots:
		dots, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		dots.Color, dots.Radius, dots.Shape = in, vg.Points(2.5), circle()
		p.Add(dots)
	case Line:
	}
	p.Add(line)
	if s.Name != "" {
		names.Add(s.Name, line)
	}
	return nil
}
