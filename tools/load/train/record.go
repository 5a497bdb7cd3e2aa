// Package train learns what agreement of two records is worth to one organization: from its own records, with or without
// knowing which of them are of one person. It looks at pairs of records, estimates (package estimate), holds the result
// against what is active on records that it was not learnt from, and reports with plots. It tells counts and levels of
// agreement, never a value of anybody's.
package train

import (
	"math"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// Record is what one record says, and, where that is known, whose it is: records of one person have the same Truth.
type Record struct {
	linkage.Demographics
	Truth string
}

// People are records in their normal forms, with how common their values are.
type People struct {
	Records []Record
	persons []linkage.Person
	common  *frequencies
	now     int64
	chosen  bool // by day of birth, of which nothing can be learnt then
}

// People parses a sample.
func (s Sample) People(now int64) *People {
	p := NewPeople(s.Records, s.Size, now)
	p.chosen = s.Chosen
	return p
}

// learnable tells whether the choice of the records leaves something to learn of a field.
func (p *People) learnable(field string) bool { return !p.chosen || field != "dob" }

// NewPeople parses records. Size is how many people the tenant has of whom these are some; 0: these are all. Now is in
// milliseconds since 1970.
func NewPeople(records []Record, size int, now int64) *People {
	p := &People{Records: records, persons: make([]linkage.Person, len(records)), now: now}
	parser, texts := linkage.NewParser(), map[rawText]*linkage.Text{}
	// A text that is known already is the same one again: comparisons of it are remembered by its number.
	text := func(kind linkage.Kind, raw string) *linkage.Text {
		key := rawText{kind, raw}
		if t, ok := texts[key]; ok {
			return t
		}
		t := parser.Parse(kind, raw)
		t.ID = uint32(len(texts) + 1) //nolint:gosec // there is no memory for so many texts
		texts[key] = t
		return t
	}
	for i := range records {
		p.persons[i] = parser.Person(&records[i].Demographics, text)
	}
	p.common = count(p.persons, max(size, len(records)), parser)
	return p
}

type rawText struct {
	kind linkage.Kind
	raw  string
}

// frequencies are those of a tenant, as far as some of its people tell.
type frequencies struct {
	parser  *linkage.Parser
	usual   linkage.Frequency // what a sample does not tell of a tenant's people, so many people of the Census do
	size    int               // of the tenant
	counted int               // of its people
	bearers map[rawText]int
	born    map[linkage.Date]int
}

var _ linkage.Frequencies = (*frequencies)(nil)

func count(persons []linkage.Person, size int, parser *linkage.Parser) *frequencies {
	f := &frequencies{parser: parser, usual: linkage.Default().Frequency, size: size, counted: len(persons), bearers: map[rawText]int{}, born: map[linkage.Date]int{}}
	for i := range persons {
		p := &persons[i]
		f.born[p.DOB]++
		f.count(linkage.Given, p.First)
		f.count(linkage.Family, p.Last)
		seen := map[string]bool{}
		for j := range p.Addresses {
			if postal := p.Addresses[j].Postal; postal != nil && !seen[postal.Whole] {
				seen[postal.Whole] = true
				f.bearers[rawText{linkage.Postal, postal.Whole}]++
			}
		}
	}
	return f
}

func (f *frequencies) count(kind linkage.Kind, t *linkage.Text) {
	if t == nil {
		return
	}
	seen := map[string]bool{}
	for i := range t.Parts {
		if part := t.Parts[i].Text; !seen[part] {
			seen[part] = true
			f.bearers[rawText{kind, part}]++
		}
	}
}

// People is linkage.Frequencies'.
func (f *frequencies) People() int { return f.size }

// Bearers is linkage.Frequencies'.
func (f *frequencies) Bearers(kind linkage.Kind, part string) int {
	if kind == linkage.Plain {
		kind = linkage.Postal
	}
	borne := f.bearers[rawText{kind, part}]
	if f.counted >= f.size {
		return borne
	}
	usual, people := 0.0, 0.0
	if kind == linkage.Given || kind == linkage.Family {
		usual, people = f.parser.Share(kind, part), float64(f.usual.Names)
	}
	return f.scaled(float64(borne), usual, people)
}

// Born is linkage.Frequencies'.
func (f *frequencies) Born(d linkage.Date) int {
	if f.counted >= f.size {
		return f.born[d]
	}
	return f.scaled(float64(f.born[d]), 1/f.usual.Days, float64(f.usual.Dates))
}

// scaled is how many of all of the tenant's people have what so many of those counted have.
func (f *frequencies) scaled(have, usual, pseudo float64) int {
	return int(math.Round(float64(f.size) * (have + pseudo*usual) / (float64(f.counted) + pseudo)))
}
