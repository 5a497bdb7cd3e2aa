package linkage_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

func TestScore(t *testing.T) {
	t.Parallel()
	for bits, want := range map[float64]float64{
		0: .5, 1: .666666, -1: .333333, 9.964: .998999, 9.965: .999, 20: .999999, 60: .999999, 2000: .999999, -60: 0, -2000: 0,
	} {
		if got := linkage.Score(bits); got != want {
			t.Errorf("%v bits score %v, want %v", bits, got, want)
		}
	}
}

func TestShown(t *testing.T) {
	t.Parallel()
	for bits, want := range map[float64]float64{
		0: 0, 1.2345: 1.234, -1.2345: -1.235, .1 + .2: .3, 2.9999999999: 3, 2.99999: 2.999, math.Inf(-1): math.Inf(-1), math.Inf(1): math.Inf(1),
	} {
		if got := linkage.Shown(bits); got != want {
			t.Errorf("%v bits are shown as %v, want %v", bits, got, want)
		}
	}
}

// The least bits of a score are the least of those that are shown with it.
func TestLeast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		score := rapid.OneOf(
			rapid.Float64Range(0, 1), rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(0, 1e6).Draw(t, "millionths")) / 1e6 }),
		).Draw(t, "score")
		least := linkage.Least(score)
		if !math.IsInf(least, 0) && (linkage.Score(least) < score || linkage.Score(least-.001) >= score || linkage.Shown(least) != least) {
			t.Fatalf("%v is from %v bits on, which score %v, and below it %v", score, least, linkage.Score(least), linkage.Score(least-.001))
		}
		bits := rapid.Float64Range(-30, 30).Draw(t, "bits")
		if shown := linkage.Shown(bits); shown >= least != (linkage.Score(shown) >= score) {
			t.Fatalf("%v bits score %v, and %v is from %v bits on", bits, linkage.Score(shown), score, least)
		}
	})
}
