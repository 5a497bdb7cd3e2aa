package index

import (
	"encoding/binary"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

func (r *record) writeChildren(b []byte, number func(*linkage.Text) uint32) []byte {
	p := &r.person
	if len(p.Addresses) > 0 {
		b = r.writePlaces(b, number)
	}
	if len(p.Phones) > 0 {
		b = binary.AppendUvarint(b, uint64(len(p.Phones)))
		for i, n := range p.Phones {
			b = binary.AppendUvarint(b, uint64(n))
			b = binary.AppendUvarint(b, r.aheads[i])
		}
	}
	if len(p.Emails) > 0 {
		b = binary.AppendUvarint(b, uint64(len(p.Emails)))
		for _, s := range p.Emails {
			b = short(b, s)
		}
	}
	if len(p.Aliases) > 0 {
		b = writeAliases(b, p, number)
	}
	if len(p.Identifiers) > 0 {
		b = writeIdentifiers(b, p)
	}
	if len(r.others) > 0 {
		b = r.writeOthers(b)
	}
	return b
}

func (r *record) readChildren(in *reader, flags int, from texts) {
	p := &r.person
	p.Addresses, p.Phones, p.Emails, p.Aliases, p.Identifiers = p.Addresses[:0], p.Phones[:0], p.Emails[:0], p.Aliases[:0], p.Identifiers[:0]
	r.middles, r.aheads, r.others = r.middles[:0], r.aheads[:0], r.others[:0]
	if flags&hasAddresses != 0 {
		for range in.uvarint() {
			r.readPlace(in, from)
		}
	}
	if flags&hasPhones != 0 {
		for range in.uvarint() {
			p.Phones = append(p.Phones, linkage.Phone(in.uvarint()))
			r.aheads = append(r.aheads, in.uvarint())
		}
	}
	if flags&hasEmails != 0 {
		for range in.uvarint() {
			p.Emails = append(p.Emails, r.short(in))
		}
	}
	if flags&hasAliases != 0 {
		for range in.uvarint() {
			r.readAlias(in, from)
		}
	}
	if flags&hasIdentifiers != 0 {
		for range in.uvarint() {
			r.readIdentifier(in)
		}
	}
	if flags&hasOthers != 0 {
		for range in.uvarint() {
			r.readOther(in)
		}
	}
}

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

func (r *record) writePlaces(b []byte, number func(*linkage.Text) uint32) []byte {
	p := &r.person
	b = binary.AppendUvarint(b, uint64(len(p.Addresses)))
	for i := range p.Addresses {
		a := &p.Addresses[i]
		at := len(b)
		b = append(b, 0)
		for bit, t := range [...]*linkage.Text{a.Line, a.City, a.State, a.Postal} {
			if t != nil {
				b[at] |= 1 << bit
				b = binary.AppendUvarint(b, uint64(number(t)))
			}
		}
		for bit, s := range [...]string{a.House, a.Unit, r.middles[i]} {
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

// isLine tells whether the first line of an address, of which the parts are given, folds to a text.
func isLine(fold, house, street, middle, unit string) bool {
	if strings.HasPrefix(middle, whole) {
		return fold == middle[1:]
	}
	rest, ok := strings.CutPrefix(fold, house)
	if ok {
		rest, ok = strings.CutPrefix(rest, street)
	}
	if ok {
		rest, ok = strings.CutPrefix(rest, middle)
	}
	return ok && rest == unit
}

func (r *record) readPlace(in *reader, from texts) {
	has := in.b[in.i]
	in.i++
	var a linkage.Place
	if has&placeLine != 0 {
		a.Line = from.text(in.number())
	}
	if has&placeCity != 0 {
		a.City = from.text(in.number())
	}
	if has&placeState != 0 {
		a.State = from.text(in.number())
	}
	if has&placePostal != 0 {
		a.Postal = from.text(in.number())
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

func (r *record) readAlias(in *reader, from texts) {
	has := in.b[in.i]
	in.i++
	var a linkage.AliasName
	a.From, a.Until = in.interval(has)
	if has&aliasFirst != 0 {
		a.First = from.text(in.number())
	}
	if has&aliasLast != 0 {
		a.Last = from.text(in.number())
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

func (r *record) readIdentifier(in *reader) {
	has := in.b[in.i]
	in.i++
	var n linkage.Number
	n.From, n.Until = in.interval(has)
	n.System = binary.LittleEndian.Uint64(in.b[in.i:])
	in.i += 8
	n.Value = r.short(in)
	r.person.Identifiers = append(r.person.Identifiers, n)
}
