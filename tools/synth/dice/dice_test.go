package dice

import (
	"math"
	"testing"
)

func TestTableDrawsAsOftenAsItsWeightsSay(t *testing.T) {
	weights := []uint64{1, 0, 1000, 10, 500, 3, 0, 486}
	table, err := NewTable(weights)
	if err != nil {
		t.Fatal(err)
	}
	var d Dice
	d.Seed(1)
	const throws = 400_000
	seen := make([]int, len(weights))
	for range throws {
		seen[table.Draw(&d)]++
	}
	for i, w := range weights {
		want := throws * float64(w) / 2000
		if off := math.Abs(float64(seen[i]) - want); off > 5*math.Sqrt(want)+0.5 {
			t.Errorf("entry %d of weight %d: drawn %d times, want about %.0f", i, w, seen[i], want)
		}
	}
}

func TestTableNeedsWeights(t *testing.T) {
	for name, weights := range map[string][]uint64{"none": nil, "only zero": {0, 0}, "too heavy": {1 << 41}} {
		if _, err := NewTable(weights); err == nil {
			t.Errorf("%s: made a table", name)
		}
	}
}

func TestSameKeysSameDice(t *testing.T) {
	var a, b Dice
	seen := map[uint64]bool{}
	for key := range uint64(10_000) {
		a.Seed(7, 1, key)
		b.Seed(7, 1, key)
		x := a.Uint64()
		if x != b.Uint64() {
			t.Fatalf("key %d: the same seed fell differently", key)
		}
		b.Seed(7, key, 1)
		y := b.Uint64()
		if key == 1 {
			y++
		}
		if seen[x] || seen[y] {
			t.Fatalf("key %d: fell as another key did", key)
		}
		seen[x], seen[y] = true, true
	}
}

func TestChanceAndBetween(t *testing.T) {
	var d Dice
	d.Seed(3)
	hits, low, high := 0, 0, 0
	for range 100_000 {
		if d.Chance(0.3) {
			hits++
		}
		switch n := d.Between(4, 9); {
		case n < 4 || n > 9:
			t.Fatalf("%d is not between 4 and 9", n)
		case n == 4:
			low++
		case n == 9:
			high++
		}
		if d.Chance(0) || !d.Chance(1) {
			t.Fatal("never happened, or always did not")
		}
	}
	if hits < 29_300 || hits > 30_700 || low < 16_000 || high < 16_000 {
		t.Errorf("chance of 0.3: %d of 100000; ends of the range: %d, %d", hits, low, high)
	}
}
