package matchbench

import (
	"slices"
	"testing"
	"time"
)

// As many pairs as their publishers say.
func TestSets(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]int{"febrl1": {1000, 500}, "febrl2": {5000, 1934}, "febrl3": {5000, 6538}, "rldata500": {500, 50}} {
		set, err := Load(name, Seed)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int{len(set.Records), set.Pairs()}; got != want {
			t.Errorf("%s has %v records and pairs, want %v", name, got, want)
		}
		for i, r := range set.Records {
			if _, err := time.Parse(time.DateOnly, r.Person.DOB); r.Person.DOB != "" && err != nil {
				t.Errorf("%s, record %d: day %q", name, i, r.Person.DOB)
			}
		}
	}
	if _, err := Load("febrl9", Seed); err == nil {
		t.Error("there is a set that nobody made")
	}
}

func TestNamesOnly(t *testing.T) {
	t.Parallel()
	whole, err := Load("febrl1", Seed)
	if err != nil {
		t.Fatal(err)
	}
	names, err := Load("febrl1-names", Seed)
	if err != nil {
		t.Fatal(err)
	}
	if len(names.Records) != len(whole.Records) || names.Pairs() != whole.Pairs() {
		t.Fatal("other records, or another truth")
	}
	for i, r := range names.Records {
		p := r.Person
		if len(p.Addresses)+len(p.Identifiers) > 0 || p.FirstName != whole.Records[i].Person.FirstName || p.DOB != whole.Records[i].Person.DOB {
			t.Fatalf("%+v", p)
		}
	}
}

func TestSample(t *testing.T) {
	t.Parallel()
	set := Set{Records: make([]Record, 100)}
	some := set.sample(10)
	if len(some) != 10 || !slices.Equal(some, set.sample(10)) || slices.IsSorted(some) {
		t.Errorf("%v", some)
	}
	all := set.sample(0)
	if len(all) != 100 || len(slices.Compact(slices.Sorted(slices.Values(all)))) != 100 {
		t.Errorf("%v", all)
	}
}

// What a patient must have is there, and what was not known is not asked.
func TestPlaceholdersAreStoredAndNotAsked(t *testing.T) {
	t.Parallel()
	set, err := Load("febrl3", Seed)
	if err != nil {
		t.Fatal(err)
	}
	lacking := 0
	for _, r := range set.Records {
		l, q := lineOf(&r.Person), questionOf(&r.Person)
		if l.FirstName == "" || l.LastName == "" || l.DOB == "" {
			t.Fatalf("%+v", l)
		}
		for _, a := range l.Addresses {
			if a.Line1 == "" || a.City == "" || a.State == "" || a.PostalCode == "" {
				t.Fatalf("%+v", a)
			}
		}
		if r.Person.FirstName == "" {
			if lacking++; l.FirstName != noName || q.FirstName != "" {
				t.Fatalf("%+v is asked by %+v", l, q)
			}
		}
	}
	if lacking == 0 {
		t.Error("no record lacks a first name")
	}
}
