package synth

import (
	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
	"github.com/patient-mesh/patient-mesh/tools/synth/names"
)

// What dice are for. Each purpose has its own, so that a change of one leaves the others as they fell.
const (
	forHousehold uint64 = iota + 1
	forBuilding
	forNamesake
	forMoves
	forLife
	forCopies
	forCopy
	forErrors
)

const (
	mostMembers = 16 // of a household
	mostCopies  = 15 // of a person
)

// person is all that is true of somebody at a time.
type person struct {
	id     int64
	sex    names.Sex
	sexSay string // at birth
	born   day
	family names.Heritage

	first, middle, last, suffix string
	maiden                      string // the last name before the first marriage
	married                     bool

	home, oldHome                    home
	mobile, landline, mail, oldPhone string
	ssn, member                      string
	gender, race, ethnicity, tongue  string
	aliases                          []Alias // names before what happened since the first record
	known                            facts   // in the first record
}

// home is where people live. The area code is that of the telephones there.
type home struct{ line1, line2, city, state, zip, area string }

func (p *person) age() int    { return lastBirthYear - p.born.year }
func (p *person) adult() bool { return p.age() >= 18 }

// Shares of people.
const (
	middleNames  = 0.85 // have one
	twoFirst     = 0.015
	initials     = 0.25 // of middle names that are written as initials
	bothSurnames = 0.12 // of people with a Hispanic surname who write their mother's as well
	hyphenated   = 0.01 // of the others whose own surname has two parts
	namesakes    = 0.004
	namedAfter   = 0.02 // of men, their father
	intersex     = 0.0002
)

// newPerson begins a person: sex, day of birth and what only depends on those.
func (g *Generator) newPerson(d *dice.Dice, age int, sex names.Sex) person {
	p := person{sex: sex, born: birthday(d, lastBirthYear-age), sexSay: "female", gender: "Female"}
	if sex == names.Male {
		p.sexSay, p.gender = "male", "Male"
	}
	if d.Chance(intersex) {
		p.sexSay = "intersex"
	}
	if d.Chance(0.01) {
		p.gender = dice.Pick(d, []string{"Non-binary", "Non-binary", "Transgender Male", "Transgender Female", "Other", "Declined"})
	}
	p.ssn = digits(d.Between(1, 9999), 4)
	return p
}

// christen gives a person first and middle names.
func (g *Generator) christen(d *dice.Dice, p *person) {
	p.first = g.names.First(d, p.sex, p.born.year, p.family)
	if d.Chance(twoFirst) {
		p.first += dice.Pick(d, []string{" ", " ", "-"}) + g.names.First(d, p.sex, p.born.year, p.family)
	}
	if d.Chance(middleNames) {
		p.middle = g.names.First(d, p.sex, p.born.year, p.family)
		if d.Chance(initials) {
			p.middle = initial(p.middle)
		}
	}
}

func initial(name string) string {
	for _, r := range name {
		return string(r)
	}
	return ""
}

// surname draws the surname somebody grew up with.
func (g *Generator) surname(d *dice.Dice) names.Surname {
	out := g.names.Surname(d)
	switch {
	case out.Heritage == names.Hispanic && d.Chance(bothSurnames):
		out.Text += " " + g.names.Surname(d).Text
	case out.Heritage != names.Hispanic && d.Chance(hyphenated):
		out.Text += "-" + g.names.Surname(d).Text
	}
	return out
}
