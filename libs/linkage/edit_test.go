package linkage

import (
	"math"
	"testing"

	"github.com/antzucaro/matchr"
	"pgregory.net/rapid"
)

// A slip is what the library counts as one edit.
func TestOneEdit(t *testing.T) {
	t.Parallel()
	text := rapid.StringMatching(`[a-c]{2,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		if want := matchr.DamerauLevenshtein(a, b) <= 1; oneEdit(a, b) != want || oneEdit(b, a) != want {
			t.Fatalf("%s and %s: %v", a, b, !want)
		}
	})
	for _, short := range [][2]string{{"", ""}, {"a", "b"}, {"a", "ab"}} {
		if oneEdit(short[0], short[1]) {
			t.Errorf("%v", short)
		}
	}
}

func TestSimilar(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"martha", "marhta", true},
		{"dixon", "dicksonx", false},
		{"jonathan", "jonathon", true},
		{"rob", "robert", true},
		{"ro", "robert", false},
		{"kimberly", "zoltan", false},
		{"", "", false},
		{"smith", "", false},
	} {
		if similar(c.a, c.b) != c.want || similar(c.b, c.a) != c.want {
			t.Errorf("%s and %s", c.a, c.b)
		}
	}
}

// What is put aside unmeasured is not similar.
func TestMostSimilar(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.StringMatching(`[a-f]{4,9}`), rapid.StringMatching(`[a-z]{4,40}`), rapid.StringMatching(`[a-zäß王]{2,10}`))
	rapid.Check(t, func(t *rapid.T) {
		a, b := beginning(text.Draw(t, "a")), beginning(text.Draw(t, "b"))
		if most, is := mostSimilar(a, b), jaroWinkler(a, b); most < is-1e-9 {
			t.Fatalf("%s and %s: %v, at most %v", a, b, is, most)
		}
	})
	if mostSimilar("martha", "zoltan") >= similarity {
		t.Error("nothing is put aside")
	}
}

// Dates differ by digits as people mistype them.
func TestDigitEdits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b Date
		want int
	}{
		{19720309, 19720309, 0},
		{19720309, 19720308, 1},
		{19720309, 19270309, 1},
		{19720309, 19720390, 1},
		{19720309, 19730308, 2},
		{19720309, 20720309, 2},
		{19720309, 19511127, 6},
	} {
		if got := digitEdits(c.a, c.b); got != c.want || digitEdits(c.b, c.a) != c.want {
			t.Errorf("%d and %d: %d", c.a, c.b, got)
		}
	}
}

// Sums of logarithms are those of the numbers, and rise with each.
func TestSums(t *testing.T) {
	t.Parallel()
	s := newSums()
	number := rapid.Float64Range(-60, 60)
	rapid.Check(t, func(t *rapid.T) {
		a, b, more := number.Draw(t, "a"), number.Draw(t, "b"), rapid.Float64Range(0, 10).Draw(t, "more")
		if want := math.Log2(math.Exp2(a) + math.Exp2(b)); math.Abs(s.add(a, b)-want) > 1e-4 || s.add(a, b) != s.add(b, a) {
			t.Fatalf("%v and %v are %v, not %v", a, b, s.add(a, b), want)
		}
		if s.add(a+more, b) < s.add(a, b)-1e-12 {
			t.Fatalf("%v and %v are more than with %v", a, b, more)
		}
	})
	if inf := math.Inf(-1); s.add(inf, 3) != 3 || s.add(3, inf) != 3 || s.add(inf, inf) != inf {
		t.Error("nothing is something")
	}
}

// The careless err so many times as often, by odds, and all together as before.
func TestCarelessShares(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := Careless{Share: rapid.Float64Range(0, 0.9).Draw(t, "share"), Times: rapid.Float64Range(1, 100).Draw(t, "times")}
		all := rapid.Float64Range(0.0001, 0.999).Draw(t, "all")
		few, many := c.shares(all)
		if math.Abs((1-c.Share)*few+c.Share*many-all) > 1e-6 || math.Abs(many*(1-few)-c.Times*few*(1-many)) > 1e-6 {
			t.Fatalf("%v: %v and %v of %v", c, few, many, all)
		}
	})
}
