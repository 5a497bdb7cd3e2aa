package slip

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
)

// often lets a slip happen to a text many times and gives all that came of it.
func often(t *testing.T, slip Slip, text string) []string {
	t.Helper()
	var d dice.Dice
	d.Seed(1)
	var out []string
	for range 2000 {
		got, ok := slip(&d, text)
		switch {
		case ok != (got != text):
			t.Fatalf("%q became %q, and it says %v", text, got, ok)
		case ok && !slices.Contains(out, got):
			out = append(out, got)
		}
	}
	slices.Sort(out)
	return out
}

func TestTypingIsOneKey(t *testing.T) {
	letters := func(s string) string {
		r := []rune(strings.ToLower(s))
		slices.Sort(r)
		return string(r)
	}
	differing := func(a, b string) (at []int) {
		one, other := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
		for i := range one {
			if i < len(other) && one[i] != other[i] {
				at = append(at, i)
			}
		}
		return at
	}
	for name, c := range map[string]struct {
		slip Slip
		is   func(from, to string) bool
	}{
		"substitution": {Substitute, func(from, to string) bool {
			at := differing(from, to)
			if len([]rune(from)) != len([]rune(to)) || len(at) != 1 {
				return false
			}
			was, is := []rune(strings.ToLower(from))[at[0]], []rune(strings.ToLower(to))[at[0]]
			return strings.ContainsRune(neighbours(was), is) && unicode.IsUpper([]rune(from)[at[0]]) == unicode.IsUpper([]rune(to)[at[0]])
		}},
		"insertion": {Insert, func(from, to string) bool {
			return utf8.RuneCountInString(to) == utf8.RuneCountInString(from)+1 && anyWithout(to, from)
		}},
		"deletion": {Delete, func(from, to string) bool {
			return utf8.RuneCountInString(to) == utf8.RuneCountInString(from)-1 && anyWithout(from, to)
		}},
		"transposition": {Transpose, func(from, to string) bool {
			at := differing(from, to)
			return letters(from) == letters(to) && len(at) == 2 && at[1] == at[0]+1
		}},
	} {
		for _, text := range []string{"Smith", "O'Neil", "García López", "12 Main Street", "ana.lima@gmail.example", "Li", "Łukasz", "SMITH", "90210"} {
			got := often(t, c.slip, text)
			if len(got) == 0 {
				t.Errorf("%s never happened to %q", name, text)
			}
			for _, out := range got {
				if !c.is(text, out) {
					t.Errorf("%q to %q is no %s", text, out, name)
				}
				if strip(text) != strip(out) {
					t.Errorf("%s moved what is no letter: %q to %q", name, text, out)
				}
			}
		}
	}
}

// anyWithout tells whether dropping one letter of a text can give another, whatever the case.
func anyWithout(text, other string) bool {
	runes := []rune(text)
	for i := range runes {
		if strings.EqualFold(string(runes[:i])+string(runes[i+1:]), other) {
			return true
		}
	}
	return false
}

func strip(text string) string {
	return strings.Map(func(r rune) rune {
		if written(r) {
			return -1
		}
		return r
	}, text)
}

func TestTypingCannotHappenToNothing(t *testing.T) {
	var d dice.Dice
	d.Seed(1)
	for _, text := range []string{"", "-", "?!"} {
		if out, kind, ok := Typing(&d, text); ok {
			t.Errorf("%q became %q by %s", text, out, kind)
		}
	}
	if out := often(t, Delete, "J"); out != nil {
		t.Errorf("nothing is left of J: %q", out)
	}
	if out := often(t, Transpose, "Aa"); out != nil {
		t.Errorf("Aa the other way round is the same: %q", out)
	}
}

func TestTypingHasAllKinds(t *testing.T) {
	var d dice.Dice
	d.Seed(2)
	seen := map[string]int{}
	for range 10_000 {
		_, kind, _ := Typing(&d, "Katherine")
		seen[kind]++
	}
	for kind, share := range map[string]int{"substitution": 3500, "deletion": 2700, "insertion": 2300, "transposition": 1500} {
		if n := seen[kind]; n < share-200 || n > share+200 {
			t.Errorf("%s: %d of 10000, want about %d", kind, n, share)
		}
	}
}

func TestSlips(t *testing.T) {
	sounds, scans := Sounds(), Scans()
	dates := Dates{Latest: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)}
	for name, c := range map[string]struct {
		slip Slip
		text string
		want []string // all that can come of it; nil: it cannot happen
		some []string // some of what can come of it
	}{
		"a word by ear":                 {slip: sounds.Slip, text: "Philip", some: []string{"Filip", "Phillip", "Phylip"}},
		"a surname by ear":              {slip: sounds.Slip, text: "Jansson", some: []string{"Janssen", "Janson", "Jannsson"}},
		"capitals by ear":               {slip: sounds.Slip, text: "PHIL", some: []string{"FIL"}},
		"nothing by ear":                {slip: sounds.Slip, text: "Q"},
		"a word by a scanner":           {slip: scans.Slip, text: "Corner", some: []string{"Comer", "Gorner"}},
		"digits by a scanner":           {slip: scans.Slip, text: "10", want: []string{"1D", "1O", "70", "I0", "l0"}},
		"day and month":                 {slip: dates.DayMonth, text: "1980-02-11", want: []string{"1980-11-02"}},
		"day and month alike":           {slip: dates.DayMonth, text: "1980-02-02"},
		"no month of that number":       {slip: dates.DayMonth, text: "1980-02-13"},
		"off by one":                    {slip: dates.OffByOne, text: "1980-03-31", want: []string{"1979-03-31", "1980-03-30", "1980-04-01", "1981-03-31"}},
		"a digit of a date":             {slip: dates.Digit, text: "1978-05-15", some: []string{"1987-05-15", "1979-05-15", "1978-05-16", "1978-06-15"}},
		"any digit of a date":           {slip: dates.AnyDigit, text: "1978-05-15", some: []string{"1908-05-15", "1978-05-05", "1978-08-15"}},
		"a century back":                {slip: dates.Century, text: "2012-01-31", want: []string{"1912-01-31"}},
		"a century on":                  {slip: dates.Century, text: "1912-01-31", want: []string{"2012-01-31"}},
		"no century on":                 {slip: dates.Century, text: "1950-01-31"},
		"no leap day a century ago":     {slip: dates.Century, text: "2000-02-29"},
		"a placeholder":                 {slip: dates.Placeholder, text: "1978-05-15", want: []string{"1900-01-01", "1901-01-01", "1970-01-01", "1978-01-01", "2000-01-01"}},
		"no date":                       {slip: dates.DayMonth, text: ""},
		"accents":                       {slip: Accents, text: "Łucja Peña-Müller", want: []string{"Lucja Pena-Muller"}},
		"no accents":                    {slip: Accents, text: "Pena"},
		"a hyphen":                      {slip: Hyphen, text: "Smith-Jones", want: []string{"Jones", "Smith", "Smith Jones", "Smithjones"}},
		"no hyphen":                     {slip: Hyphen, text: "Smith"},
		"an apostrophe":                 {slip: Apostrophe, text: "O'Neil", want: []string{"O Neil", "ONeil"}},
		"a space":                       {slip: Space, text: "De Leon", want: []string{"De", "De-Leon", "Deleon", "Leon"}},
		"a prefix":                      {slip: Split, text: "McDonald", want: []string{"Mc Donald"}},
		"another prefix":                {slip: Split, text: "Vandyke", want: []string{"Van Dyke"}},
		"too short for a prefix":        {slip: Split, text: "Dean"},
		"no prefix":                     {slip: Split, text: "Smith"},
		"capitals":                      {slip: Upper, text: "Peña", want: []string{"PEÑA"}},
		"small letters":                 {slip: Lower, text: "McDonald", want: []string{"mcdonald"}},
		"words of an address":           {slip: Words, text: "12 North Pine Street", want: []string{"12 N Pine St"}},
		"a street that is called North": {slip: Words, text: "12 North Street", want: []string{"12 North St"}},
		"words that are not shortened":  {slip: Words, text: "12 Broadway"},
		"a home":                        {slip: Words, text: "Apartment 5", want: []string{"Apt 5"}},
		"ZIP without four":              {slip: PlusFour, text: "90210-1234", want: []string{"90210"}},
		"no ZIP":                        {slip: PlusFour, text: "9021"},
		"a house number":                {slip: HouseNumber, text: "12 Main Street", want: []string{"11 Main Street", "13 Main Street", "21 Main Street", "22 Main Street"}},
		"no house number":               {slip: HouseNumber, text: "PO Box 12"},
		"another notation":              {slip: Notation, text: "(312) 555-0123", want: []string{"+13125550123", "1-312-555-0123", "312-555-0123", "312.555.0123", "3125550123"}},
		"no American number":            {slip: Notation, text: "555-0123"},
		"digits":                        {slip: Digits, text: "12", want: []string{"11", "13", "21", "22"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := often(t, c.slip, c.text)
			if c.want == nil && c.some == nil && len(got) > 0 || len(c.want) > 0 && !slices.Equal(got, c.want) {
				t.Errorf("%q became %q, want %q", c.text, got, c.want)
			}
			for _, some := range c.some {
				if !slices.Contains(got, some) {
					t.Errorf("%q never became %q, but %q", c.text, some, got)
				}
			}
		})
	}
}

func TestPlusFour(t *testing.T) {
	for _, out := range often(t, PlusFour, "90210") {
		if len(out) != 10 || !strings.HasPrefix(out, "90210-") || strings.Trim(out[6:], "0123456789") != "" {
			t.Fatalf("%q is no ZIP+4", out)
		}
	}
}

func TestDatesStayDates(t *testing.T) {
	latest := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	ds := Dates{Latest: latest}
	for name, slip := range map[string]Slip{
		"DayMonth": ds.DayMonth, "OffByOne": ds.OffByOne, "Digit": ds.Digit, "AnyDigit": ds.AnyDigit, "Century": ds.Century, "Placeholder": ds.Placeholder,
	} {
		for _, text := range []string{"1900-01-01", "2024-12-31", "2000-02-29", "1999-10-10", "1931-01-30", "2001-02-03"} {
			for _, out := range often(t, slip, text) {
				if day, ok := ds.parse(out); !ok || day.Year() < 1900 || day.After(latest) {
					t.Errorf("%s made %s of %s", name, out, text)
				}
			}
		}
		if got := often(t, slip, "someday"); got != nil {
			t.Errorf("%s made %q of no date", name, got)
		}
	}
}
