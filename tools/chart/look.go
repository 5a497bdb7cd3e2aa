package chart

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ink is what axes and letters are drawn with.
func ink() color.Color { return color.RGBA{R: 0x78, G: 0x82, B: 0x8C, A: 0xFF} }

// hues is how many colours there are.
const hues = 6

// hue is the colour of the n-th series: told apart by most who see colours differently (Okabe and Ito 2008).
func hue(n int) color.Color {
	return [hues]color.RGBA{
		{R: 0x2B, G: 0x8C, B: 0xD9, A: 0xFF},
		{R: 0xE0, G: 0x6C, B: 0x00, A: 0xFF},
		{R: 0x00, G: 0x9E, B: 0x73, A: 0xFF},
		{R: 0xCC, G: 0x79, B: 0xA7, A: 0xFF},
		{R: 0xB8, G: 0xA0, B: 0x10, A: 0xFF},
		{R: 0x8A, G: 0x6F, B: 0xE8, A: 0xFF},
	}[n%hues]
}

func circle() draw.GlyphDrawer { return draw.CircleGlyph{} }

// legend is the names of the series, one below the other.
func legend() plot.Legend {
	l := plot.NewLegend()
	l.TextStyle.Font, l.TextStyle.Color = sans(10), ink()
	l.Top, l.Left, l.Padding, l.XOffs = true, true, vg.Points(3), vg.Points(6)
	return l
}

func sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// plain sets all letters and lines alike, and puts a grid behind.
func plain(p *plot.Plot) {
	p.Title.TextStyle.Font, p.Title.TextStyle.Color, p.Title.Padding = sans(12), ink(), vg.Points(8)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font, axis.Label.TextStyle.Color = sans(10), ink()
		axis.Tick.Label.Font, axis.Tick.Label.Color = sans(9), ink()
		axis.Color, axis.Tick.Color = ink(), ink()
	}
	grid := plotter.NewGrid()
	faint := color.NRGBA{R: 0x78, G: 0x82, B: 0x8C, A: 0x50}
	grid.Vertical.Color, grid.Horizontal.Color = faint, faint
	p.Add(grid)
}

func plainBackground() color.Color { return color.Transparent }
