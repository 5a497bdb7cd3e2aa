package body

import "strconv"

// Number reads a number. One that is too large to be held is infinite, for bounds to refuse.
func (o *Object) Number(name string) Member[float64] {
	m, raw := member[float64](o, name, '0', "must be a number")
	if m.Given() {
		m.Value, _ = strconv.ParseFloat(string(raw), 64) // it has the form of a number already, so that its size alone can be wrong
	}
	return m
}

// Faulty reports whether something is wrong with a member that has been read.
func (o *Object) Faulty(name string) bool {
	for _, f := range o.faults {
		if f.Field == name {
			return true
		}
	}
	return false
}
