package index

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// learnOthers finds what demographics have and the person made of them has not, or has otherwise.
func (r *record) learnOthers(d *linkage.Demographics) {
	p := &r.person
	emails := 0
	for i := range d.Contacts {
		c := &d.Contacts[i]
		switch value, phone := linkage.Fold(c.Value), linkage.ParsePhone(c.E164, c.Value); {
		case c.System == "email":
			normal, instead := linkage.ParseEmail(c.Value), 0
			if normal != "" {
				emails++
				instead = emails
			}
			if value != linkage.Fold(normal) {
				r.others = append(r.others, other{rule: byEmail, value: value, instead: instead})
			}
		case phone == 0:
			r.others = append(r.others, other{rule: byPhone, value: dialled(c)})
		default:
			r.aheads = append(r.aheads, ahead(c.E164, phone))
		}
	}
	for i := range d.Identifiers {
		n := &d.Identifiers[i]
		value := linkage.Fold(n.Value)
		if value != "" && !slices.ContainsFunc(p.Identifiers, func(o linkage.Number) bool { return o.Value == value }) {
			r.others = append(r.others, other{rule: byNumber, value: value, from: n.From, until: n.Until})
		}
	}
}

// dialled are the digits of a telephone number.
func dialled(c *linkage.Contact) string {
	s := c.E164
	if s == "" {
		s = c.Value
	}
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// ahead is what a telephone number's international form has ahead of what is compared of it, its country's code at least: 0 when
// there is no such form.
func ahead(e164 string, p linkage.Phone) uint64 {
	if e164 == "" {
		return 0
	}
	n := digits(strings.TrimPrefix(e164, "+")) - uint64(p)
	for ; p > 0; p /= 10 {
		n /= 10
	}
	return n
}

func (r *record) writeOthers(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(r.others)))
	for i := range r.others {
		o := &r.others[i]
		at := len(b) + 1
		b = interval(append(b, byte(o.rule), 0), at, o.from, o.until)
		b = short(b, o.value)
		if o.rule == byEmail {
			b = binary.AppendUvarint(b, uint64(o.instead)) //nolint:gosec // not negative
		}
	}
	return b
}

func (r *record) readOther(in *reader) {
	o := other{rule: rule(in.b[in.i])}
	has := in.b[in.i+1]
	in.i += 2
	o.from, o.until = in.interval(has)
	o.value = r.short(in)
	if o.rule == byEmail {
		o.instead = int(in.uvarint()) //nolint:gosec // as it was written
	}
	r.others = append(r.others, o)
}
