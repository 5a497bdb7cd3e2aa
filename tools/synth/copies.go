package synth

import (
	"slices"

	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
)

// elsewhere is the share of copies that another organisation keeps. The others are duplicates within one.
const elsewhere = 0.7

// records gives all records of a person. It is false when nobody wants more.
func (g *Generator) records(p *person, yield func(Record) bool) bool {
	o := &g.options
	var d dice.Dice
	d.Seed(o.Seed, forCopy, uint64(p.id), 0) //nolint:gosec // not negative
	first := g.write(p, 0, &d)
	keeper := organisation{state: p.home.state, number: d.Below(perState)}
	first.Identifiers = append(make([]Identifier, 0, 2), keeper.identifier(p.id, 0))
	if p.known&knowsMember != 0 {
		first.Identifiers = append(first.Identifiers, insured(p.member))
	}
	if o.Original > 0 {
		g.corrupt(&first, p, o.Original)
	}
	copies := g.copies(p.id)
	if !yield(first) {
		return false
	}
	for k := 1; k <= copies; k++ {
		if o.Mode == OneTypo {
			again := g.oneTypo(&first, k)
			if !yield(again) {
				return false
			}
			continue
		}
		if !yield(g.again(p, k, keeper)) {
			return false
		}
	}
	return true
}

// copies says how many further records of a person there are.
func (g *Generator) copies(person int64) int {
	if g.options.Duplicated == 0 {
		return 0
	}
	var d dice.Dice
	d.Seed(g.options.Seed, forCopies, uint64(person)) //nolint:gosec // not negative
	if !d.Chance(g.options.Duplicated) {
		return 0
	}
	n := 1
	for n < g.options.Copies && d.Chance(0.5) {
		n++
	}
	return n
}

// again is another record of a person, made later.
func (g *Generator) again(before *person, k int, keeper organisation) Record {
	var d dice.Dice
	d.Seed(g.options.Seed, forCopy, uint64(before.id), uint64(k)) //nolint:gosec // not negative
	p := *before
	events := g.live(&p, before.id/mostMembers, years(&d))
	events = p.learn(&d, events)
	r := g.write(&p, k, &d)
	own := keeper
	if d.Chance(elsewhere) {
		own = organisation{state: p.home.state, number: d.Below(perState)}
	}
	r.Identifiers = append(make([]Identifier, 0, 3), own.identifier(p.id, k))
	if p.known&knowsMember != 0 {
		r.Identifiers = append(r.Identifiers, insured(p.member))
	}
	if own != keeper {
		events = append(events, eventSource)
		if d.Chance(keepsOldChart) {
			r.Identifiers = append(r.Identifiers, keeper.identifier(p.id, 0))
		}
	}
	r.Events = events
	if g.options.Intensity > 0 {
		g.corrupt(&r, &p, g.options.Intensity)
	}
	return r
}

// oneTypo is a record once more, with one error of typing in one field.
func (g *Generator) oneTypo(first *Record, k int) Record {
	r := first.clone()
	r.Copy = k
	var d dice.Dice
	d.Seed(g.options.Seed, forErrors, uint64(r.Person), uint64(k)) //nolint:gosec // not negative
	fields := slices.Clone(g.options.Fields)
	for len(fields) > 0 {
		at := d.Below(len(fields))
		if kind, ok := mistype(&d, &r, fields[at]); ok {
			r.Errors = []string{fields[at] + ":" + kind}
			return r
		}
		fields = slices.Delete(fields, at, at+1)
	}
	return r
}
