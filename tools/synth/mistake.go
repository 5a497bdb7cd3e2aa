package synth

import (
	"strings"
	"unicode/utf8"

	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
	"github.com/patient-mesh/patient-mesh/tools/synth/names"
	"github.com/patient-mesh/patient-mesh/tools/synth/slip"
)

// Each of these lets an error happen to the corrupter's record, or is false where it cannot.

func lose(field string) func(*corrupter) bool {
	return func(c *corrupter) bool {
		switch field {
		case address:
			had := len(c.r.Addresses) > 0
			c.r.Addresses = nil
			return had
		case phone, email:
			kept := c.r.Contacts[:0:0]
			for _, contact := range c.r.Contacts {
				if contact.System != field {
					kept = append(kept, contact)
				}
			}
			had := len(kept) < len(c.r.Contacts)
			c.r.Contacts = kept
			return had
		}
		at := c.r.field(field)
		if at == nil || *at == "" {
			return false
		}
		*at = ""
		return true
	}
}

func swap(one, other string) func(*corrupter) bool {
	return func(c *corrupter) bool {
		a, b := c.r.field(one), c.r.field(other)
		if *a == "" || *b == "" || *a == *b || utf8.RuneCountInString(*b) == 1 { // nobody takes an initial for a name
			return false
		}
		*a, *b = *b, *a
		return true
	}
}

// newbornName is what hospitals call a child that has no name yet.
func newbornName(c *corrupter) bool {
	if c.p.age() > 0 || c.r.FirstName == "" {
		return false
	}
	word := "Girl"
	if c.p.sex == names.Male {
		word = "Boy"
	}
	c.r.FirstName = dice.Pick(c.d, []string{"Baby " + word, "Baby" + word, "Newborn", "Infant " + word})
	c.r.MiddleName = ""
	return true
}

func nickname(c *corrupter) bool {
	short := c.g.names.Nicknames(c.r.FirstName)
	if len(short) == 0 {
		return false
	}
	c.r.FirstName = dice.Pick(c.d, short)
	return true
}

// maiden is a name that the person no longer bears.
func maiden(c *corrupter) bool {
	former := c.p.maiden
	if n := len(c.p.aliases); former == "" && n > 0 {
		former = c.p.aliases[n-1].LastName
	}
	if former == "" || former == c.r.LastName || c.r.LastName == "" {
		return false
	}
	c.r.LastName = former
	return true
}

func mergeFirst(c *corrupter) bool {
	first, middle := &c.r.FirstName, &c.r.MiddleName
	if *first == "" || utf8.RuneCountInString(*middle) < 2 {
		return false
	}
	if c.d.Chance(0.7) {
		*first += " " + *middle
	} else {
		*first += strings.ToLower(*middle)
	}
	*middle = ""
	return true
}

// splitFirst takes the second of two first names for a middle name.
func splitFirst(c *corrupter) bool {
	at := strings.IndexAny(c.r.FirstName, " -")
	if at <= 0 || strings.HasPrefix(c.r.FirstName, "Baby") || strings.HasPrefix(c.r.FirstName, "Infant") {
		return false
	}
	c.r.FirstName, c.r.MiddleName = c.r.FirstName[:at], c.r.FirstName[at+1:]
	return true
}

// splitLast takes the first of two last names for a middle name.
func splitLast(c *corrupter) bool {
	at := strings.LastIndexByte(c.r.LastName, ' ')
	if at <= 3 || c.r.MiddleName != "" {
		return false
	}
	c.r.MiddleName, c.r.LastName = c.r.LastName[:at], c.r.LastName[at+1:]
	return true
}

func toInitial(c *corrupter) bool {
	if utf8.RuneCountInString(c.r.MiddleName) < 2 {
		return false
	}
	c.r.MiddleName = initial(c.r.MiddleName)
	if c.d.Chance(0.3) {
		c.r.MiddleName += "."
	}
	return true
}

func suffixIntoName(c *corrupter) bool {
	if c.r.Suffix == "" || c.r.LastName == "" {
		return false
	}
	c.r.LastName, c.r.Suffix = c.r.LastName+" "+c.r.Suffix, ""
	return true
}

func mergeLines(c *corrupter) bool {
	if len(c.r.Addresses) == 0 || c.r.Addresses[0].Line2 == "" || c.r.Addresses[0].Line1 == "" {
		return false
	}
	at := &c.r.Addresses[0]
	at.Line1, at.Line2 = at.Line1+dice.Pick(c.d, []string{" ", ", "})+at.Line2, ""
	return true
}

func stateInFull(c *corrupter) bool {
	at := c.r.field(stateField)
	if at == nil || c.g.places.StateName(*at) == "" {
		return false
	}
	*at = c.g.places.StateName(*at)
	return true
}

func wrongSex(c *corrupter) bool {
	switch c.r.SexAtBirth {
	case "female":
		c.r.SexAtBirth = "male"
	case "male":
		c.r.SexAtBirth = "female"
	default:
		return false
	}
	return true
}

// capitals writes a whole record in one case.
func capitals(c *corrupter) bool {
	slipped, done := slip.Upper, false
	if c.d.Chance(0.2) {
		slipped = slip.Lower
	}
	for _, f := range []string{firstName, middleName, lastName, line1, line2, city} {
		if at := c.r.field(f); at != nil && *at != "" {
			out, ok := slipped(c.d, *at)
			*at, done = out, done || ok
		}
	}
	return done
}
