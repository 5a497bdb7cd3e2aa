package train

import (
	"slices"
	"strconv"
)

// Label says of two records, by their ids, whether they are of one person.
type Label struct {
	A, B int64
	Same bool
}

// The parts of the people: of each person all records are in one. Half of the people are to learn from.
const (
	toLearn = iota
	toCalibrate
	toTest
)

// truth is what is known of whose the records are.
type truth struct {
	people   *People
	seed     uint64
	most     int       // questions of a part
	same     []pair    // of one person
	opposite [][]int32 // whom each record is held against
}

// asked is a record as a question, and whom it is held against.
type asked struct {
	question   int32
	candidates []int32
}

// newTruth looks at the truths of the records, or at labels, which give the records truths.
func newTruth(p *People, labels []Label, o Options) *truth {
	t := &truth{people: p, seed: o.Seed, most: o.Questions, opposite: make([][]int32, len(p.Records))}
	if len(labels) > 0 {
		t.label(labels)
	} else {
		t.group()
		t.look()
	}
	for i := range t.opposite {
		slices.Sort(t.opposite[i])
		t.opposite[i] = slices.Compact(t.opposite[i])
	}
	slices.SortFunc(t.same, comparePairs)
	t.same = slices.Compact(t.same)
	return t
}

func (t *truth) part(i int32) int {
	switch mix(t.seed, hash(t.people.Records[i].Truth)) % 4 {
	case 0:
		return toCalibrate
	case 1:
		return toTest
	}
	return toLearn
}

// mostOfOne bounds the records of one person that pairs are made of: pairs grow with their square, and one person is one.
const mostOfOne = 6

// group makes pairs of the records of each person.
func (t *truth) group() {
	groups := map[string][]int32{}
	for i := range t.people.Records {
		if name := t.people.Records[i].Truth; name != "" {
			groups[name] = append(groups[name], int32(i))
		}
	}
	for _, group := range groups {
		for x := range group {
			for y := range x {
				t.meet(pair{group[y], group[x]})
				if x < mostOfOne {
					t.same = append(t.same, pair{group[y], group[x]})
				}
			}
		}
	}
}

// look finds whom the records could be taken for.
func (t *truth) look() {
	for i, one := range wide() {
		for _, found := range t.people.pairsOf(one, t.seed+uint64(i)) {
			t.meet(found)
		}
	}
}

// meet holds two records against each other.
func (t *truth) meet(p pair) {
	t.opposite[p.a], t.opposite[p.b] = append(t.opposite[p.a], p.b), append(t.opposite[p.b], p.a)
}

// label takes over what labels say, and nothing else: who was not labelled is held against nobody.
func (t *truth) label(labels []Label) {
	place := map[int64]int32{}
	root := make([]int32, len(t.people.Records))
	for i := range t.people.Records {
		place[t.people.Records[i].ID] = int32(i)
		root[i] = int32(i)
	}
	find := func(i int32) int32 {
		for root[i] != i {
			i = root[i]
		}
		return i
	}
	for _, l := range labels {
		a, known := place[l.A]
		b, too := place[l.B]
		if !known || !too || a == b {
			continue
		}
		one := pair{min(a, b), max(a, b)}
		t.opposite[one.a] = append(t.opposite[one.a], one.b)
		if l.Same {
			t.same = append(t.same, one)
			root[max(find(a), find(b))] = min(find(a), find(b))
		}
	}
	for i := range root {
		t.people.Records[i].Truth = strconv.Itoa(int(find(int32(i))))
	}
}

// pairs are those of one person in a part.
func (t *truth) pairs(part int) []pair {
	return slices.DeleteFunc(slices.Clone(t.same), func(p pair) bool { return t.part(p.a) != part })
}

// questions are the records of a part, or as many of them as were wanted, chosen by the seed.
func (t *truth) questions(part int) []asked {
	var list []asked
	for i, candidates := range t.opposite {
		record := int32(i)
		if t.people.Records[i].Truth != "" && t.part(record) == part && len(candidates) > 0 {
			list = append(list, asked{record, candidates})
		}
	}
	if len(list) > t.most {
		r := chance(t.seed, uint64(part)) //nolint:gosec // not negative
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		list = list[:t.most]
		slices.SortFunc(list, func(x, y asked) int { return int(x.question - y.question) })
	}
	return list
}
