package index

import (
	"encoding/binary"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// What an address has.
const (
	placeLine = 1 << iota
	placeCity
	placeState
	placePostal
	placeHouse
	placeUnit
	placeMiddle
)

func writePlaces(b []byte, d *linkage.Demographics, p *linkage.Person, number func(*linkage.Text) uint32) []byte {
	b = binary.AppendUvarint(b, uint64(len(p.Addresses)))
	for i := range p.Addresses {
		a := &p.Addresses[i]
		middle := ""
		if len(p.Addresses) == len(d.Addresses) {
			middle = middleOf(linkage.Fold(d.Addresses[i].Line1), a)
		}
		at := len(b)
		b = append(b, 0)
		for bit, t := range [...]*linkage.Text{a.Line, a.City, a.State, a.Postal} {
			if t != nil {
				b[at] |= 1 << bit
				b = binary.AppendUvarint(b, uint64(number(t)))
			}
		}
		for bit, s := range [...]string{a.House, a.Unit, middle} {
			if s != "" {
				b[at] |= placeHouse << bit
				b = short(b, s)
			}
		}
	}
	return b
}

// whole says that a middle is all of a line's fold, since house, street and unit are not in it one after the other.
const whole = "\x00"

// middleOf is what the fold of a line has between its street and its unit: nothing, "apt", or all of it.
func middleOf(fold string, a *linkage.Place) string {
	middle, ok := strings.CutPrefix(fold, a.House)
	if ok && a.Line != nil {
		middle, ok = strings.CutPrefix(middle, a.Line.Fold)
	}
	if ok {
		middle, ok = strings.CutSuffix(middle, a.Unit)
	}
	if !ok {
		return whole + fold
	}
	return middle
}

// isLine tells whether the first line of an address folds to a text.
func isLine(fold string, a *linkage.Place, middle string) bool {
	if strings.HasPrefix(middle, whole) {
		return fold == middle[1:]
	}
	rest, ok := strings.CutPrefix(fold, a.House)
	if ok && a.Line != nil {
		rest, ok = strings.CutPrefix(rest, a.Line.Fold)
	}
	if ok {
		rest, ok = strings.CutPrefix(rest, middle)
	}
	return ok && rest == a.Unit
}

func (r *record) place(in *reader) {
	has := in.b[in.i]
	in.i++
	var a linkage.Place
	if has&placeLine != 0 {
		a.Line = r.texts.text(in.number())
	}
	if has&placeCity != 0 {
		a.City = r.texts.text(in.number())
	}
	if has&placeState != 0 {
		a.State = r.texts.text(in.number())
	}
	if has&placePostal != 0 {
		a.Postal = r.texts.text(in.number())
	}
	if has&placeHouse != 0 {
		a.House = r.short(in)
	}
	if has&placeUnit != 0 {
		a.Unit = r.short(in)
	}
	middle := ""
	if has&placeMiddle != 0 {
		middle = r.short(in)
	}
	r.person.Addresses, r.middles = append(r.person.Addresses, a), append(r.middles, middle)
}

// What an alias or an identifier has.
const (
	hasFrom = 1 << iota
	hasUntil
	aliasFirst
	aliasLast
)

func writeAliases(b []byte, p *linkage.Person, number func(*linkage.Text) uint32) []byte {
	b = binary.AppendUvarint(b, uint64(len(p.Aliases)))
	for i := range p.Aliases {
		a := &p.Aliases[i]
		at := len(b)
		b = interval(append(b, 0), at, a.From, a.Until)
		for bit, t := range [...]*linkage.Text{a.First, a.Last} {
			if t != nil {
				b[at] |= aliasFirst << bit
				b = binary.AppendUvarint(b, uint64(number(t)))
			}
		}
	}
	return b
}

func interval(b []byte, at int, from, until int64) []byte {
	if from != 0 {
		b[at] |= hasFrom
		b = binary.AppendVarint(b, from)
	}
	if until != 0 {
		b[at] |= hasUntil
		b = binary.AppendVarint(b, until)
	}
	return b
}

func (r *record) alias(in *reader) {
	has := in.b[in.i]
	in.i++
	var a linkage.AliasName
	a.From, a.Until = in.interval(has)
	if has&aliasFirst != 0 {
		a.First = r.texts.text(in.number())
	}
	if has&aliasLast != 0 {
		a.Last = r.texts.text(in.number())
	}
	r.person.Aliases = append(r.person.Aliases, a)
}

func (r *reader) interval(has byte) (from, until int64) {
	if has&hasFrom != 0 {
		from = r.varint()
	}
	if has&hasUntil != 0 {
		until = r.varint()
	}
	return from, until
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.b[r.i:])
	r.i += n
	return v
}

func writeIdentifiers(b []byte, p *linkage.Person) []byte {
	b = binary.AppendUvarint(b, uint64(len(p.Identifiers)))
	for i := range p.Identifiers {
		n := &p.Identifiers[i]
		at := len(b)
		b = interval(append(b, 0), at, n.From, n.Until)
		b = binary.LittleEndian.AppendUint64(b, n.System)
		b = short(b, n.Value)
	}
	return b
}

func (r *record) identifier(in *reader) {
	has := in.b[in.i]
	in.i++
	var n linkage.Number
	n.From, n.Until = in.interval(has)
	n.System = binary.LittleEndian.Uint64(in.b[in.i:])
	in.i += 8
	n.Value = r.short(in)
	r.person.Identifiers = append(r.person.Identifiers, n)
}
