package synth

import (
	"strconv"

	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
)

// Shares of records that keep what is no longer so.
const (
	keepsOldHome  = 0.35
	keepsOldPhone = 0.25
	keepsOldChart = 0.10 // the number of the first record, told by a referral
	perState      = 14   // organisations that keep records
)

// write is the record of a person as an organisation keeps it that makes no mistakes.
func (g *Generator) write(p *person, copyNo int, d *dice.Dice) Record {
	r := Record{
		Person: p.id, Copy: copyNo, Household: p.id / mostMembers,
		FirstName: p.first, LastName: p.last, Suffix: p.suffix, DOB: p.born.text(), SexAtBirth: p.sexSay,
	}
	p.known.fill(&r, p)
	if p.known&knowsAddress != 0 {
		r.Addresses = append(make([]Address, 0, 2), p.home.written())
		if p.oldHome.line1 != "" && d.Chance(keepsOldHome) {
			r.Addresses = append(r.Addresses, p.oldHome.written())
		}
	}
	r.Contacts = p.contacts(d)
	if p.known&knowsAlias != 0 {
		r.Aliases = append(r.Aliases, p.aliases...)
		if p.maiden != "" && p.maiden != p.last && len(p.aliases) == 0 {
			r.Aliases = append(r.Aliases, Alias{Type: "maiden", LastName: p.maiden})
		}
	}
	return r
}

// fill writes the facts that are a text each.
func (known facts) fill(r *Record, p *person) {
	set := func(fact facts, field *string, value string) {
		if known&fact != 0 {
			*field = value
		}
	}
	set(knowsMiddle, &r.MiddleName, p.middle)
	set(knowsSSN, &r.Last4SSN, p.ssn)
	set(knowsGender, &r.Gender, p.gender)
	set(knowsRace, &r.Race, p.race)
	set(knowsEthnicity, &r.Ethnicity, p.ethnicity)
	set(knowsLanguage, &r.PreferredLanguage, p.tongue)
}

func (h home) written() Address {
	return Address{Line1: h.line1, Line2: h.line2, City: h.city, State: h.state, PostalCode: h.zip, Country: "US", Use: "home"}
}

func (p *person) contacts(d *dice.Dice) []Contact {
	out := make([]Contact, 0, 4)
	if p.known&knowsMobile != 0 {
		out = append(out, Contact{System: phone, Value: p.mobile, Use: "mobile"})
	}
	if p.known&knowsLandline != 0 && p.landline != "" && p.oldHome.line1 == "" {
		out = append(out, Contact{System: phone, Value: p.landline, Use: "home"})
	}
	if p.oldPhone != "" && d.Chance(keepsOldPhone) {
		out = append(out, Contact{System: phone, Value: p.oldPhone, Use: "mobile"})
	}
	if p.known&knowsMail != 0 && p.mail != "" {
		out = append(out, Contact{System: email, Value: p.mail})
	}
	return out
}

// organisation is one of those that keep records in a state.
type organisation struct {
	state  string
	number int
}

func (o organisation) id() string { return "org-" + o.state + "-" + strconv.Itoa(o.number) }

func (o organisation) name() string {
	first := []string{
		"Lakeview", "Mercy", "St. Luke's", "Riverside", "County", "University", "Good Samaritan",
		"Valley", "Memorial", "Sacred Heart", "Northside", "Pine Ridge", "Bayshore", "Community",
	}
	second := []string{"Medical Center", "Hospital", "Health System", "Clinic"}
	return first[o.number%len(first)] + " " + second[(o.number*7+int(o.state[0]))%len(second)] + " " + o.state
}

// multiplier spreads consecutive numbers over a power of two. It is odd, so that no two numbers meet.
const multiplier = 0x9e3779b1

// chart is the number under which an organisation keeps the record: no two records have the same.
func chart(person int64, copyNo int) string {
	n := int(person)*(mostCopies+1) + copyNo + 1
	return strconv.Itoa(n * multiplier & (1<<40 - 1))
}

func (o organisation) identifier(person int64, copyNo int) Identifier {
	return Identifier{Type: typeChart, Value: chart(person, copyNo), AuthorityOrganizationID: o.id(), AuthorityOrganizationName: o.name()}
}

// insured is the number of a member, whose first digit is the plan's.
func insured(member string) Identifier {
	plan := member[len("W"):][:1]
	return Identifier{
		Type: typeMember, Value: member, AuthorityOrganizationID: "payer-" + plan, AuthorityOrganizationName: "Health Plan " + plan,
	}
}
