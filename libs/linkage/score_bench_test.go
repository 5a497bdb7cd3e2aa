package linkage_test

import (
	"fmt"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// crowd are people as a tenant has them, whose texts carry numbers.
func crowd(n int) []linkage.Person {
	p := linkage.NewParser()
	texts := map[string]*linkage.Text{}
	intern := func(kind linkage.Kind, raw string) *linkage.Text {
		key := fmt.Sprint(kind, raw)
		if t, ok := texts[key]; ok {
			return t
		}
		t := *p.Parse(kind, raw)
		t.ID = uint32(len(texts) + 1)
		texts[key] = &t
		return &t
	}
	firsts := []string{"Mary", "Marie", "Maria", "John", "Jon", "Jonathan", "Robert", "Bob", "Elizabeth", "Beth", "Katherine", "Zbigniew", "Mary Ann"}
	lasts := []string{"Smith", "Smyth", "Schmidt", "Johnson", "Jonson", "Johnston", "Garcia Lopez", "Lopez", "O'Brien", "Kowalczyk", "Nguyen"}
	out := make([]linkage.Person, n)
	for i := range out {
		d := linkage.Demographics{
			ID: int64(i + 1), FirstName: firsts[i%len(firsts)], LastName: lasts[i/3%len(lasts)], MiddleName: "Q",
			DOB: fmt.Sprintf("19%02d-%02d-%02d", 20+i%80, 1+i%12, 1+i%28), SexAtBirth: []string{"female", "male"}[i%2], SSNLast4: fmt.Sprintf("%04d", i%9000+1),
			Addresses: []linkage.Address{{Line1: fmt.Sprint(i%900, " Main Street"), City: "Springfield", State: "IL", PostalCode: fmt.Sprint(62701 + i%40)}},
			Contacts:  []linkage.Contact{{System: "phone", Value: fmt.Sprint("217555", 1000+i%9000)}, {System: "email", Value: fmt.Sprintf("p%d@mail.example", i)}},
		}
		out[i] = p.Person(&d, intern)
	}
	return out
}

func BenchmarkScoreRemembered(b *testing.B) {
	people := crowd(500)
	q := linkage.Default().Ask(&people[7], nil, 0)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		q.Score(&people[i%len(people)])
	}
}

func BenchmarkScoreAfresh(b *testing.B) {
	people := crowd(500)
	for i := range people { // texts of nobody are not remembered
		for _, t := range []**linkage.Text{&people[i].First, &people[i].Last, &people[i].Middle, &people[i].Addresses[0].Line, &people[i].Addresses[0].City} {
			if *t != nil {
				unknown := **t
				unknown.ID = 0
				*t = &unknown
			}
		}
	}
	q := linkage.Default().Ask(&people[7], nil, 0)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		q.Score(&people[i%len(people)])
	}
}

func BenchmarkAsk(b *testing.B) {
	people := crowd(10)
	m := linkage.Default()
	b.ReportAllocs()
	for b.Loop() {
		m.Ask(&people[7], nil, 0)
	}
}
