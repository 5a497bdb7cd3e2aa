package synth

import (
	"slices"
	"strings"

	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
	"github.com/patient-mesh/patient-mesh/tools/synth/slip"
)

// corrupter lets errors happen to one record, and remembers which.
type corrupter struct {
	g      *Generator
	d      *dice.Dice
	r      *Record
	p      *person // the truth
	kind   string  // what an error turned out to be, when its rate has a more general name
	claims []claim
}

type claim struct {
	fields []string
	kind   string
}

// mostOften bounds the probability of an error at high intensities: even then some records escape it.
const mostOften = 0.95

// twice is the share of errors of typing that are followed by another in the same field.
const twice = 0.06

// corrupt lets errors happen, each with its rate times the intensity.
func (g *Generator) corrupt(r *Record, p *person, intensity float64) {
	var d dice.Dice
	d.Seed(g.options.Seed, forErrors, uint64(r.Person), uint64(r.Copy)) //nolint:gosec // not negative
	clean := r.clone()
	c := &corrupter{g: g, d: &d, r: r, p: p}
	for i := range g.rates {
		at := &g.rates[i]
		if !d.Chance(min(at.Probability*intensity, mostOften)) || at.needed && g.options.Complete {
			continue
		}
		c.try(at)
	}
	r.Errors = c.told(&clean)
}

func (c *corrupter) try(at *rate) {
	c.kind = at.Kind
	if !at.does(c) {
		return
	}
	c.claims = append(c.claims, claim{at.fields, c.kind})
	if at.Kind == "typing" && c.d.Chance(twice) && at.does(c) {
		c.claims = append(c.claims, claim{at.fields, c.kind})
	}
}

// told are the errors that can be seen: one may have undone another.
func (c *corrupter) told(clean *Record) []string {
	var out []string
	for _, claim := range c.claims {
		if slices.ContainsFunc(claim.fields, func(f string) bool { return clean.value(f) != c.r.value(f) }) {
			out = append(out, strings.Join(claim.fields, ",")+":"+claim.kind)
		}
	}
	return out
}

// by lets a slip happen to a field.
func by(field string, how slip.Slip) func(*corrupter) bool {
	return func(c *corrupter) bool {
		at := c.r.field(field)
		if at == nil || *at == "" {
			return false
		}
		out, ok := how(c.d, *at)
		if ok {
			*at = out
		}
		return ok
	}
}

func typing(field string) func(*corrupter) bool {
	return func(c *corrupter) (ok bool) {
		c.kind, ok = mistype(c.d, c.r, field)
		return ok
	}
}

// mistype makes one error of typing in a field, and tells its kind. Fields that are numbers keep their digits' number, since
// forms refuse others.
func mistype(d *dice.Dice, r *Record, field string) (kind string, ok bool) {
	at := r.field(field)
	if at == nil || *at == "" {
		return "", false
	}
	var out string
	switch kind = "digit"; field {
	case dob:
		out, ok = slip.Dates{Latest: Today()}.Digit(d, *at)
	case phone:
		out, ok = phoneDigit(d, *at)
	case last4SSN, postalCode, identifier:
		out, ok = slip.Digits(d, *at)
	default:
		out, kind, ok = slip.Typing(d, *at)
	}
	*at = out
	return kind, ok
}

// TypoFields are the fields that can have the one error of OneTypo.
func TypoFields() []string {
	return []string{firstName, middleName, lastName, dob, last4SSN, line1, city, postalCode, phone, email}
}

// phoneDigit mistypes a number that can still be dialled: no area code or exchange begins with 0 or 1.
func phoneDigit(d *dice.Dice, text string) (string, bool) {
	for range 8 {
		out, ok := slip.Digits(d, text)
		if ok && diallable(out) {
			return out, true
		}
	}
	return text, false
}

func diallable(text string) bool {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
	digits = digits[max(len(digits)-10, 0):]
	return len(digits) == 10 && digits[0] > '1' && digits[3] > '1'
}
