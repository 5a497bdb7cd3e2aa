package linkage

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// partsOf are the parts of a text, joined by spaces.
func partsOf(x *Text) string {
	var out []string
	for _, part := range x.Parts {
		out = append(out, part.Text)
	}
	return strings.Join(out, " ")
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind                      Kind
		raw, parts, whole, suffix string
	}{
		{Family, "O'Brien", "obrien", "obrien", ""},
		{Family, "O Brien", "obrien", "obrien", ""},
		{Family, "Mc Donald", "mcdonald", "mcdonald", ""},
		{Family, "McDonald", "mcdonald", "mcdonald", ""},
		{Family, "St. John", "stjohn", "stjohn", ""},
		{Family, "de la Cruz", "cruz", "delacruz", ""},
		{Family, "Delacruz", "delacruz", "delacruz", ""},
		{Family, "van den Berg", "berg", "vandenberg", ""},
		{Family, "al-Rashid", "rashid", "alrashid", ""},
		{Family, "Do-Nguyen", "do nguyen", "donguyen", ""},
		{Family, "Do", "do", "do", ""},
		{Family, "Nguyen Do", "nguyen do", "nguyendo", ""},
		{Family, "Smith-Jones", "smith jones", "smithjones", ""},
		{Family, "García Márquez", "garcia marquez", "garciamarquez", ""},
		{Family, "Smith Jr.", "smith", "smith", "jr"},
		{Family, "Smith, III", "smith", "smith", "3"},
		{Family, "Smith II MD", "smith", "smith", "2"},
		{Family, "Junior", "junior", "junior", ""},
		{Family, "V", "v", "v", ""},
		{Family, "Müller-Lüdenscheidt", "muller ludenscheidt", "mullerludenscheidt", ""},
		{Family, "王小明", "wangxiaoming", "wangxiaoming", ""},
		{Family, "Иванов", "ivanov", "ivanov", ""},
		{Family, "Παπαδόπουλος", "papadopoulos", "papadopoulos", ""},
		{Family, "😀😀", "😀😀", "😀😀", ""},
		{Given, "Mary Ann", "mary ann", "maryann", ""},
		{Given, "Jean-Luc", "jean luc", "jeanluc", ""},
		{Given, "Dr. John", "john", "john", ""},
		{Given, "Mrs", "mrs", "mrs", ""},
		{Given, "John Jr", "john", "john", "jr"},
		{Given, "María de los Ángeles", "maria angeles", "mariadelosangeles", ""},
		{Given, "Al", "al", "al", ""},
		{Given, "Van Tuan", "van tuan", "vantuan", ""},
		{Given, "J", "j", "j", ""},
		{Given, "J.R.", "j r", "jr", ""},
		{Generation, "Jr.", "jr", "jr", ""},
		{Generation, "Junior", "jr", "jr", ""},
		{Generation, "II", "2", "2", ""},
		{Generation, "3rd", "3", "3", ""},
		{Generation, "MD", "", "", ""},
		{Region, "California", "ca", "ca", ""},
		{Region, "CA", "ca", "ca", ""},
		{Region, "New South Wales", "nsw", "nsw", ""},
		{Region, "Bavaria", "bavaria", "bavaria", ""},
		{City, "St. Paul", "saint paul", "saintpaul", ""},
		{City, "Saint Paul", "saint paul", "saintpaul", ""},
		{City, "Ft Worth", "fort worth", "fortworth", ""},
		{Postal, "62704-1234", "62704", "62704", ""},
		{Postal, "627041234", "62704", "62704", ""},
		{Postal, "SW1A 1AA", "sw1a1aa", "sw1a1aa", ""},
		{Postal, "D-80331", "80331", "80331", ""},
		{Plain, "Main  Office", "main office", "mainoffice", ""},
	} {
		x := Parse(c.kind, c.raw)
		if partsOf(x) != c.parts || x.Whole != c.whole || x.Suffix != c.suffix {
			t.Errorf("Parse(%d, %q): parts %q, whole %q, suffix %q; want %q, %q, %q", c.kind, c.raw, partsOf(x), x.Whole, x.Suffix, c.parts, c.whole, c.suffix)
		}
	}
}

// ö is o where there is no such letter, and oe where there was no such key.
func TestOtherSpellings(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]Part{
		"Müller": {Text: "muller", Alt: "mueller"}, "Mu\u0308ller": {Text: "muller", Alt: "mueller"}, "Mueller": {Text: "mueller"}, "Søren": {Text: "soren", Alt: "soeren"},
		"Åberg": {Text: "aberg", Alt: "aaberg"}, "Strauß": {Text: "strauss"}, "José": {Text: "jose"},
	} {
		if got := Parse(Plain, raw).Parts[0]; got.Text != want.Text || got.Alt != want.Alt {
			t.Errorf("%q: %q or %q, want %q or %q", raw, got.Text, got.Alt, want.Text, want.Alt)
		}
	}
}

// A suffix or title does not change what exact matching compares.
func TestFoldIsOfTheWholeText(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{"Smith Jr.": "smithjr", "Unknown": "unknown", "de la Cruz": "delacruz", "Dr. John": "drjohn", "Baby Boy": "babyboy"} {
		if x := Parse(Family, raw); x.Fold != want || x.Raw != raw {
			t.Errorf("%q: fold %q, raw %q", raw, x.Fold, x.Raw)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", " ", "a", "Smith", "Dr. O'Brien-Smith Jr", "王小明", "محمد بن سلمان", "नरेन्द्र", "ひらがな", "한국어", "\xff\xfe", "a\u0301\u0302", "'", "''a", "a'", "--", "Baby Boy A",
		strings.Repeat("😀", 200), strings.Repeat("ab ", 66), strings.Repeat("x", 200), strings.Repeat("é", 200), "123 Main St #", "#", "3/", "/3", "1/2 1/2", "PO Box", "Flat 1 2", "ß", "\u200f",
	} {
		f.Add(s)
	}
	p := NewParser()
	f.Fuzz(func(t *testing.T, s string) {
		for kind := Given; kind <= Generation; kind++ {
			x := p.Parse(kind, s)
			check(t, kind, s, x)
			if again := p.Parse(kind, s); again.Whole != x.Whole || again.Fold != x.Fold || len(again.Parts) != len(x.Parts) {
				t.Fatalf("kind %d: %q is parsed in two ways", kind, s)
			}
		}
		p.Person(&Demographics{
			FirstName: s, LastName: s, MiddleName: s, Suffix: s, DOB: s, SexAtBirth: s, SSNLast4: s,
			Addresses: []Address{{Line1: s, City: s, State: s, PostalCode: s}}, Contacts: []Contact{{System: "phone", Value: s, E164: s}, {System: "email", Value: s}},
			Aliases: []Alias{{Alias: s, FullName: s}}, Identifiers: []Identifier{{Type: s, Authority: s, Value: s}},
		}, nil)
	})
}

func check(t *testing.T, kind Kind, raw string, x *Text) {
	t.Helper()
	if x.Missing != (len(x.Parts) == 0) || x.Missing != (x.Whole == "") {
		t.Fatalf("kind %d, %q: missing %t with %d parts and whole %q", kind, raw, x.Missing, len(x.Parts), x.Whole)
	}
	if len(x.Parts) > MaxParts || len(x.Whole) > MaxWhole {
		t.Fatalf("kind %d, %q: %d parts, whole of %d bytes", kind, raw, len(x.Parts), len(x.Whole))
	}
	for _, part := range x.Parts {
		if part.Text == "" || len(part.Text) > MaxPart || len(part.Alt) > MaxPart || part.Alt == part.Text {
			t.Fatalf("kind %d, %q: part %+v", kind, raw, part)
		}
		if utf8.ValidString(raw) && !utf8.ValidString(part.Text) {
			t.Fatalf("kind %d, %q: part %q is no UTF-8", kind, raw, part.Text)
		}
	}
}
