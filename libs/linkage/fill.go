package linkage

import "strings"

// Fill makes a person of demographics. Texts come from text, which may keep what it was asked before (and then must key by
// kind and raw); nil: Parse. The person's slices are written over.
func (p *Parser) Fill(person *Person, d *Demographics, text func(kind Kind, raw string) *Text) {
	if text == nil {
		text = p.Parse
	}
	some := func(kind Kind, raw string) *Text {
		if strings.TrimSpace(raw) == "" {
			return nil
		}
		return text(kind, raw)
	}
	*person = Person{
		First: some(Given, d.FirstName), Middle: some(Given, d.MiddleName), Last: some(Family, d.LastName),
		Suffix: some(Generation, d.Suffix), DOB: ParseDate(d.DOB), Sex: ParseSex(d.SexAtBirth), SSNLast4: -1,
		Aliases: person.Aliases[:0], Addresses: person.Addresses[:0], Phones: person.Phones[:0],
		Emails: person.Emails[:0], Identifiers: person.Identifiers[:0],
	}
	if len(d.SSNLast4) == 4 && d.SSNLast4 != "0000" && d.SSNLast4 != "9999" {
		person.SSNLast4 = int16(number(d.SSNLast4))
	}
	for i := range d.Addresses {
		a := &d.Addresses[i]
		person.Addresses = append(person.Addresses, Place{
			Line: some(Street, a.Line1), City: some(City, a.City), State: some(Region, a.State), Postal: some(Postal, a.PostalCode),
		})
	}
	for i := range d.Contacts {
		c := &d.Contacts[i]
		if c.System == "email" {
			person.Emails = append(person.Emails, Fold(c.Value))
		} else if phone := ParsePhone(c.E164, c.Value); phone != 0 {
			person.Phones = append(person.Phones, phone)
		}
	}
	for i := range d.Aliases {
		a := &d.Aliases[i]
		person.Aliases = append(person.Aliases, AliasName{First: some(Given, a.FirstName), Last: some(Family, a.LastName), From: a.From, Until: a.Until})
	}
	for i := range d.Identifiers {
		n := &d.Identifiers[i]
		person.Identifiers = append(person.Identifiers, Number{Value: Fold(n.Value), From: n.From, Until: n.Until})
	}
}

// Person is Fill for a person of its own.
func (p *Parser) Person(d *Demographics, text func(kind Kind, raw string) *Text) Person {
	var person Person
	p.Fill(&person, d, text)
	return person
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
