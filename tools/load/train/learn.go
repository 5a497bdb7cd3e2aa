package train

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/tools/load/train/estimate"
)

// Options say how to learn. The zero value is what is usual.
type Options struct {
	Seed      uint64
	Strangers int // pairs taken at random; 400,000
	Questions int // records that are asked in a back-test, at most, for calibration and for the test each; 4,000
}

func (o Options) withDefaults() Options {
	if o.Strangers <= 0 {
		o.Strangers = 400_000
	}
	if o.Questions <= 0 {
		o.Questions = 4000
	}
	return o
}

// How a model was learnt.
const (
	ByExpectation = "em"
	ByCounting    = "labelled"
)

// Learnt is a model with what it was learnt from, and how it does on what it was not learnt from.
type Learnt struct {
	Method    string
	Model     *linkage.Model
	Default   *linkage.Model
	Active    *linkage.Model
	Records   int
	Strangers int     // pairs taken at random
	Looked    int     // pairs that were looked for
	Pairs     float64 // of one person, that m was learnt from, about
	Passes    []Pass  // without labels
	Seed      uint64
	// Before is of the active model, After of the one that was learnt, Standard of the default.
	Before, After, Standard Measure
	Reasons                 []string // why it is worse than the active one; none: it is not
}

// Pass is what one way of looking for pairs came to.
type Pass struct {
	Name   string
	Pairs  int
	Share  float64 // of one person
	Learnt bool    // from it
}

// mostMoved is how many times as large or as small as the default's an m may be that was learnt without knowing the truth: what
// looks like many pairs of one person may be something else, such as a file that was loaded twice.
const mostMoved = 8

// ErrTooFew is that there is too little to learn from.
var ErrTooFew = errors.New("there is too little to learn from")

// Learn learns from records. Where they have truths, or labels do, by counting; else by expectation and maximisation. What
// is active is what the result is held against; the default is what anchors it, so that errors of one training do not grow in
// the next.
func Learn(p *People, labels []Label, active *linkage.Model, o Options) (*Learnt, error) {
	o = o.withDefaults()
	out := &Learnt{Default: linkage.Default(), Active: active, Records: len(p.Records), Seed: o.Seed}
	if len(p.Records) < 2 {
		return nil, fmt.Errorf("%w: %d records", ErrTooFew, len(p.Records))
	}
	if len(labels) > 0 || p.labelled() {
		return out, out.count(p, labels, o)
	}
	return out, out.expect(p, o)
}

// strangers are how pairs agree that were taken at random, but for those that are, or might well be, of one person.
func (l *Learnt) strangers(p *People, o Options, but map[pair]bool) *estimate.Tally {
	random := p.strangers(o.Strangers, o.Seed, but)
	l.Strangers = len(random)
	return p.tally(l.Default, random, func(field string) bool { return !household(field) })
}

func (p *People) labelled() bool {
	return slices.ContainsFunc(p.Records, func(r Record) bool { return r.Truth != "" })
}

// expect learns without knowing any truth. A third of the pairs is held out.
func (l *Learnt) expect(p *People, o Options) error {
	l.Method = ByExpectation
	s, anchor := scheme(l.Default), estimate.DefaultAnchor()
	var groups, held []*estimate.Tally
	var shown []pair
	found := map[pair]bool{}
	for _, one := range passes() {
		pairs := p.pairsOf(one, o.Seed)
		learn, hold := apart(pairs, o.Seed)
		groups = append(groups, p.tally(l.Default, learn, one.uses))
		held = append(held, p.tally(l.Default, hold, one.uses))
		l.Passes = append(l.Passes, Pass{Name: one.name, Pairs: len(learn)})
		l.Looked += len(pairs)
		shown = append(shown, hold...)
		for _, one := range pairs {
			found[one] = true
		}
	}
	fit := l.trusted(s, estimate.Strangers(s, l.strangers(p, o, found), anchor), groups, anchor)
	l.Pairs = fit.Pairs
	fit = fit.Bounded(s, mostMoved)
	var err error
	if l.Model, err = with(l.Default, fit); err != nil {
		return err
	}
	slices.SortFunc(shown, comparePairs)
	shown = slices.Compact(shown)
	for _, side := range []struct {
		model *linkage.Model
		into  *Measure
	}{{l.Active, &l.Before}, {l.Model, &l.After}, {l.Default, &l.Standard}} {
		of := scheme(side.model)
		*side.into = p.unlabelled(side.model, shown)
		side.into.LogLikelihood = believed(of).LogLikelihood(of, held)
	}
	l.Reasons = unlikelier(l.Before, l.After)
	return nil
}

// mostly is the share of pairs of one person from which on a pass is learnt from. Where most are of two people who agree in so
// much they are twins, or bear their father's name, and tell of relatives what would be taken for errors.
const mostly = 0.8

// trusted learns from all passes, and then from those alone that found mostly pairs of one person.
func (l *Learnt) trusted(s estimate.Scheme, u [][]float64, groups []*estimate.Tally, a estimate.Anchor) estimate.Fit {
	fit := estimate.EM(s, u, groups, a)
	var kept []*estimate.Tally
	for g := range l.Passes {
		l.Passes[g].Share = fit.Shares[g]
		if l.Passes[g].Learnt = fit.Shares[g] >= mostly; l.Passes[g].Learnt {
			kept = append(kept, groups[g])
		}
	}
	if len(kept) < len(groups) {
		fit = estimate.EM(s, u, kept, a)
	}
	return fit
}

// believed is a model as a fit.
func believed(s estimate.Scheme) (fit estimate.Fit) {
	for f := range s {
		fit.M, fit.U = append(fit.M, s[f].M), append(fit.U, s[f].U)
	}
	return fit
}

// apart holds a third of the pairs out, those of one record together.
func apart(pairs []pair, seed uint64) (learn, hold []pair) {
	for _, one := range pairs {
		if mix(seed, uint64(one.a))%3 == 0 { //nolint:gosec // not negative
			hold = append(hold, one)
		} else {
			learn = append(learn, one)
		}
	}
	return learn, hold
}

// chance is what decides what is chosen by chance: the same for the same numbers, as a report must be that can be repeated.
func chance(seed, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, stream)) //nolint:gosec // nothing is secret of it
}

// mix is a number that looks random and depends on both.
func mix(seed, n uint64) uint64 { return chance(seed, n).Uint64() }

// count learns from known truths: m and u from half of the people, what calibrates the score from a quarter, and the back-test
// is of the last quarter.
func (l *Learnt) count(p *People, labels []Label, o Options) error {
	l.Method = ByCounting
	t := newTruth(p, labels, o)
	same := t.pairs(toLearn)
	if len(same) == 0 || len(t.questions(toTest)) == 0 {
		return fmt.Errorf("%w: %d pairs are known to be of one person", ErrTooFew, len(same))
	}
	s := scheme(l.Default)
	fit := estimate.Count(s, p.tally(l.Default, same, nil), l.strangers(p, o, nil), estimate.DefaultAnchor())
	l.Pairs, l.Looked = fit.Pairs, len(same)
	raw, err := with(l.Default, fit)
	if err != nil {
		return err
	}
	var left int
	if l.Model, left, err = p.calibrated(raw, t.questions(toCalibrate)); err != nil {
		return err
	}
	test := t.questions(toTest)
	l.Before, l.After, l.Standard = p.measure(l.Active, test), p.measure(l.Model, test), p.measure(l.Default, test)
	l.Reasons = append(worse(l.Before, l.After), beyond(left)...)
	return nil
}
