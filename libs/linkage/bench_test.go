package linkage

import "testing"

func BenchmarkNewParser(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		NewParser()
	}
}

func BenchmarkParse(b *testing.B) {
	p := NewParser()
	for _, c := range []struct {
		name, raw string
		kind      Kind
	}{{"given", "Elizabeth", Given}, {"family", "Thompson-Smith", Family}, {"accents", "Müller", Family}, {"chinese", "王小明", Family}, {"street", "North Main Street", Street}, {"city", "Saint Paul", City}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Parse(c.kind, c.raw)
			}
		})
	}
}

type textKey struct {
	kind Kind
	raw  string
}

func BenchmarkFill(b *testing.B) {
	p := NewParser()
	known := map[textKey]*Text{}
	text := func(kind Kind, raw string) *Text {
		t, ok := known[textKey{kind, raw}]
		if !ok {
			t = p.Parse(kind, raw)
			known[textKey{kind, raw}] = t
		}
		return t
	}
	d := Demographics{
		FirstName: "Elizabeth", MiddleName: "Ann", LastName: "Thompson", DOB: "1970-03-04", SexAtBirth: "female", SSNLast4: "1234",
		Addresses: []Address{{Line1: "1234 North Main Street Apt 3", City: "Springfield", State: "IL", PostalCode: "62704", Country: "US"}},
		Contacts:  []Contact{{System: "phone", Value: "(217) 555-2368", E164: "+12175552368"}, {System: "email", Value: "liz.thompson@gmail.com"}},
	}
	var person Person
	b.ReportAllocs()
	for b.Loop() {
		p.Fill(&person, &d, text)
	}
}
