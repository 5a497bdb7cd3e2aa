// Package synth makes people who never lived, as many as wanted, in records as different systems would keep them, and tells
// which records are of one person. It is what a patient-matching engine is measured on: seeded, so that everybody measures
// on the same people, and with errors taken from the literature on how records go wrong, not from what any matcher can or
// cannot do. It knows no matcher.
//
// The same seed and Version give the same records, on every machine and however they are split among goroutines.
package synth

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/tools/synth/names"
	"github.com/patient-mesh/patient-mesh/tools/synth/place"
)

// Version changes whenever the same seed gives other records than before.
const Version = 1

// Mode is how copies come to differ from a person's first record.
type Mode uint8

const (
	// Realistic lets time pass between the records of a person and errors happen at their rates.
	Realistic Mode = iota
	// OneTypo makes every copy the first record with exactly one error of typing in exactly one field, for measuring whether
	// the right person comes out on top.
	OneTypo
)

// Options say which people and records to make. The zero value makes clean people, without end, one record each.
type Options struct {
	Seed       uint64
	People     int64   // how many; 0: without end
	First      int64   // household to begin with
	Duplicated float64 // share of people with more records than one
	Copies     int     // of each of those, at most: each further copy is half as likely as the one before; 1 when 0
	Mode       Mode
	Intensity  float64  // of errors in copies: 1 is as Rates says, 2 twice as often, 0 none
	Original   float64  // of errors in first records, likewise
	Complete   bool     // no record lacks what a PatientRequestDTO or an address of it must have
	Fields     []string // that OneTypo errs in, those of TypoFields when none
}

// Today is the day of everybody's first record: nobody is born later. How many years pass until another record is up to
// the person; no record carries a date of its own.
func Today() time.Time { return time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC) }

const lastBirthYear = 2024 // of the people of Today

// Generator makes the records of some options. Any number of goroutines can use one.
type Generator struct {
	options Options
	names   *names.Names
	places  *place.Map
	kinds   kinds
	rates   []rate
}

// New reads the tables, which takes a moment, and checks the options.
func New(o Options) (*Generator, error) {
	o, err := o.checked()
	if err != nil {
		return nil, err
	}
	people, err := names.Load()
	if err != nil {
		return nil, err
	}
	places, err := place.Load()
	if err != nil {
		return nil, err
	}
	return newGenerator(o, people, places)
}

func newGenerator(o Options, people *names.Names, places *place.Map) (*Generator, error) {
	kinds, err := newKinds()
	return &Generator{options: o, names: people, places: places, kinds: kinds, rates: rates()}, err
}

// checked are the options with their defaults.
func (o Options) checked() (Options, error) {
	if o.People < 0 || o.First < 0 || o.Duplicated < 0 || o.Duplicated > 1 || o.Copies < 0 || o.Copies > mostCopies ||
		o.Intensity < 0 || o.Original < 0 {
		return o, errors.New("synth: options out of range")
	}
	if o.Mode == OneTypo && o.Original > 0 {
		return o, errors.New("synth: exactly one error needs first records without any")
	}
	if len(o.Fields) == 0 {
		o.Fields = TypoFields()
	}
	for _, f := range o.Fields {
		if !slices.Contains(TypoFields(), f) {
			return o, fmt.Errorf("synth: %q has no errors of typing; these have: %s", f, strings.Join(TypoFields(), ", "))
		}
	}
	o.Copies = max(o.Copies, 1)
	return o, nil
}
