package index

import (
	"encoding/binary"
	"strings"
	"unsafe"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// record is what the index keeps of a patient. It is read into one that is used again and again.
type record struct {
	id       int64
	person   linkage.Person
	born     string // YYYY-MM-DD, empty when person.DOB says it
	ssn      int    // as given, -1: none
	profile  uint32 // number of the text of the fields that are shown and not compared
	deceased bool
	middles  []string // of each address: what the fold of its first line has between street and unit
	bytes    []byte   // what strings made of digits lie in
	texts    texts
}

// texts gives the texts of a record by their numbers.
type texts interface{ text(number uint32) *linkage.Text }

// What follows in a record's bytes, and short facts.
const (
	hasFirst = 1 << iota
	hasMiddle
	hasLast
	hasSuffix
	hasBirth  // person.DOB
	hasSSN    // as given
	ssnCounts // and it is person.SSNLast4
	hasAliases
	hasAddresses
	hasPhones
	hasEmails
	hasIdentifiers
	isDeceased
	sexShift = 13 // three bits
)

// write appends a record's bytes. Texts are the numbers of the person's, by a function that counts one more bearer.
func write(b []byte, d *linkage.Demographics, p *linkage.Person, number func(*linkage.Text) uint32, profile uint32) []byte {
	flags := flagsOf(d, p)
	b = binary.AppendUvarint(b, uint64(d.ID)) //nolint:gosec // positive
	b = append(b, byte(flags), byte(flags>>8))
	b = binary.AppendUvarint(b, uint64(profile))
	for _, t := range [...]*linkage.Text{p.First, p.Last, p.Middle, p.Suffix} {
		if t != nil {
			b = binary.AppendUvarint(b, uint64(number(t)))
		}
	}
	if p.DOB != 0 {
		b = binary.AppendUvarint(b, packDay(p.DOB))
	}
	if flags&hasSSN != 0 {
		b = binary.AppendUvarint(b, digits(d.SSNLast4))
	}
	if flags&hasAddresses != 0 {
		b = writePlaces(b, d, p, number)
	}
	if flags&hasPhones != 0 {
		b = binary.AppendUvarint(b, uint64(len(p.Phones)))
		for _, n := range p.Phones {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	if flags&hasEmails != 0 {
		b = binary.AppendUvarint(b, uint64(len(p.Emails)))
		for _, s := range p.Emails {
			b = short(b, s)
		}
	}
	if flags&hasAliases != 0 {
		b = writeAliases(b, p, number)
	}
	if flags&hasIdentifiers != 0 {
		b = writeIdentifiers(b, p)
	}
	return b
}

func flagsOf(d *linkage.Demographics, p *linkage.Person) uint16 {
	flags := uint16(p.Sex) << sexShift
	for _, f := range [...]struct {
		when bool
		flag uint16
	}{
		{p.First != nil, hasFirst},
		{p.Last != nil, hasLast},
		{p.Middle != nil, hasMiddle},
		{p.Suffix != nil, hasSuffix},
		{p.DOB != 0, hasBirth},
		{len(d.SSNLast4) == 4, hasSSN},
		{p.SSNLast4 >= 0, ssnCounts},
		{len(p.Aliases) > 0, hasAliases},
		{len(p.Addresses) > 0, hasAddresses},
		{len(p.Phones) > 0, hasPhones},
		{len(p.Emails) > 0, hasEmails},
		{len(p.Identifiers) > 0, hasIdentifiers},
		{d.Deceased, isDeceased},
	} {
		if f.when {
			flags |= f.flag
		}
	}
	return flags
}

// profileOf are the fields that are shown and not compared, as one text: few people differ in them from all others. The day
// of birth is among them when it is no day that can be compared.
func profileOf(d *linkage.Demographics, p *linkage.Person) string {
	born := ""
	if p.DOB == 0 {
		born = d.DOB
	}
	return strings.Join([]string{
		d.SexAtBirth, d.Gender, d.Race, d.Ethnicity, d.GenderIdentity, d.PreferredLanguage, d.Prefix, d.Suffix, born,
	}, "\x00")
}

// show fills in the demographics of a record but for its children. Strings are views.
func (r *record) show(profile string, d *linkage.Demographics) {
	*d = linkage.Demographics{ID: r.id, Deceased: r.deceased}
	p := &r.person
	for _, name := range [...]struct {
		to   *string
		from *linkage.Text
	}{{&d.FirstName, p.First}, {&d.MiddleName, p.Middle}, {&d.LastName, p.Last}} {
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
	if p.DOB != 0 {
		d.DOB = showDay(p.DOB)
	}
	if r.ssn >= 0 {
		d.SSNLast4 = string(padded(nil, uint64(r.ssn), 4)) //nolint:gosec // not negative
	}
}

// read reads a record's bytes.
func (r *record) read(b []byte) {
	in := reader{b: b}
	p := &r.person
	r.bytes = r.bytes[:0]
	r.id = int64(in.uvarint()) //nolint:gosec // as it was written
	flags := uint16(b[in.i]) | uint16(b[in.i+1])<<8
	in.i += 2
	r.profile = in.number()
	r.deceased = flags&isDeceased != 0
	p.Sex = linkage.Sex(flags >> sexShift)
	p.First, p.Last, p.Middle, p.Suffix = nil, nil, nil, nil
	if flags&hasFirst != 0 {
		p.First = r.texts.text(in.number())
	}
	if flags&hasLast != 0 {
		p.Last = r.texts.text(in.number())
	}
	if flags&hasMiddle != 0 {
		p.Middle = r.texts.text(in.number())
	}
	if flags&hasSuffix != 0 {
		p.Suffix = r.texts.text(in.number())
	}
	p.DOB, r.ssn, p.SSNLast4 = 0, -1, -1
	if flags&hasBirth != 0 {
		p.DOB = unpackDay(in.uvarint())
	}
	if flags&hasSSN != 0 {
		if r.ssn = int(in.number()); flags&ssnCounts != 0 {
			p.SSNLast4 = int16(r.ssn) //nolint:gosec // four digits
		}
	}
	r.children(&in, flags)
}

func (r *record) children(in *reader, flags uint16) {
	p := &r.person
	p.Addresses, p.Phones, p.Emails, p.Aliases, p.Identifiers = p.Addresses[:0], p.Phones[:0], p.Emails[:0], p.Aliases[:0], p.Identifiers[:0]
	r.middles = r.middles[:0]
	if flags&hasAddresses != 0 {
		for range in.uvarint() {
			r.place(in)
		}
	}
	if flags&hasPhones != 0 {
		for range in.uvarint() {
			p.Phones = append(p.Phones, linkage.Phone(in.uvarint()))
		}
	}
	if flags&hasEmails != 0 {
		for range in.uvarint() {
			p.Emails = append(p.Emails, r.short(in))
		}
	}
	if flags&hasAliases != 0 {
		for range in.uvarint() {
			r.alias(in)
		}
	}
	if flags&hasIdentifiers != 0 {
		for range in.uvarint() {
			r.identifier(in)
		}
	}
}

// packDay counts days with 31 in each month: below 2^21 for every year, so three bytes.
func packDay(d linkage.Date) uint64 {
	return uint64(int(d)/10000*372 + (d.Month()-1)*31 + d.Day() - 1) //nolint:gosec // not negative
}

func unpackDay(n uint64) linkage.Date {
	return linkage.Date(n/372*10000 + (n%372/31+1)*100 + n%31 + 1) //nolint:gosec // a day
}

func showDay(d linkage.Date) string {
	b := make([]byte, 0, 10)
	b = padded(b, uint64(d/10000), 4) //nolint:gosec // not negative
	b = padded(append(b, '-'), uint64(d.Month()), 2) //nolint:gosec // not negative
	b = padded(append(b, '-'), uint64(d.Day()), 2) //nolint:gosec // not negative
	return string(b)
}

// padded appends a number in that many digits.
func padded(b []byte, n uint64, width int) []byte {
	at := len(b)
	for range width {
		b = append(b, '0')
	}
	for i := at + width - 1; i >= at; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
	return b
}

// digits is the number that a text of digits is.
func digits(s string) uint64 {
	n := uint64(0)
	for i := 0; i < len(s); i++ {
		n = n*10 + uint64(s[i]-'0')
	}
	return n
}

func onlyDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// short appends a short text: one of digits alone as their number and how many there are.
func short(b []byte, s string) []byte {
	if n := len(s); n > 0 && n <= 18 && onlyDigits(s) {
		return binary.AppendUvarint(binary.AppendUvarint(b, uint64(n)<<1|1), digits(s)) //nolint:gosec // not negative
	}
	return append(binary.AppendUvarint(b, uint64(len(s))<<1), s...)
}

// short reads what short wrote: a view of the bytes, or digits written into the record's own.
func (r *record) short(in *reader) string {
	n := in.uvarint()
	if n&1 == 0 {
		in.i += int(n >> 1) //nolint:gosec // as it was written
		return view(in.b[in.i-int(n>>1) : in.i]) //nolint:gosec // as it was written
	}
	if at := len(r.bytes); at+int(n>>1) <= cap(r.bytes) { //nolint:gosec // at most 18
		r.bytes = padded(r.bytes, in.uvarint(), int(n>>1)) //nolint:gosec // at most 18
		return view(r.bytes[at:])
	}
	return string(padded(nil, in.uvarint(), int(n>>1))) //nolint:gosec // at most 18
}

func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) } //nolint:gosec // entries of an arena do not change

type reader struct {
	b []byte
	i int
}

func (r *reader) uvarint() uint64 {
	if c := r.b[r.i]; c < 0x80 {
		r.i++
		return uint64(c)
	}
	v, n := binary.Uvarint(r.b[r.i:])
	r.i += n
	return v
}

func (r *reader) number() uint32 { return uint32(r.uvarint()) } //nolint:gosec // as it was written
