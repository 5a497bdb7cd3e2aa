package synth

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// busy are options under which everything happens.
func busy() Options {
	return Options{Seed: 42, People: 3000, Duplicated: 0.5, Copies: 4, Intensity: 1, Original: 0.3}
}

// tables are read once for all tests.
var tables = sync.OnceValues(func() (*Generator, error) { return New(Options{}) })

func with(t testing.TB, o Options) *Generator {
	t.Helper()
	read, err := tables()
	if err != nil {
		t.Fatal(err)
	}
	if o, err = o.checked(); err != nil {
		t.Fatal(err)
	}
	g, err := newGenerator(o, read.names, read.places)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func collect(records iter.Seq[Record]) []Record { return slices.Collect(records) }

// The bytes of a seed never change while Version stays. Whoever changes them on purpose counts Version up and writes the
// new sums here: figures measured before are then of other people.
func TestSameSeedSameBytes(t *testing.T) {
	for name, c := range map[string]struct {
		options Options
		sum     string
	}{
		"realistic": {busy(), "d8ca02def62dbacc"},
		"complete":  {Options{Seed: 7, People: 2000, Duplicated: 1, Copies: 2, Intensity: 2, Complete: true}, "8f3cd3a18fc212d7"},
		"one typo":  {Options{Seed: 42, People: 2000, Duplicated: 1, Copies: 3, Mode: OneTypo}, "87bcbe54fcf3b417"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sum(t, c.options); got != c.sum {
				t.Errorf("version %d: the sum is %s, was %s", Version, got, c.sum)
			}
		})
	}
	other := busy()
	other.Seed++
	if sum(t, other) == sum(t, busy()) {
		t.Error("another seed gave the same people")
	}
}

func sum(t *testing.T, o Options) string {
	t.Helper()
	var out, lines bytes.Buffer
	table, err := NewCSV(&out, o.Seed)
	if err != nil {
		t.Fatal(err)
	}
	json, err := NewNDJSON(&lines, nil, o.Seed)
	if err != nil {
		t.Fatal(err)
	}
	for r := range with(t, o).Records() {
		if err := table.Write(&r); err != nil {
			t.Fatal(err)
		}
		if err := json.Write(&r); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range []Writer{table, json} {
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	h := sha256.Sum256(append(out.Bytes(), lines.Bytes()...))
	return hex.EncodeToString(h[:8])
}

func TestHouseholdsCanBeMadeApart(t *testing.T) {
	g := with(t, busy())
	whole := collect(g.Records())
	people := int64(0)
	for _, r := range whole {
		if r.Copy == 0 {
			people++
		}
	}
	if people != busy().People {
		t.Errorf("%d people, want %d", people, busy().People)
	}
	last := whole[len(whole)-1].Household
	parts := make([][]Record, 4)
	var group sync.WaitGroup
	for i := range parts {
		group.Go(func() {
			from, before := last*int64(i)/4, last*int64(i+1)/4
			parts[i] = collect(g.Households(from, before))
		})
	}
	group.Wait()
	together := slices.Concat(parts...)
	if !reflect.DeepEqual(together, whole[:len(together)]) || len(whole)-len(together) > mostMembers*(mostCopies+1) {
		t.Error("made in four parts, the people are others")
	}
	from := busy()
	from.First = 1000
	for r := range with(t, from).Records() {
		if r.Household != 1000 || !reflect.DeepEqual(r, collect(g.Households(1000, 1001))[0]) {
			t.Error("begun at household 1000, the first person is another")
		}
		break
	}
}

func TestErrorsChangeNobodyElse(t *testing.T) {
	calm, wild := busy(), busy()
	calm.Original, wild.Original = 0, 0
	calm.Intensity, wild.Intensity, wild.Copies = 0, 3, 8
	first := func(o Options) (out []Record) {
		for r := range with(t, o).Records() {
			if r.Copy == 0 {
				out = append(out, r)
			}
		}
		return out
	}
	if !reflect.DeepEqual(first(calm), first(wild)) {
		t.Error("more errors in copies make other people")
	}
}

func TestNobodyIsCountedTwice(t *testing.T) {
	g := with(t, busy())
	seen, refs, charts := map[[2]int64]bool{}, map[string]bool{}, map[string]bool{}
	for r := range g.Records() {
		key := [2]int64{r.Person, int64(r.Copy)}
		if ref := r.Ref(42); seen[key] || refs[ref] {
			t.Fatalf("person %d, copy %d twice", r.Person, r.Copy)
		}
		seen[key], refs[r.Ref(42)] = true, true
		if r.Household != r.Person/mostMembers {
			t.Errorf("person %d lives in household %d", r.Person, r.Household)
		}
		if chart := r.Identifiers[0].Value; !slices.Contains(r.Errors, "identifier:digit") {
			if charts[chart] {
				t.Errorf("two records have number %s", chart)
			}
			charts[chart] = true
		}
	}
}

func TestStreamKeepsNothing(t *testing.T) {
	g := with(t, Options{Seed: 1, Duplicated: 0.3, Copies: 3, Intensity: 1})
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var early uint64
	n := 0
	for range g.Records() {
		switch n++; n {
		case 2_000:
			early = heap()
		case 100_000:
			if late := heap(); late > early+1<<20 {
				t.Errorf("after 2,000 records %d bytes are kept, after 100,000 %d", early, late)
			}
			return
		}
	}
}

func TestStopsWhenNobodyWantsMore(t *testing.T) {
	o := busy()
	o.People = 0
	n := 0
	for range with(t, o).Records() {
		if n++; n == 500 {
			break
		}
	}
	for range with(t, o).Households(0, 1<<40) {
		if n++; n == 1000 {
			break
		}
	}
	if n != 1000 {
		t.Errorf("%d records", n)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for name, o := range map[string]Options{
		"people": {People: -1}, "first": {First: -1}, "duplicated": {Duplicated: 1.1}, "copies": {Copies: mostCopies + 1}, "intensity": {Intensity: -1},
		"original": {Original: -1}, "two errors": {Mode: OneTypo, Original: 1}, "fields": {Fields: []string{"race"}},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func BenchmarkRecords(b *testing.B) {
	g := with(b, Options{Seed: 1, Duplicated: 0.2, Copies: 2, Intensity: 1})
	b.ReportAllocs()
	people, n := 0, 0
	b.ResetTimer()
	for r := range g.Records() {
		if r.Copy == 0 {
			people++
		}
		if n++; n >= b.N {
			break
		}
	}
	b.ReportMetric(float64(people)/b.Elapsed().Seconds(), "people/s")
}

func BenchmarkNDJSON(b *testing.B) {
	g := with(b, Options{Seed: 1, Duplicated: 0.2, Copies: 2, Intensity: 1, Complete: true})
	w, err := NewNDJSON(discard{}, discard{}, 1)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	people, n := 0, 0
	b.ResetTimer()
	for r := range g.Records() {
		if r.Copy == 0 {
			people++
		}
		if err := w.Write(&r); err != nil {
			b.Fatal(err)
		}
		if n++; n >= b.N {
			break
		}
	}
	b.ReportMetric(float64(people)/b.Elapsed().Seconds(), "people/s")
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
