package synth

import (
	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
	"github.com/patient-mesh/patient-mesh/tools/synth/names"
)

// kinds are the tables that households are drawn from: about those of the Census Bureau (America's Families and Living
// Arrangements, 2022), with ages of their adults such that the people of all of them together are as old as those of the
// Census of 2020.
type kinds struct {
	kind    dice.Table
	ages    [5]dice.Table // by kind; of couples, the first one's
	growing dice.Table    // children in a household that has any
}

// The kinds of households.
const (
	alone = iota
	couple
	family
	singleParent
	sharers
	generations // a family with a grandparent
)

func newKinds() (k kinds, err error) {
	table := func(into *dice.Table, weights ...uint64) {
		if err == nil {
			*into, err = dice.NewTable(weights)
		}
	}
	table(&k.kind, 285, 290, 240, 80, 45, 60)
	// Five years each, from 15 to 19 up to 95 to 99.
	table(&k.ages[alone], 2, 6, 8, 8, 7, 6, 7, 9, 11, 13, 12, 9, 8, 5, 4, 2, 1)
	table(&k.ages[couple], 0, 3, 7, 7, 4, 4, 5, 8, 12, 15, 15, 11, 8, 4, 2, 1, 0)
	table(&k.ages[family], 0, 2, 7, 14, 18, 18, 16, 13, 9, 3, 2, 0, 0, 0, 0, 0, 0)
	table(&k.ages[singleParent], 1, 6, 11, 14, 15, 14, 12, 10, 8, 5, 3, 1, 0, 0, 0, 0, 0)
	table(&k.ages[sharers], 4, 14, 12, 7, 4, 3, 3, 3, 3, 2, 2, 1, 0, 0, 0, 0, 0)
	table(&k.growing, 42, 37, 14, 4, 2, 1)
	return k, err
}

func (k *kinds) age(d *dice.Dice, kind int) int {
	if kind == generations {
		kind = family
	}
	return max(15+5*k.ages[kind].Draw(d)+d.Below(5), 18)
}

// house is a household in the making.
type house struct {
	g       *Generator
	d       *dice.Dice
	index   int64
	home    home
	people  []person
	surname names.Surname // of the children
}

// household makes the people of one: the same ones whenever it is asked for. What it gives stands in scratch.
func (g *Generator) household(index int64, scratch []person) []person {
	var d dice.Dice
	d.Seed(g.options.Seed, forHousehold, uint64(index)) //nolint:gosec // not negative
	if cap(scratch) < mostMembers {                     // so that adding members never moves them
		scratch = make([]person, 0, mostMembers)
	}
	h := &house{g: g, d: &d, index: index, people: scratch[:0]}
	h.home = g.newHome(&d, index, "")
	switch kind := g.kinds.kind.Draw(&d); kind {
	case alone:
		h.stranger(g.kinds.age(&d, alone))
	case couple:
		h.couple(g.kinds.age(&d, couple))
	case singleParent:
		h.parents(g.kinds.age(&d, singleParent), false)
	case sharers:
		for range 2 + d.Below(3) {
			h.stranger(g.kinds.age(&d, sharers))
		}
	default:
		h.parents(g.kinds.age(&d, family), true)
		if kind == generations {
			h.grandparent()
		}
	}
	h.settle()
	return h.people
}

// newHome draws where a household lives, in a state or in any. Some of the homes in buildings of several are in the same
// building as those of other households.
func (g *Generator) newHome(d *dice.Dice, index int64, state string) home {
	at := d
	var shared dice.Dice
	if state == "" && d.Chance(0.1) {
		shared.Seed(g.options.Seed, forBuilding, uint64(index)>>5) //nolint:gosec // not negative
		at = &shared
	}
	spot := g.places.Anywhere(at)
	if state != "" {
		spot = g.places.Near(at, state)
	}
	building := g.places.Building(at)
	out := home{line1: building.Line1, city: spot.City, state: spot.State, zip: spot.ZIP, area: spot.Area}
	if building.Several || at != d {
		out.line2 = g.places.Unit(d)
	}
	return out
}

// add is a new member, who still needs a name.
func (h *house) add(age int, sex names.Sex, surname names.Surname) *person {
	p := h.g.newPerson(h.d, age, sex)
	p.id = h.index*mostMembers + int64(len(h.people))
	p.last, p.family = surname.Text, surname.Heritage
	p.race, p.ethnicity, p.tongue = descent(h.d, p.family)
	h.people = append(h.people, p)
	return &h.people[len(h.people)-1]
}

// sexAt draws a sex; of older people who live without a partner, more are women.
func (h *house) sexAt(age int) names.Sex {
	women := 0.495 // of births, and of the young, a few less than half
	if age >= 65 {
		women = 0.64
	}
	if h.d.Chance(women) {
		return names.Female
	}
	return names.Male
}

// stranger is somebody who is not related to who else lives there.
func (h *house) stranger(age int) *person {
	p := h.add(age, h.sexAt(age), h.g.surname(h.d))
	if h.d.Chance(namesakes) && h.named(p) {
		return p
	}
	h.g.christen(h.d, p)
	h.suffix(p)
	return p
}

// suffix is that of a man whose father, of the same name, lives elsewhere or no more.
func (h *house) suffix(p *person) {
	if p.sex == names.Male && h.d.Chance(namedAfter) {
		p.suffix = dice.Pick(h.d, []string{"Jr", "Jr", "Jr", "II", "III"})
	}
}

// named gives a person the whole name of others who live elsewhere, and share nothing else.
func (h *house) named(p *person) bool {
	var d dice.Dice
	d.Seed(h.g.options.Seed, forNamesake, uint64(h.index)>>12)                          //nolint:gosec // not negative
	other := person{sex: names.Sex(d.Below(2)), born: day{year: d.Between(1940, 2004)}} //nolint:gosec // 0 or 1
	if other.sex != p.sex {
		return false
	}
	surname := h.g.surname(&d)
	other.family = surname.Heritage
	h.g.christen(&d, &other)
	p.first, p.middle, p.last, p.family = other.first, other.middle, surname.Text, surname.Heritage
	return true
}

// couple is two people who live together: married or not, of one surname or not.
func (h *house) couple(age int) (woman, man *person) {
	sexes := [2]names.Sex{names.Female, names.Male}
	if h.d.Chance(0.012) { // same-sex couple households, Census of 2020
		sexes[0] = h.sexAt(0)
		sexes[1] = sexes[0]
	}
	first, second := h.g.surname(h.d), h.g.surname(h.d)
	if first.Heritage != second.Heritage && h.d.Chance(0.6) { // most marry within their heritage
		first = h.g.surname(h.d)
	}
	h.add(age, sexes[0], first)
	h.add(min(max(age-4+h.d.Below(10)+h.d.Below(3), 18), 99), sexes[1], second)
	woman, man = &h.people[len(h.people)-2], &h.people[len(h.people)-1]
	h.g.christen(h.d, woman)
	h.g.christen(h.d, man)
	h.suffix(man)
	h.surname = second
	if h.d.Chance(0.86) {
		woman.married, man.married = true, true
		h.g.wed(h.d, woman, man)
		h.surname.Text = man.last
	}
	return woman, man
}

// wed decides on the surnames of a new couple: of women who marry men, 79 % take his, 5 % join both, and 14 % keep theirs
// (Pew Research Center 2023).
func (g *Generator) wed(d *dice.Dice, woman, man *person) {
	own, his := woman.last, man.last
	switch share := d.Below(100); {
	case share < 79:
		woman.last = his
		if d.Chance(0.15) {
			woman.middle = own // in place of hers
		}
	case share < 82:
		woman.last = own + "-" + his
	case share < 84:
		woman.last = his + "-" + own
	case share < 86:
		man.last, man.maiden = own, his
	}
	if woman.last != own {
		woman.maiden = own
	}
}
