package matching

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

func TestShownWeightsSumToTheScore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Float64Range(-25, 25), 0, 16).Draw(t, "weights")
		var list []linkage.Evidence
		real := 0.0
		for _, w := range weights {
			list = append(list, linkage.Evidence{Field: "dob", Level: "exact", Weight: w})
			real += w
		}
		shown, bits := weighed(list, real, "")
		sum := 0
		for i, e := range shown {
			sum += int(math.Round(e.Weight * 1000))
			if math.Abs(e.Weight-weights[i]) > .00102 || e.Field != "dob" || e.Level != "exact" {
				t.Fatalf("%v is shown as %+v", weights[i], e)
			}
		}
		if sum != int(math.Round(bits*1000)) || bits > real+1e-4 || bits < real-.0011 {
			t.Fatalf("%v bits are shown as %v, by weights of %d thousandths", real, bits, sum)
		}
		if p := linkage.Score(bits); p < 0 || p >= 1 || p > 1/(1+math.Exp2(-bits)) || p < 1/(1+math.Exp2(-bits))-2e-6 {
			t.Fatalf("%v bits score %v", bits, p)
		}
	})
}

func TestAVetoIsEvidence(t *testing.T) {
	t.Parallel()
	shown, bits := weighed([]linkage.Evidence{{Field: "prior", Weight: -19.93157}, {Field: "suffix", Level: "differ", Weight: -2.5}}, -22.43157, "suffix")
	want := []Evidence{{"prior", "", -19.932}, {"suffix", "differ", -2.5}, {"veto", "suffix", 0}}
	if !slices.Equal(shown, want) || bits != -22.432 {
		t.Errorf("%+v, %v", shown, bits)
	}
}

func TestEvidenceOfAnExactFindIsWhatWasGiven(t *testing.T) {
	t.Parallel()
	got := exactly(Given{LastName: "Lima", DOB: "1980-02-29"})
	if want := []Evidence{{"lastName", "exact", 0}, {"dob", "exact", 0}}; !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}
