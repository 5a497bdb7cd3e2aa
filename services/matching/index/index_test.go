package index

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// TestIndexIsTheNaiveOne changes an index and a map in the same ways, and asks both the same.
func TestIndexIsTheNaiveOne(t *testing.T) {
	parser, model := linkage.NewParser(), linkage.Default()
	rapid.Check(t, func(t *rapid.T) {
		x, n := New(Options{Parser: parser}), naive{}
		empty := x.Memory()
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			change(t, x, n)
			if x.People() != len(n) {
				t.Fatalf("%d people, want %d", x.People(), len(n))
			}
			askExactly(t, x, n)
			ask(t, x, n, parser, model)
		}
		var gone []linkage.Demographics
		for id := range n {
			gone = append(gone, linkage.Demographics{ID: id, Deleted: true})
		}
		x.Apply(gone)
		if x.lists.Keys() != 0 || x.words.Texts() != 0 || x.Memory() > empty+1<<16 {
			t.Fatalf("an index without people has %d keys, %d texts, %d bytes; at first %d", x.lists.Keys(), x.words.Texts(), x.Memory(), empty)
		}
	})
}

func change(t *rapid.T, x *Index, n naive) {
	var news []linkage.Demographics
	for range rapid.IntRange(1, 9).Draw(t, "changes") {
		id := rapid.Int64Range(1, 40).Draw(t, "id")
		if rapid.IntRange(0, 3).Draw(t, "delete") == 0 {
			news = append(news, linkage.Demographics{ID: id, Deleted: true})
		} else {
			news = append(news, people(t, id))
		}
	}
	x.Apply(news)
	n.apply(news)
}

func askExactly(t *rapid.T, x *Index, n naive) {
	full := people(t, 0)
	q := linkage.Demographics{}
	for _, take := range []func(){
		func() { q.FirstName = full.FirstName },
		func() { q.LastName = full.LastName },
		func() { q.MiddleName = full.MiddleName },
		func() { q.DOB = full.DOB },
		func() { q.SexAtBirth = full.SexAtBirth },
		func() { q.SSNLast4 = full.SSNLast4 },
		func() { q.Suffix = full.Suffix },
		func() { q.Addresses = full.Addresses },
		func() { q.Contacts = full.Contacts },
		func() { q.Identifiers = full.Identifiers },
	} {
		if rapid.IntRange(0, 2).Draw(t, "asked") == 0 {
			take()
		}
	}
	want := n.exact(q)
	limit, after := rapid.IntRange(1, 5).Draw(t, "limit"), int64(0)
	var got []int64
	for range len(want) + 1 {
		found, err := x.Exact(context.Background(), ExactQuery{Person: q, After: after, Limit: limit, Now: now})
		if err != nil || found.Total != len(want) || len(found.Hits) > limit {
			t.Fatalf("%s: %d hits, total %d, %v; want %v", show(q), len(found.Hits), found.Total, err, want)
		}
		for _, h := range found.Hits {
			if got = append(got, h.Demographics.ID); show(h.Demographics) != show(childless(n[h.Demographics.ID])) {
				t.Fatalf("shown as %s, is %s", show(h.Demographics), show(n[h.Demographics.ID]))
			}
		}
		if after = found.Next; after == 0 {
			break
		}
	}
	if !slices.Equal(got, want) && len(got)+len(want) > 0 {
		t.Fatalf("%s: %v, want %v", show(q), got, want)
	}
}

func ask(t *rapid.T, x *Index, n naive, parser *linkage.Parser, model *linkage.Model) {
	q := Query{Person: people(t, 0), Model: model, Limit: rapid.IntRange(1, 30).Draw(t, "limit"), MinScore: 0.5, Now: now}
	bits, settled := n.find(parser, q)
	want := ranking(bits, 0)
	found := x.Find(q)
	if found.Truncated {
		t.Fatalf("%s among %d: truncated", show(q.Person), len(n))
	}
	given := map[int64]bool{}
	before := math.Inf(1)
	for _, h := range found.Hits {
		id := h.Demographics.ID
		given[id] = true
		if h.Bits < bits[id]-1e-3 || h.Bits > settled[id]+1e-3 || h.Bits > before+1e-3 || show(h.Demographics) != show(childless(n[id])) {
			t.Fatalf("%s: %d has %f bits, want %f; shown as %s", show(q.Person), id, h.Bits, bits[id], show(h.Demographics))
		}
		before = h.Bits
	}
	if found.Total > len(ranking(settled, 0)) || len(found.Hits) != min(found.Total, q.Limit) {
		t.Fatalf("%s: total %d and %d hits, want %d", show(q.Person), found.Total, len(found.Hits), len(want))
	}
	for _, id := range want[:min(len(want), q.Limit)] {
		if !given[id] && len(found.Hits) < q.Limit && share(q.Person, n[id]) {
			t.Fatalf("%s\nwith %f bits is not found:\n%s", show(n[id]), bits[id], show(q.Person))
		}
	}
}
