package matchbench

import (
	"math"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

func TestBoundOfWrongCertainAnswers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		certain, wrong int64
		want           float64
	}{{0, 0, 1}, {30_000, 0, 2.996 / 30_000}, {30_000, 1, 4.744 / 30_000}, {30_000, 10, 16.962 / 30_000}, {1, 1, 1}} {
		if got := (Certainty{Certain: test.certain, Wrong: test.wrong}).Bound(); math.Abs(got-test.want) > 1e-3*test.want {
			t.Errorf("%d wrong of %d: %v, want %v", test.wrong, test.certain, got, test.want)
		}
	}
}

func TestCertainAnswersAreRight(t *testing.T) {
	t.Parallel()
	c, err := Certain(t.Context(), linkage.Default(), 1000, 1)
	if err != nil || c.Asked != 1000 || c.People < 667 || c.Certain < 100 || c.Wrong > 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	careless := linkage.Default() // which has to be seen
	careless.Thresholds, careless.Relatives = linkage.Thresholds{Certain: 0.5, Margin: -100}, nil
	for f := range careless.Fields {
		for l := range careless.Fields[f].Levels {
			careless.Fields[f].Levels[l].Veto = ""
		}
	}
	if wrong, err := Certain(t.Context(), careless, 1000, 1); err != nil || wrong.Wrong == 0 || wrong.Certain <= c.Certain {
		t.Errorf("a careless model: %+v, %v", wrong, err)
	}
}
