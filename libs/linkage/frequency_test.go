package linkage_test

import (
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// weightOf is what a field weighs.
func weightOf(t *testing.T, f linkage.Frequencies, a, b fields, field string) float64 {
	t.Helper()
	x, y := made(a), made(b)
	evidence, _, _ := linkage.Default().Ask(&x, f, 0).Explain(&y)
	for _, e := range evidence {
		if e.Field == field {
			return e.Weight
		}
	}
	t.Fatalf("no %s in %v", field, evidence)
	return 0
}

// A name that many bear tells less, in the tenant as in the Census, and a tenant knows its own people better.
func TestFrequentNamesWeighLess(t *testing.T) {
	t.Parallel()
	name := func(f linkage.Frequencies, last string) float64 {
		return weightOf(t, f, fields{"last": last}, fields{"last": last}, "lastName")
	}
	small, large := town{people: 200}, town{people: 1_000_000}
	for _, c := range []struct {
		what       string
		more, less float64
	}{
		{"Zbikowski and Smith, by the Census", name(nil, "Zbikowski"), name(nil, "Smith")},
		{"Zbikowski and Smith, in a small town", name(small, "Zbikowski"), name(small, "Smith")},
		{"Zbikowski and Smith, in a city", name(large, "Zbikowski"), name(large, "Smith")},
		{"a name nobody has, in a city and in a small town", name(large, "Zbikowski"), name(small, "Zbikowski")},
		{"Zbikowski where they are few and where they are many", name(large, "Zbikowski"), name(town{people: 1_000_000, family: map[string]int{"zbikowski": 30_000}}, "Zbikowski")},
		{"Smith where they are few and where they are many", name(town{people: 1_000_000, family: map[string]int{"smith": 3}}, "Smith"), name(large, "Smith")},
	} {
		if c.more < c.less+1 {
			t.Errorf("%s: %.1f and %.1f bits", c.what, c.more, c.less)
		}
	}
	if top := name(town{people: 100_000_000}, "Zbikowski"); top > 21 {
		t.Errorf("nothing is as rare as %.1f bits", top)
	}
}

// The candidate bears its own name: that makes it no more frequent. Nor do the few others, who are rather the same person's.
func TestTheCandidateIsNotCounted(t *testing.T) {
	t.Parallel()
	weight := func(bearers int) float64 {
		return weightOf(t, town{people: 5000, family: map[string]int{"zbikowski": bearers}}, fields{"last": "Zbikowski"}, fields{"last": "Zbikowski"}, "lastName")
	}
	if weight(0) != weight(1) {
		t.Errorf("the candidate makes its name more frequent: %.2f and %.2f bits", weight(0), weight(1))
	}
	if lost := weight(1) - weight(2); lost <= 0 || lost > 1 {
		t.Errorf("a second bearer takes %.2f bits", lost)
	}
	if lost := weight(1) - weight(101); lost < 6 {
		t.Errorf("a hundred bearers more take %.2f bits", lost)
	}
}

// A slip that leads to a name that many bear is rather another name.
func TestSlipsToNames(t *testing.T) {
	t.Parallel()
	slip := func(a, b string) float64 {
		return weightOf(t, city(), fields{"first": a}, fields{"first": b}, "firstName")
	}
	if typo, name := slip("Maria", "Mraia"), slip("Maria", "Marla"); typo < name+3 {
		t.Errorf("Mraia weighs %.1f, Marla %.1f bits", typo, name)
	}
	if there, back := slip("Mraia", "Maria"), slip("Maria", "Mraia"); there != back {
		t.Errorf("%.3f bits there, %.3f back", there, back)
	}
	if exact, typo := slip("Maria", "Maria"), slip("Maria", "Mraia"); typo >= exact {
		t.Errorf("a slip weighs %.1f bits, the name %.1f", typo, exact)
	}
}

// A day on which far more people are born than there are chances and doubles stands for something else.
func TestDaysThatStandForNone(t *testing.T) {
	t.Parallel()
	exact := func(f linkage.Frequencies, day string) float64 {
		return weightOf(t, f, fields{"dob": day}, fields{"dob": day}, "dob")
	}
	usual := exact(city(), "1972-03-09")
	if january := exact(city(), "1972-01-01"); january > usual-2 {
		t.Errorf("the first of January weighs %.1f of %.1f bits", january, usual)
	}
	if twice := exact(town{people: 1_000_000, born: map[linkage.Date]int{19720309: 66}}, "1972-03-09"); twice != usual {
		t.Errorf("twice as many births take %.1f bits", usual-twice)
	}
	if default_ := exact(town{people: 1_000_000, born: map[linkage.Date]int{19720309: 20_000}}, "1972-03-09"); default_ > usual-8 {
		t.Errorf("two in a hundred take %.1f bits", usual-default_)
	}
	if few := exact(town{people: 500, born: map[linkage.Date]int{19720309: 4}}, "1972-03-09"); few != exact(town{people: 500}, "1972-03-09") {
		t.Errorf("four records of one person make their birthday frequent: %.1f bits", few)
	}
}

// A postal code that a fifth of a tenant has tells little, and then a house tells more.
func TestPostalCodes(t *testing.T) {
	t.Parallel()
	home := fields{"line1": "12 Elm Street", "zip": "97301"}
	local := town{people: 100_000, postal: map[string]int{"97301": 20_000}}
	if area := weightOf(t, local, home, home, "area"); area > 3 {
		t.Errorf("the postal code weighs %.1f bits", area)
	}
	both := func(f linkage.Frequencies) float64 {
		return weightOf(t, f, home, home, "area") + weightOf(t, f, home, home, "street")
	}
	if here, anywhere := both(local), both(nil); here < anywhere-1 || here > anywhere+1 {
		t.Errorf("a house weighs %.1f bits here, %.1f anywhere", here, anywhere)
	}
}

// The more people a tenant has, the likelier a stranger agrees: each doubling takes a bit.
func TestPrior(t *testing.T) {
	t.Parallel()
	prior := func(people int) float64 {
		return weightOf(t, town{people: people}, fields{"sex": "male"}, fields{"sex": "male"}, "prior")
	}
	if was, is := prior(1000), prior(2000); was-is != 1 {
		t.Errorf("twice the people take %.3f bits", was-is)
	}
	if prior(0) != prior(1) {
		t.Error("nobody is fewer than one")
	}
}

// What several records found of a person tell of further ones.
func TestSettle(t *testing.T) {
	t.Parallel()
	a := made(fields{"first": "Ann"})
	for _, c := range []struct {
		bits []float64
		more []float64
	}{
		{nil, nil},
		{[]float64{-3}, []float64{0}},
		{[]float64{30}, []float64{0}},
		{[]float64{30, -3}, []float64{0, 0.0}},
		{[]float64{30, 30, 30, -30}, []float64{0.585, 0.585, 0.585, 1}},
		{[]float64{30, 30, 30, 30, 30, 30, 30, 0}, []float64{1.907, 1.907, 1.907, 1.907, 1.907, 1.907, 1.907, 2}},
	} {
		q := linkage.Default().Ask(&a, nil, 0)
		was := append([]float64(nil), c.bits...)
		q.Settle(c.bits)
		for i := range c.bits {
			if more := c.bits[i] - was[i]; more < c.more[i]-0.06 || more > c.more[i]+0.06 {
				t.Errorf("%v: %d gains %.3f bits, not %.3f", was, i, more, c.more[i])
			}
		}
	}
}
