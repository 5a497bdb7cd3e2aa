package synth

import (
	"slices"
	"strings"

	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
	"github.com/patient-mesh/patient-mesh/tools/synth/names"
)

// Shares of births and children.
const (
	twinBirths = 0.0157 // 31 of a thousand children are twins (National Vital Statistics Reports 2022)
	juniors    = 0.04   // of eldest sons are named after their father
)

// parents are one or two with their children.
func (h *house) parents(age int, two bool) {
	var mother, father *person
	elder := age
	if two {
		mother, father = h.couple(age)
	} else {
		mother = h.stranger(age)
		h.surname = names.Surname{Text: mother.last, Heritage: mother.family}
		if mother.sex == names.Female && h.d.Chance(0.5) { // the father lives elsewhere, and the children have his name
			h.surname = h.g.surname(h.d)
		}
	}
	h.childrensName(mother, father)
	for range 1 + h.g.kinds.growing.Draw(h.d) {
		h.birth(elder, father)
	}
}

// childrensName decides what all children of a house are called.
func (h *house) childrensName(mother, father *person) {
	if father == nil {
		return
	}
	own := mother.last
	if mother.maiden != "" {
		own = mother.maiden
	}
	switch share := h.d.Below(100); {
	case strings.ContainsAny(h.surname.Text, " -"): // two names are enough
	case h.surname.Heritage == names.Hispanic && share < 20:
		h.surname.Text += " " + firstPart(own)
	case share < 4:
		h.surname.Text += "-" + firstPart(own)
	case share < 9 && mother.last != father.last:
		h.surname.Text = own
	}
}

func firstPart(name string) string {
	if at := strings.LastIndexAny(name, " -"); at > 0 && !strings.HasPrefix(name, "De ") && !strings.HasPrefix(name, "Van ") {
		return name[:at]
	}
	return name
}

// birth adds a child, or two of one age. Parents are between 17 and 43 years older, most around 28.
func (h *house) birth(elder int, father *person) {
	if len(h.people)+3 > mostMembers {
		return
	}
	age := 0
	for range 12 {
		distance := 17 + h.d.Below(10) + h.d.Below(10) + h.d.Below(9)
		if age = elder - distance; age >= 0 && (age < 18 || age < 26 && h.d.Chance(0.45)) {
			break
		}
		age = h.d.Below(max(1, min(18, elder-16)))
	}
	sex := h.sexAt(age)
	child := h.add(age, sex, h.surname)
	h.g.christen(h.d, child)
	for range 8 { // parents seldom give a name twice
		if !slices.ContainsFunc(h.people[:len(h.people)-1], func(p person) bool { return p.first == child.first }) {
			break
		}
		child.first = h.g.names.First(h.d, sex, child.born.year, child.family)
	}
	child.race, child.ethnicity, child.tongue = h.people[0].race, h.people[0].ethnicity, h.people[0].tongue
	if father != nil && sex == names.Male && h.d.Chance(juniors) {
		h.nameAfter(child, father)
	}
	if h.d.Chance(twinBirths) {
		h.twin(len(h.people) - 1)
	}
}

// nameAfter makes a son a junior, or the third of his name.
func (h *house) nameAfter(son, father *person) {
	if son.last != father.last {
		return
	}
	son.first, son.middle, son.suffix = father.first, father.middle, "Jr"
	switch father.suffix {
	case "Jr", "II":
		son.suffix = "III"
	case "III":
		son.suffix = "IV"
	case "":
		if h.d.Chance(0.3) {
			father.suffix = "Sr"
		}
	}
}

// twin is another child of the same birth: of the same sex in two of three, with names that go together in a third of
// those, or with the same initial, and a number of social security issued next.
func (h *house) twin(of int) {
	sex := h.people[of].sex
	alike := h.d.Chance(0.66)
	if !alike {
		sex = 1 - sex
	}
	other := h.add(h.people[of].age(), sex, h.surname)
	first := &h.people[of]
	other.born, other.race, other.ethnicity, other.tongue = first.born, first.race, first.ethnicity, first.tongue
	h.g.christen(h.d, other)
	if h.d.Chance(0.5) {
		other.ssn = nextNumber(first.ssn)
	}
	switch {
	case alike && first.suffix == "" && h.d.Chance(0.33):
		first.first, other.first = h.g.names.Twins(h.d, sex)
	case h.d.Chance(0.33):
		for range 12 {
			if initial(other.first) == initial(first.first) && other.first != first.first {
				break
			}
			other.first = h.g.names.First(h.d, sex, other.born.year, other.family)
		}
	}
	for other.first == first.first {
		other.first = h.g.names.First(h.d, sex, other.born.year, other.family)
	}
}

func nextNumber(ssn string) string {
	n := 0
	for i := range len(ssn) {
		n = 10*n + int(ssn[i]-'0')
	}
	return digits(n%9999+1, 4)
}

// grandparent lives with the family: one of its name, or of the mother's.
func (h *house) grandparent() {
	if len(h.people) >= mostMembers-1 {
		return
	}
	elder := max(h.people[0].age(), h.people[1].age())
	surname := names.Surname{Text: h.people[1].last, Heritage: h.people[1].family}
	if h.d.Chance(0.5) {
		surname = names.Surname{Text: h.people[0].last, Heritage: h.people[0].family}
		if h.people[0].maiden != "" {
			surname.Text = h.people[0].maiden
		}
	}
	sex := names.Female
	if h.d.Chance(0.35) {
		sex = names.Male
	}
	p := h.add(min(elder+20+h.d.Below(15), 99), sex, surname)
	h.g.christen(h.d, p)
	if sex == names.Female {
		p.maiden = h.g.surname(h.d).Text
	}
}

// settle gives the people of a house what they share and what they have of their own: telephones, mail, insurance.
func (h *house) settle() {
	g, d := h.g, h.d
	landline := ""
	if d.Chance(0.3) {
		landline = number(d, h.home.area)
	}
	member := "W" + digits((int(h.index)+1)*multiplier&(1<<33-1), 10)
	var parent *person
	for i := range h.people {
		p := &h.people[i]
		p.home, p.landline, p.member = h.home, landline, member+"-"+digits(i+1, 2)
		if !p.married && p.age() > 25 && p.sex == names.Female && p.maiden == "" && d.Chance(0.15) { // divorced or widowed, and kept the name
			p.maiden = g.surname(d).Text
		}
		switch {
		case p.age() < 15 && parent != nil: // who is called is a parent
			p.mobile, p.mail = parent.mobile, parent.mail
		case i > 0 && p.married && d.Chance(0.06): // couples that share an address
			p.mobile, p.mail = g.mobile(d, p), h.people[i-1].mail
		default:
			p.mobile, p.mail = g.mobile(d, p), mailbox(d, p)
		}
		if parent == nil && p.adult() {
			parent = p
		}
		p.known = knownOf(d, p)
	}
}

func (g *Generator) mobile(d *dice.Dice, p *person) string {
	area := p.home.area
	if d.Chance(0.15) { // kept from where they lived before
		area = g.places.Anywhere(d).Area
	}
	return number(d, area)
}
