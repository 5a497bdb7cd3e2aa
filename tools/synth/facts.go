package synth

import "github.com/patient-mesh/patient-mesh/tools/synth/dice"

// facts are what a record knows of a person besides name, date of birth and sex, which every record knows.
type facts uint16

const (
	knowsMiddle facts = 1 << iota
	knowsAddress
	knowsMobile
	knowsLandline
	knowsMail
	knowsSSN
	knowsGender
	knowsRace
	knowsEthnicity
	knowsLanguage
	knowsMember
	knowsAlias
	everyFact = iota
)

// completeness is how often records know a fact: assumptions, in the range that health information exchanges report.
func completeness() [everyFact]struct {
	name  string
	share float64
} {
	return [everyFact]struct {
		name  string
		share float64
	}{
		{middleName, 0.72},
		{address, 0.97},
		{"mobile", 0.85},
		{"landline", 0.80},
		{email, 0.55},
		{last4SSN, 0.58},
		{gender, 0.45},
		{race, 0.78},
		{ethnicity, 0.74},
		{language, 0.65},
		{"member", 0.6},
		{"alias", 0.25},
	}
}

// learned is the share of facts that were not known before which another record knows.
const learned = 0.3

func knownOf(d *dice.Dice, p *person) (out facts) {
	for i, fact := range completeness() {
		share := fact.share
		if facts(1)<<i == knowsMail && p.age() > 75 {
			share /= 2
		}
		if d.Chance(share) {
			out |= 1 << i
		}
	}
	return out
}

// has tells whether there is anything to know.
func (p *person) has(fact facts) bool {
	switch fact {
	case knowsMiddle:
		return p.middle != ""
	case knowsLandline:
		return p.landline != "" && p.oldHome.line1 == ""
	case knowsAlias:
		return len(p.aliases) > 0 || p.maiden != "" && p.maiden != p.last
	default:
		return true
	}
}

// learn adds facts that another record knows, and tells which.
func (p *person) learn(d *dice.Dice, events []string) []string {
	for i, fact := range completeness() {
		if p.known&(1<<i) == 0 && p.has(1<<i) && d.Chance(fact.share*learned) {
			p.known |= 1 << i
			events = append(events, "known:"+fact.name)
		}
	}
	return events
}
