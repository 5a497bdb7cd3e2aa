package chart_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/tools/chart"
)

func TestSVG(t *testing.T) {
	t.Parallel()
	raw, err := chart.Chart{
		Title: "A title", X: "score", Y: "answers < 1", LogY: true,
		Series: []chart.Series{
			{Name: "true", Points: []chart.Point{{X: 0, Y: 1}, {X: 1, Y: 100}}},
			{Name: "false", Look: chart.Steps, Points: []chart.Point{{X: 0, Y: 10}, {X: 1, Y: 1}}},
			{Name: "dots", Look: chart.Dots, Points: []chart.Point{{X: 0, Y: 10}, {X: 1, Y: 1}}},
			{Name: "ideal", Look: chart.Dashed, Points: []chart.Point{{X: 0, Y: 10}, {X: 1, Y: 1}}},
			{Name: "nothing"},
		},
	}.SVG()
	if err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(strings.NewReader(string(raw)))
	text := ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("no XML: %v", err)
		}
		if chars, ok := token.(xml.CharData); ok {
			text += string(chars) + "\n"
		}
	}
	for _, want := range []string{"A title", "score", "answers < 1", "true", "false", "ideal"} {
		if !strings.Contains(text, want) {
			t.Errorf("the figure does not say %q", want)
		}
	}
	if strings.Contains(text, "nothing") || strings.Contains(string(raw), "fill:#FFFFFF") {
		t.Error("an empty series is named, or something white is behind")
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	raw, err := chart.Rows{
		Title: "A title", X: "bits", Names: []string{"first name: exact", "first name: differ"},
		Series: []chart.Row{{Name: "before", Values: []float64{7, -5}}, {Name: "after", Values: []float64{6, -4}}, {Name: "nothing"}},
	}.SVG()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"A title", "bits", "first name: exact", "first name: differ", "before", "after"} {
		if !strings.Contains(string(raw), ">"+text) {
			t.Errorf("%q is not in it", text)
		}
	}
}
