package linkage_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// values are what drawn records say: few, so that they agree often, and some of them slips of others.
func values() map[string][]string {
	return map[string][]string{
		"first":  {"Kimberly", "Kimberley", "Kim", "Kimbrly", "Mary Ann", "Maryann", "Ann", "Jo", "Zoltan", "K", "Baby Girl", "Li"},
		"middle": {"Ann", "A", "Anne", "Beth", "Kimberly"},
		"last":   {"Hathaway", "Hathawya", "Hathaway-Jones", "Jones", "de la Cruz", "Cruz", "Smith", "Smyth", "Kim", "Ng", "Unknown"},
		"suffix": {"Jr", "Sr", "II"},
		"dob":    {"1972-03-09", "1972-09-03", "1972-03-08", "1973-03-09", "1972-01-01", "1985-01-01", "1951-11-27", "1972-11-27"},
		"sex":    {"female", "male", "intersex", "unknown"},
		"ssn":    {"4711", "4171", "8093"},
		"line1":  {"12 Elm Street", "12 Elm St", "99 Elm Street", "12 Elmwood Street", "PO Box 7"},
		"city":   {"Salem", "Slaem", "Portland"},
		"state":  {"OR", "Oregon", "ID"},
		"zip":    {"97301", "97302", "83702", "97301-1234"},
		"phone":  {"503-555-0142", "971-555-0142", "503-555-0124", "208-555-7788"},
		"email":  {"kh72@mail.example", "kh27@mail.example", "kh72@post.example"},
		"chart":  {"A4471102", "A4471103", "A4417102", "B9930518"},
		"member": {"W123456701", "W123456702"},
	}
}

// record draws a record that may lack anything.
func record(t *rapid.T, name string) fields {
	out := fields{}
	all := values()
	for _, field := range slices.Sorted(maps.Keys(all)) {
		if rapid.IntRange(0, 3).Draw(t, name+" has "+field) > 0 {
			out[field] = rapid.SampledFrom(all[field]).Draw(t, name+" "+field)
		}
	}
	return out
}

// A pair is drawn around one record, so that it agrees more often than not.
func pairOf(t *rapid.T) (a, b fields) {
	a = record(t, "a")
	b = maps.Clone(a)
	other := record(t, "b")
	for _, field := range slices.Sorted(maps.Keys(other)) {
		if rapid.Bool().Draw(t, "other "+field) {
			b[field] = other[field]
		}
	}
	return a, b
}

func frequencies(t *rapid.T) linkage.Frequencies {
	return rapid.SampledFrom([]linkage.Frequencies{nil, town{people: 1}, town{people: 500}, city(), town{
		people: 40_000, given: map[string]int{"kimberly": 900, "kimbrly": 1}, family: map[string]int{"smith": 500, "hathawya": 0},
		born: map[linkage.Date]int{19720101: 4000}, postal: map[string]int{"97301": 8000, "97302": 8000, "83702": 8000},
	}}).Draw(t, "frequencies")
}

// Score is what Explain gives, and the reasons sum to it exactly.
func TestEvidenceSumsToTheBits(t *testing.T) {
	t.Parallel()
	model := linkage.Default()
	rapid.Check(t, func(t *rapid.T) {
		a, b := pairOf(t)
		x, y := made(a), made(b)
		q := model.Ask(&x, frequencies(t), 0)
		score := q.Score(&y)
		if rapid.Bool().Draw(t, "settled") {
			all := []float64{score, 30, 30, 25}
			q.Settle(all)
			score = all[0]
		}
		evidence, bits, _ := q.Explain(&y)
		sum := 0.0
		for _, e := range evidence {
			sum += e.Weight
		}
		if math.Abs(sum-bits) > 1e-9 || math.Abs(score-bits) > 1e-9 || math.IsNaN(bits) || math.IsInf(bits, 0) {
			t.Fatalf("%v and %v: evidence %v, explained %v, scored %v: %v", a, b, sum, bits, score, evidence)
		}
	})
}

// Who is asked and who is the candidate does not matter.
func TestScoreIsSymmetric(t *testing.T) {
	t.Parallel()
	model := linkage.Default()
	rapid.Check(t, func(t *rapid.T) {
		a, b := pairOf(t)
		x, y := made(a), made(b)
		f := frequencies(t)
		there, back := model.Ask(&x, f, 0).Score(&y), model.Ask(&y, f, 0).Score(&x)
		if math.Abs(there-back) > 1e-4 {
			t.Fatalf("%v and %v: %v, but %v", a, b, there, back)
		}
	})
}

// Agreeing in one more field never lowers the score.
func TestScoreRisesWithAgreement(t *testing.T) {
	t.Parallel()
	model := linkage.Default()
	rapid.Check(t, func(t *rapid.T) {
		a, b := pairOf(t)
		x, y := made(a), made(b)
		f := frequencies(t)
		q := model.Ask(&x, f, 0)
		before, _, _ := q.Explain(&y)
		if levelOf(before, "firstName") == "swapped" || levelOf(before, "lastName") == "swapped" || levelOf(before, "firstName") == "middle_name" {
			t.Skip("a name in its place is another name less in the other's")
		}
		field := rapid.SampledFrom(slices.Sorted(maps.Keys(values()))).Draw(t, "field")
		if a[field] == "" || b[field] == "" {
			t.Skip("missing")
		}
		better := maps.Clone(b)
		better[field] = a[field]
		z := made(better)
		was, is := q.Score(&y), q.Score(&z)
		if is < was-1e-6 {
			after, _, _ := q.Explain(&z)
			t.Fatalf("%v and %v: %v with another %s, %v with the same\n%v\n%v", a, b, was, field, is, before, after)
		}
	})
}

// What a candidate lacks weighs nothing, and leaves what the other fields say as it was.
func TestMissingIsNeutral(t *testing.T) {
	t.Parallel()
	model := linkage.Default()
	alone := map[string]int{} // fields on which no other depends, by their place
	for f, field := range model.Fields {
		for name, of := range map[string]string{"suffix": "suffix", "dob": "dob", "ssn": "last4Ssn", "phone": "phone", "email": "email", "chart": "identifier", "member": "memberNumber"} {
			if field.Name == of {
				alone[name] = f
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := pairOf(t)
		field := rapid.SampledFrom(slices.Sorted(maps.Keys(alone))).Draw(t, "field")
		x, y := made(a), made(b)
		without := maps.Clone(b)
		delete(without, field)
		z := made(without)
		q := model.Ask(&x, city(), 0)
		whole, rest := q.Levels(&y, nil), q.Levels(&z, nil)
		for f := range whole {
			if f == alone[field] && rest[f] != -1 || f != alone[field] && rest[f] != whole[f] {
				t.Fatalf("without %s the levels are %v, not %v", field, rest, whole)
			}
		}
		evidence, _, _ := q.Explain(&z)
		for _, e := range evidence {
			if e.Level == "missing" && e.Weight != 0 {
				t.Fatalf("missing weighs: %v", e)
			}
		}
	})
}

// A comparison that is remembered comes out as it did at first, whatever was compared in between.
func TestRememberedComparisons(t *testing.T) {
	t.Parallel()
	people := crowd(3000)
	model := linkage.Default()
	remembering := model.Ask(&people[7], city(), 0)
	for round := range 2 {
		for i := range people {
			if was, is := remembering.Score(&people[i]), model.Ask(&people[7], city(), 0).Score(&people[i]); was != is {
				t.Fatalf("round %d, person %d: %v remembered, %v afresh", round, i, was, is)
			}
		}
	}
}

// Score allocates nothing, with texts that are remembered and with others.
func TestScoreAllocatesNothing(t *testing.T) {
	people := crowd(50)
	stranger := made(fields{"first": "Maximiliane-Alexandrina Victoria", "middle": "Theodora", "last": "von Hohenzollern-Sigmaringen", "line1": "1234 Martin Luther King Jr Memorial Boulevard", "city": "Rancho Santa Margarita", "zip": "92688"})
	people = append(people, stranger)
	q := linkage.Default().Ask(&people[7], city(), 0)
	own := linkage.Default().Ask(&stranger, city(), 0)
	if n := testing.AllocsPerRun(100, func() {
		for i := range people {
			q.Score(&people[i])
			own.Score(&people[i])
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
