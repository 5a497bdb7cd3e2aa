package linkage

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// ParseModel reads a model and tells all its faults. One without faults can be asked with.
func ParseModel(raw []byte) (*Model, []fault.Field) {
	m := &Model{}
	if err := json.Unmarshal(raw, m); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, []fault.Field{{Field: wrong.Field, Code: "wrong_type", Message: "must be of another type"}}
		}
		return nil, []fault.Field{{Code: "no_json", Message: "must be JSON"}}
	}
	if faults := m.Validate(); len(faults) > 0 {
		return nil, faults
	}
	return m, nil
}

// Validate tells every fault of a model at once.
func (m *Model) Validate() []fault.Field {
	v := &validation{}
	v.within("prior.matches", m.Prior.Matches, 1e-6, 1000)
	v.within("careless.share", m.Careless.Share, 0, 0.9)
	v.within("careless.times", m.Careless.Times, 1, 100)
	v.within("frequency.names", float64(m.Frequency.Names), 1, 1e6)
	v.within("frequency.dates", float64(m.Frequency.Dates), 1, 1e6)
	v.within("frequency.days", m.Frequency.Days, 365, 1e6)
	v.within("frequency.floor", m.Frequency.Floor, 1e-9, 0.01)
	v.within("calibration.scale", m.Calibration.Scale, 0.1, 10)
	v.within("calibration.shift", m.Calibration.Shift, -50, 50)
	v.thresholds(m.Thresholds)
	v.fields(m.Fields)
	v.relatives(m.Relatives)
	return v.faults
}

type validation struct{ faults []fault.Field }

func (v *validation) add(field, code, format string, args ...any) {
	v.faults = append(v.faults, fault.Field{Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (v *validation) within(field string, x, least, most float64) bool {
	if math.IsNaN(x) || x < least || x > most {
		v.add(field, "out_of_range", "must be between %g and %g", least, most)
		return false
	}
	return true
}

// What the grades promise whoever acts on them, whatever a model makes of its own: a model may be stricter.
const (
	LeastCertain  = 0.999
	MostCertain   = 1 - 1./(1<<53) // at a score of 1 nobody could be kept out any more
	LeastProbable = 0.9
	LeastMargin   = 1
	mostMargin    = 100
)

func (v *validation) thresholds(t Thresholds) {
	most := 1.0
	switch {
	case t.Certain == 1:
		v.add("thresholds.certain", "out_of_range", "must be less than 1")
	case v.within("thresholds.certain", t.Certain, LeastCertain, 1):
		most = t.Certain
	}
	v.within("thresholds.probable", t.Probable, LeastProbable, most)
	v.within("thresholds.margin", t.Margin, LeastMargin, mostMargin)
}

// Bounded brings thresholds within their bounds.
func (t Thresholds) Bounded() Thresholds {
	within := func(x, least, most float64) float64 {
		if math.IsNaN(x) {
			return least
		}
		return min(max(x, least), most)
	}
	certain := within(t.Certain, LeastCertain, MostCertain)
	return Thresholds{Certain: certain, Probable: within(t.Probable, LeastProbable, certain), Margin: within(t.Margin, LeastMargin, mostMargin)}
}

func (v *validation) fields(fields []Field) {
	if len(fields) != fieldCount {
		v.add("fields", "wrong_number", "must be all %d fields in their order", fieldCount)
	}
	for f, vocabulary := range vocabularies() {
		if f >= len(fields) {
			break
		}
		at := fmt.Sprintf("fields[%d]", f)
		if fields[f].Name != vocabulary.name {
			v.add(at+".name", "unknown_field", "must be %q", vocabulary.name)
			continue
		}
		v.levels(at, fields[f].Levels, vocabulary.levels)
	}
}

// levels must be all there from best to worst, and m/u must never rise on the way.
func (v *validation) levels(at string, levels []Level, names []string) {
	if len(levels) != len(names) {
		v.add(at+".levels", "wrong_number", "must be all %d levels from best to worst", len(names))
		return
	}
	sumM, sumU, before := 0.0, 0.0, math.Inf(1)
	sound := true
	for l, level := range levels {
		here := fmt.Sprintf("%s.levels[%d]", at, l)
		if level.Name != names[l] {
			v.add(here+".name", "unknown_level", "must be %q", names[l])
		}
		m, u := v.within(here+".m", level.M, leastShare, 1), v.within(here+".u", level.U, leastShare, 1)
		if level.Veto != "" && level.Veto != VetoAlways && level.Veto != VetoUnlessIdentified {
			v.add(here+".veto", "unknown_veto", "must be %q, %q or empty", VetoAlways, VetoUnlessIdentified)
		}
		if level.Spread != 0 {
			v.within(here+".spread", level.Spread, 1, 1e6)
		}
		if !m || !u {
			sound = false
			continue
		}
		if weight := math.Log2(level.M / level.U); weight > before+1e-9 {
			v.add(here, "not_monotone", "must not weigh more than the level before")
		} else {
			before = weight
		}
		sumM, sumU = sumM+level.M, sumU+level.U
	}
	if !sound {
		return
	}
	if math.Abs(sumM-1) > sumTolerance {
		v.add(at+".levels", "m_sum", "m must sum to 1")
	}
	if math.Abs(sumU-1) > sumTolerance {
		v.add(at+".levels", "u_sum", "u must sum to 1")
	}
}

const (
	leastShare   = 1e-9 // a zero would be a proof, and no field is one
	sumTolerance = 0.001
)

func (v *validation) relatives(all []Relative) {
	if len(all) > mostRelatives {
		v.add("relatives", "too_many", "must be at most %d", mostRelatives)
	}
	known := map[string]bool{}
	for _, vocabulary := range vocabularies() {
		known[vocabulary.name] = true
	}
	for k, r := range all {
		at := fmt.Sprintf("relatives[%d]", k)
		if r.Name == "" || len(r.Name) > 50 {
			v.add(at+".name", "out_of_range", "must have 1 to 50 characters")
		}
		v.within(at+".expected", r.Expected, 1e-9, 1000)
		for name, share := range r.Shares {
			if !known[name] {
				v.add(at+".shares", "unknown_field", "must name fields of the model")
				continue
			}
			v.within(at+".shares["+name+"]", share, 0, 1)
		}
	}
}
