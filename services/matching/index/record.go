package index

import (
	"encoding/binary"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// record is what the index keeps of a patient. It is read into one that is used again and again.
type record struct {
	id       int64
	person   linkage.Person
	born     linkage.Date // as given; person.DOB, or a day that stands for none
	ssn      int          // as given; -1: none
	deceased bool
	others   []other
	middles  []string // of each address: what the fold of its first line has between street and unit
	aheads   []uint64 // of each telephone: what its international form has ahead of what is compared; 0: it has no such form
	profile  uint32   // number of the text of the fields that are only shown
	digits   []byte   // what texts made of digits lie in
}

// other is a number or an address that says nothing of a person, as 555-1212 or none@none.com, or says it in another way than
// it is compared: exact matching alone knows it.
type other struct {
	rule        rule
	value       string // folded
	instead     int    // of which of the person's e-mail addresses, from 1; 0: of none
	from, until int64
}

// texts gives a text by its number.
type texts interface {
	text(number uint32) *linkage.Text
}

// What follows in a record's bytes, and short facts.
const (
	hasFirst = 1 << iota
	hasMiddle
	hasLast
	hasSuffix
	hasBirth
	birthCounts // and it is person.DOB
	hasSSN
	ssnCounts // and it is person.SSNLast4
	hasAliases
	hasAddresses
	hasPhones
	hasEmails
	hasIdentifiers
	hasOthers
	isDeceased
	sexShift = 16 // three bits
)

// learn completes a record whose person was made of demographics.
func (r *record) learn(d *linkage.Demographics) {
	p := &r.person
	r.id, r.deceased, r.ssn, r.born, r.others, r.middles = d.ID, d.Deceased, -1, givenDay(d.DOB), r.others[:0], r.middles[:0]
	r.aheads = r.aheads[:0]
	if len(d.SSNLast4) == 4 && onlyDigits(d.SSNLast4) {
		r.ssn = int(digits(d.SSNLast4)) //nolint:gosec // four digits
	}
	for i := range p.Addresses {
		middle := ""
		if len(p.Addresses) == len(d.Addresses) {
			middle = middleOf(linkage.Fold(d.Addresses[i].Line1), &p.Addresses[i])
		}
		r.middles = append(r.middles, middle)
	}
	r.learnOthers(d)
}

// write appends a record's bytes. The numbers of its texts come from a function.
func (r *record) write(b []byte, number func(*linkage.Text) uint32) []byte {
	p, flags := &r.person, r.flags()
	b = binary.AppendUvarint(b, uint64(r.id))                   //nolint:gosec // positive
	b = append(b, byte(flags), byte(flags>>8), byte(flags>>16)) //nolint:gosec // 19 bits
	b = binary.AppendUvarint(b, uint64(r.profile))
	for _, t := range [...]*linkage.Text{p.First, p.Last, p.Middle, p.Suffix} {
		if t != nil {
			b = binary.AppendUvarint(b, uint64(number(t)))
		}
	}
	if r.born != 0 {
		b = binary.AppendUvarint(b, packDay(r.born))
	}
	if r.ssn >= 0 {
		b = binary.AppendUvarint(b, uint64(r.ssn))
	}
	return r.writeChildren(b, number)
}

func (r *record) flags() int {
	p := &r.person
	flags := int(p.Sex) << sexShift
	for _, f := range [...]struct {
		when bool
		flag int
	}{
		{p.First != nil, hasFirst},
		{p.Last != nil, hasLast},
		{p.Middle != nil, hasMiddle},
		{p.Suffix != nil, hasSuffix},
		{r.born != 0, hasBirth},
		{p.DOB != 0, birthCounts},
		{r.ssn >= 0, hasSSN},
		{p.SSNLast4 >= 0, ssnCounts},
		{len(p.Aliases) > 0, hasAliases},
		{len(p.Addresses) > 0, hasAddresses},
		{len(p.Phones) > 0, hasPhones},
		{len(p.Emails) > 0, hasEmails},
		{len(p.Identifiers) > 0, hasIdentifiers},
		{len(r.others) > 0, hasOthers},
		{r.deceased, isDeceased},
	} {
		if f.when {
			flags |= f.flag
		}
	}
	return flags
}

// profileOf are the fields that are only shown, as one text: few people differ in them from all others.
func profileOf(d *linkage.Demographics) string {
	odd := ""
	if givenDay(d.DOB) == 0 {
		odd = d.DOB
	}
	return strings.Join([]string{
		d.SexAtBirth, d.Gender, d.Race, d.Ethnicity, d.GenderIdentity, d.PreferredLanguage, d.Prefix, d.Suffix, odd,
	}, "\x00")
}

// profileSuffix is how many fields stand before the suffix in a profile.
const profileSuffix = 7

// show fills in the demographics of a record but for its children.
func (r *record) show(profile string, d *linkage.Demographics) {
	*d = linkage.Demographics{ID: r.id, Deceased: r.deceased}
	for _, name := range [...]struct {
		to   *string
		from *linkage.Text
	}{{&d.FirstName, r.person.First}, {&d.MiddleName, r.person.Middle}, {&d.LastName, r.person.Last}} {
		if name.from != nil {
			*name.to = strings.Clone(name.from.Raw)
		}
	}
	profile = strings.Clone(profile)
	for _, to := range [...]*string{
		&d.SexAtBirth, &d.Gender, &d.Race, &d.Ethnicity, &d.GenderIdentity, &d.PreferredLanguage, &d.Prefix, &d.Suffix, &d.DOB,
	} {
		*to, profile, _ = strings.Cut(profile, "\x00")
	}
	if r.born != 0 {
		d.DOB = showDay(r.born)
	}
	if r.ssn >= 0 {
		d.SSNLast4 = string(padded(nil, uint64(r.ssn), 4))
	}
}

// read reads a record's bytes. Its strings and texts are views.
func (r *record) read(b []byte, from texts) {
	in := reader{b: b}
	p := &r.person
	r.digits = r.digits[:0]
	r.id = int64(in.uvarint()) //nolint:gosec // as it was written
	flags := in.flags()
	r.profile = in.number()
	r.deceased = flags&isDeceased != 0
	p.Sex = linkage.Sex(flags >> sexShift) //nolint:gosec // three bits
	p.First, p.Last, p.Middle, p.Suffix = nil, nil, nil, nil
	if flags&hasFirst != 0 {
		p.First = from.text(in.number())
	}
	if flags&hasLast != 0 {
		p.Last = from.text(in.number())
	}
	if flags&hasMiddle != 0 {
		p.Middle = from.text(in.number())
	}
	if flags&hasSuffix != 0 {
		p.Suffix = from.text(in.number())
	}
	r.born, p.DOB, r.ssn, p.SSNLast4 = 0, 0, -1, -1
	if flags&hasBirth != 0 {
		if r.born = unpackDay(in.uvarint()); flags&birthCounts != 0 {
			p.DOB = r.born
		}
	}
	if flags&hasSSN != 0 {
		if r.ssn = int(in.number()); flags&ssnCounts != 0 {
			p.SSNLast4 = int16(r.ssn) //nolint:gosec // four digits
		}
	}
	r.readChildren(&in, flags, from)
}
