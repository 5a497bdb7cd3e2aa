package posting

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestLists holds the lists against a map of sets, with few keys and many numbers, so that blocks grow, chain, shrink and go.
func TestLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lists Lists
		want := map[uint64]map[uint32]bool{}
		keys := make([]uint64, rapid.IntRange(1, 40).Draw(t, "keys"))
		for i := range keys {
			keys[i] = uint64(i%3)<<56 | rapid.Uint64Range(0, 1<<56-1).Draw(t, "key")>>24<<24
		}
		most := rapid.SampledFrom([]uint32{3, 40, 900, 3000}).Draw(t, "most")
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			key := rapid.SampledFrom(keys).Draw(t, "key")
			from, step := rapid.Uint32Range(1, most).Draw(t, "from"), rapid.Uint32Range(1, 5).Draw(t, "step")
			add := rapid.Bool().Draw(t, "add")
			for n := from; n < from+most; n += step {
				change(t, &lists, want, key, n, add)
			}
			if rapid.IntRange(0, 5).Draw(t, "look") == 0 {
				same(t, &lists, want, keys)
			}
		}
		same(t, &lists, want, keys)
		for key, numbers := range want {
			for n := range maps.Clone(numbers) {
				change(t, &lists, want, key, n, false)
			}
		}
		if lists.Keys() != 0 {
			t.Fatalf("%d keys without a number", lists.Keys())
		}
		if lists.Memory() != 0 {
			t.Fatalf("%d bytes of nobody", lists.Memory())
		}
	})
}

func change(t *rapid.T, lists *Lists, want map[uint64]map[uint32]bool, key uint64, n uint32, add bool) {
	there := want[key][n]
	switch {
	case add && !there:
		lists.Add(key, n)
		if want[key] == nil {
			want[key] = map[uint32]bool{}
		}
		want[key][n] = true
	case !add:
		if got := lists.Remove(key, n); got != there {
			t.Fatalf("remove %d: %v, want %v", n, got, there)
		}
		delete(want[key], n)
	}
}

func same(t *rapid.T, lists *Lists, want map[uint64]map[uint32]bool, keys []uint64) {
	for _, key := range keys {
		list := lists.Of(key)
		got := list.Append(nil, 1<<30)
		slices.Sort(got)
		if !slices.Equal(got, slices.Sorted(maps.Keys(want[key]))) || list.Len() != len(got) {
			t.Fatalf("key %x: %d numbers (Len %d), want %d", key, len(got), list.Len(), len(want[key]))
		}
		if some := list.Append(nil, 5); len(some) != min(5, len(got)) {
			t.Fatalf("asked for five of %d, got %d", len(got), len(some))
		}
	}
}

// TestManyKeys holds tables that grow and shrink against a map.
func TestManyKeys(t *testing.T) {
	var lists Lists
	const people = 300_000
	key := func(n uint32) uint64 { return uint64(n/2) * 0x9E3779B97F4A7C15 }
	for n := uint32(1); n <= people; n++ {
		lists.Add(key(n), n)
	}
	full := lists.Memory()
	for n := uint32(1); n <= people; n++ {
		if got := lists.Of(key(n)).Append(nil, 9); !slices.Contains(got, n) {
			t.Fatalf("%d is not under its key: %v", n, got)
		}
	}
	if n := lists.Len(0x1234567890123456); n != 0 {
		t.Fatalf("a key that nobody has: %d", n)
	}
	for n := uint32(1); n <= people; n++ {
		if !lists.Remove(key(n), n) {
			t.Fatalf("%d was not under its key", n)
		}
	}
	if lists.Keys() != 0 || lists.Memory() > 0 {
		t.Fatalf("empty: %d keys, %d bytes of %d", lists.Keys(), lists.Memory(), full)
	}
	t.Logf("%.1f bytes a number, two a key", float64(full)/people)
}
