// Package estimate learns from how pairs of records agree how often records of one person, and of two, agree so: by counting
// where the truth is known (Fellegi & Sunter 1969), by expectation and maximisation where it is not (Dempster, Laird & Rubin
// 1977; Jaro 1989; Winkler 1988). What was believed before anchors what is learnt, and better agreement never comes to speak
// less for one person than worse. It knows levels of agreement alone: no field's meaning, no record, no patient.
package estimate

import (
	"maps"
	"slices"
)

// Field is what is believed of one field before anything is counted.
type Field struct {
	Name   string
	Levels []string  // from the best agreement to the worst
	M, U   []float64 // how often two records of one person, and of two people, agree at each level; both sum to 1
}

// Scheme is the fields that are compared.
type Scheme []Field

// Missing is the level of a field that is not compared: a record of the two says nothing, or it is why the pair was looked at.
const Missing = -1

// Vector is the level of each field of a scheme at which two records agree.
type Vector []int8

// Tally is how many pairs agree in the same way. The zero value is ready.
type Tally struct {
	counts map[string]float64
	size   float64
}

// Add counts n pairs.
func (t *Tally) Add(v Vector, n float64) {
	if t.counts == nil {
		t.counts = map[string]float64{}
	}
	key := make([]byte, len(v))
	for i, level := range v {
		key[i] = byte(level + 1) //nolint:gosec // from 0: a level, or Missing
	}
	t.counts[string(key)] += n
	t.size += n
}

// Size is how many pairs were counted.
func (t *Tally) Size() float64 { return t.size }

// pattern is a vector and how many pairs have it.
type pattern struct {
	levels Vector
	pairs  float64
}

// patterns are in one order, whatever the order they came in: sums of floating point depend on it.
func (t *Tally) patterns() []pattern {
	out := make([]pattern, 0, len(t.counts))
	for _, key := range slices.Sorted(maps.Keys(t.counts)) {
		levels := make(Vector, len(key))
		for i := range len(key) {
			levels[i] = int8(key[i]) - 1 //nolint:gosec // as Add wrote it
		}
		out = append(out, pattern{levels, t.counts[key]})
	}
	return out
}

// Levels are the pairs at each level of each field.
func (t *Tally) Levels(s Scheme) [][]float64 {
	counts := s.zero()
	for _, p := range t.patterns() {
		for f, level := range p.levels {
			if level != Missing {
				counts[f][level] += p.pairs
			}
		}
	}
	return counts
}

func (s Scheme) zero() [][]float64 {
	out := make([][]float64, len(s))
	for f := range s {
		out[f] = make([]float64, len(s[f].Levels))
	}
	return out
}
