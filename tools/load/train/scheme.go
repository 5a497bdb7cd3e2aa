package train

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/tools/load/train/estimate"
)

// scheme is what a model believes.
func scheme(m *linkage.Model) estimate.Scheme {
	s := make(estimate.Scheme, len(m.Fields))
	for f, field := range m.Fields {
		s[f] = estimate.Field{Name: field.Name}
		for _, level := range field.Levels {
			s[f].Levels = append(s[f].Levels, level.Name)
			s[f].M, s[f].U = append(s[f].M, level.M), append(s[f].U, level.U)
		}
		normalise(s[f].M)
		normalise(s[f].U)
	}
	return s
}

func normalise(p []float64) {
	sum := 0.0
	for _, q := range p {
		sum += q
	}
	for i := range p {
		p[i] /= sum
	}
}

// clone is a model that nobody asked with yet.
func clone(m *linkage.Model) (*linkage.Model, error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	out := &linkage.Model{}
	return out, json.Unmarshal(raw, out)
}

var errNoModel = errors.New("what was learnt is no model")

// with is a model with m and u as they were learnt.
func with(m *linkage.Model, fit estimate.Fit) (*linkage.Model, error) {
	out, err := clone(m)
	if err != nil {
		return nil, err
	}
	for f := range out.Fields {
		for l := range out.Fields[f].Levels {
			level := &out.Fields[f].Levels[l]
			level.M, level.U = max(fit.M[f][l], leastShare), max(fit.U[f][l], leastShare)
		}
	}
	if faults := out.Validate(); len(faults) > 0 {
		return nil, errors.Join(errNoModel, errors.New(faults[0].Field+": "+faults[0].Message))
	}
	return out, nil
}

const leastShare = 1e-9 // that a model may have

// household is the fields that people who live together have in common: how often strangers do cannot be told from pairs taken
// at random, among which are such people, and the model has a place of its own for them.
func household(field string) bool {
	return slices.Contains([]string{"street", "street given area", "street elsewhere", "phone", "email", "identifier", "memberNumber"}, field)
}
