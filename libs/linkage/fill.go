package linkage

import "strings"

// Fill makes a person of demographics. Texts come from text, which may keep what it was asked before (and then must key by
// kind and raw); nil: Parse. The person's slices are written over, so that one person can serve for many records.
func (p *Parser) Fill(person *Person, d *Demographics, text func(kind Kind, raw string) *Text) {
	f := filler{text: text}
	if text == nil {
		f.text = p.Parse
	}
	*person = Person{
		First: f.some(Given, d.FirstName), Middle: f.some(Given, d.MiddleName), Last: f.some(Family, d.LastName),
		DOB: ParseDate(d.DOB), Sex: ParseSex(d.SexAtBirth), SSNLast4: parseSSN(d.SSNLast4),
		Aliases: person.Aliases[:0], Addresses: person.Addresses[:0], Phones: person.Phones[:0],
		Emails: person.Emails[:0], Identifiers: person.Identifiers[:0],
	}
	if blank(person.First, person.Last) {
		person.First, person.Last = f.text(Blank, d.FirstName), f.text(Blank, d.LastName)
	}
	person.Suffix = f.suffix(d.Suffix, person.Last, person.First, person.Middle)
	for i := range d.Addresses {
		f.address(person, &d.Addresses[i])
	}
	for i := range d.Contacts {
		f.contact(person, &d.Contacts[i])
	}
	for i := range d.Aliases {
		f.alias(person, &d.Aliases[i])
	}
	for i := range d.Identifiers {
		f.identifier(person, &d.Identifiers[i])
	}
}

// Person is Fill for a person of its own.
func (p *Parser) Person(d *Demographics, text func(kind Kind, raw string) *Text) Person {
	var person Person
	p.Fill(&person, d, text)
	return person
}

type filler struct {
	text func(kind Kind, raw string) *Text
}

// some is the text, nil when there is none.
func (f filler) some(kind Kind, raw string) *Text {
	if raw == "" || strings.TrimSpace(raw) == "" {
		return nil
	}
	return f.text(kind, raw)
}

// suffix is the one given, or the one at the end of a name.
func (f filler) suffix(raw string, names ...*Text) *Text {
	given := f.some(Generation, raw)
	if given != nil && !given.Missing {
		return given
	}
	for _, name := range names {
		if name != nil && name.Suffix != "" {
			return f.text(Generation, name.Suffix)
		}
	}
	return given
}

func (f filler) address(person *Person, a *Address) {
	house, street, unit := splitLine(a.Line1)
	place := Place{
		Line: f.some(Street, street), City: f.some(City, a.City), State: f.some(Region, a.State), Postal: f.some(Postal, a.PostalCode),
		House: house, Unit: unit,
	}
	if place != (Place{}) {
		person.Addresses = append(person.Addresses, place)
	}
}

func (f filler) contact(person *Person, c *Contact) {
	if c.System == "email" {
		if email := ParseEmail(c.Value); email != "" {
			person.Emails = append(person.Emails, email)
		}
	} else if phone := ParsePhone(c.E164, c.Value); phone != 0 {
		person.Phones = append(person.Phones, phone)
	}
}

func (f filler) identifier(person *Person, n *Identifier) {
	value := Fold(n.Value)
	if value == "" || nothing(value) || len(value) > 2 && strings.Trim(value, value[:1]) == "" {
		return
	}
	person.Identifiers = append(person.Identifiers, Number{System: system(n.Type, n.Authority), Value: value, From: n.From, Until: n.Until})
}

// system hashes what a number is of, folded, by FNV-1a: the same everywhere and at any time. Zero: nobody said. It is odd where
// a household may share the number.
func system(kind, authority string) uint64 {
	if kind == "" && authority == "" {
		return 0
	}
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	add := func(s string) {
		s = Fold(s)
		for i := 0; i < len(s); i++ {
			h = (h ^ uint64(s[i])) * prime
		}
		h = (h ^ 0xFF) * prime // a byte that no text has: the end
	}
	add(kind)
	add(authority)
	h &^= 1
	if household(Fold(kind)) {
		h |= 1
	}
	return h
}

// household tells the types of numbers that the members of a family or of a contract share, by HL7's table 0203 and as they are
// called.
func household(kind string) bool {
	switch kind {
	case "mb", "sn", "an", "member", "memberid", "membernumber", "subscriber", "subscriberid", "subscribernumber", "insurance", "insuranceid",
		"insurancenumber", "policy", "policynumber", "account", "accountnumber", "family", "household", "guarantor":
		return true
	}
	return false
}

// parseSSN is the last four digits; -1: none, or those that are typed for want of them.
func parseSSN(s string) int16 {
	if len(s) != 4 || s == "0000" || s == "9999" {
		return -1
	}
	return int16(number(s)) //nolint:gosec // four digits, or -1
}

// ParseSex reads a sex at birth as it is stored.
func ParseSex(s string) Sex {
	switch s {
	case "female":
		return Female
	case "male":
		return Male
	case "intersex":
		return Intersex
	case "other":
		return OtherSex
	}
	return SexUnknown
}
