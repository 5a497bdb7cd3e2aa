package synth

import (
	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
	"github.com/patient-mesh/patient-mesh/tools/synth/names"
)

// descent is what people say of themselves, which families share: race, ethnicity and language, about as often as in the
// Census of 2020.
func descent(d *dice.Dice, family names.Heritage) (race, ethnicity, tongue string) {
	ethnicity, tongue = "Not Hispanic or Latino", "en"
	switch family {
	case names.Hispanic:
		ethnicity = "Hispanic or Latino"
		if d.Chance(0.3) {
			tongue = "es"
		}
	case names.Asian:
		if d.Chance(0.2) {
			tongue = dice.Pick(d, []string{"zh", "zh", "vi", "vi", "ko", "hi", "ja"})
		}
	default:
		if d.Chance(0.02) {
			ethnicity = "Hispanic or Latino"
		}
	}
	return raceOf(d.Below(1000), family), ethnicity, tongue
}

type part struct {
	of   int // a thousand
	name string
}

func raceOf(share int, family names.Heritage) string {
	var parts []part
	switch family {
	case names.Hispanic:
		parts = []part{{620, "White"}, {270, "Other"}, {70, "Multiracial"}, {25, "Black or African American"}, {15, "American Indian or Alaska Native"}}
	case names.Asian:
		parts = []part{{950, "Asian"}, {40, "Multiracial"}, {10, "Other"}}
	default:
		parts = []part{
			{710, "White"},
			{165, "Black or African American"},
			{40, "Multiracial"},
			{45, "Asian"},
			{15, "Middle Eastern or North African"},
			{12, "American Indian or Alaska Native"},
			{9, "Other"},
			{4, "Native Hawaiian or Other Pacific Islander"},
		}
	}
	for _, p := range parts {
		if share -= p.of; share < 0 {
			return p.name
		}
	}
	return parts[0].name
}
