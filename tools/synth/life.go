package synth

import (
	"slices"

	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
	"github.com/patient-mesh/patient-mesh/tools/synth/names"
)

// What happens in a year, by chance. Lives go on after Today: the first record was made then, the others up to ten years later.
const (
	householdMoves = 0.070 // with all who live there; with those who leave, 8.7 % a year (Current Population Survey 2022)
	leavesHome     = 0.12  // at 18 to 29, alone
	statesStay     = 0.82  // of moves stay in the state
	marries        = 0.040 // of the unmarried, at 18 to 60
	divorces       = 0.015 // of the married
	takesBack      = 0.35  // of divorced people who had changed their name
	newPhone       = 0.08
	newMail        = 0.08
	newInsurance   = 0.15
	newName        = 0.0015 // by a court
)

// The names of what happens, as records tell them.
const (
	eventMove      = "move"
	eventMarriage  = "marriage"
	eventDivorce   = "divorce"
	eventPhone     = "phone"
	eventMail      = "email"
	eventInsurance = "insurance"
	eventName      = "name"
	eventSource    = "source" // another organisation keeps the record
)

// years until another record is made: often in the same year, seldom after ten.
func years(d *dice.Dice) int {
	return dice.Pick(d, []int{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 8, 10})
}

// live lets years pass. The first years of a person are the same for every record, and a household moves together.
func (g *Generator) live(p *person, household int64, until int) (events []string) {
	var d, moves dice.Dice
	d.Seed(g.options.Seed, forLife, uint64(p.id)) //nolint:gosec // not negative
	with := true                                  // still lives with the household
	tell := func(event string) {
		if !slices.Contains(events, event) {
			events = append(events, event)
		}
	}
	for year := 1; year <= until; year++ {
		moves.Seed(g.options.Seed, forMoves, uint64(household), uint64(year)) //nolint:gosec // not negative
		age := p.age() + year
		switch moved := moves.Chance(householdMoves); {
		case age >= 18 && age < 30 && d.Chance(leavesHome):
			with = false
			g.move(&d, p)
			tell(eventMove)
		case with && moved:
			g.move(&moves, p)
			tell(eventMove)
		case !with && d.Chance(householdMoves):
			g.move(&d, p)
			tell(eventMove)
		}
		if age >= 18 {
			g.change(&d, p, age, tell)
		}
	}
	return events
}

func (g *Generator) move(d *dice.Dice, p *person) {
	state := p.home.state
	if !d.Chance(statesStay) {
		state = g.places.Anywhere(d).State
	}
	p.oldHome, p.home = p.home, g.newHome(d, 0, state)
}

// change is what befalls grown-ups: names, telephones, insurance.
func (g *Generator) change(d *dice.Dice, p *person, age int, tell func(string)) {
	switch {
	case !p.married && age <= 60 && d.Chance(marries):
		p.married = true
		spouse, kind := person{last: g.surname(d).Text}, "previous"
		if p.maiden == "" && p.sex == names.Female {
			kind = "maiden"
		}
		g.rename(p, kind, func() {
			if p.sex == names.Female {
				g.wed(d, p, &spouse)
			} else {
				g.wed(d, &spouse, p)
			}
		})
		tell(eventMarriage)
	case p.married && d.Chance(divorces):
		p.married = false
		if p.maiden != "" && d.Chance(takesBack) {
			g.rename(p, "previous", func() { p.last, p.maiden = p.maiden, "" })
		}
		tell(eventDivorce)
	}
	if d.Chance(newName) {
		g.rename(p, "legal_change", func() {
			if d.Chance(0.5) {
				p.first = g.names.First(d, p.sex, p.born.year, p.family)
			} else {
				p.last = g.surname(d).Text
			}
		})
		tell(eventName)
	}
	if d.Chance(newPhone) {
		p.oldPhone, p.mobile = p.mobile, g.mobile(d, p)
		tell(eventPhone)
	}
	if d.Chance(newMail) {
		p.mail = mailbox(d, p)
		tell(eventMail)
	}
	if d.Chance(newInsurance) {
		p.member = "X" + digits(d.Below(1e10), 10) + "-01"
		tell(eventInsurance)
	}
}

// rename changes a name and keeps the former one.
func (g *Generator) rename(p *person, kind string, change func()) {
	first, last := p.first, p.last
	change()
	if p.first != first || p.last != last {
		former := Alias{Type: kind, LastName: last}
		if p.first != first {
			former.FirstName = first
		}
		p.aliases = append(p.aliases, former)
	}
}
