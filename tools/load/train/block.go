package train

import (
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// pass is one way of looking for pairs of one person: records that have a key in common.
type pass struct {
	name string
	keys func(p *linkage.Person) []string
	uses func(field string) bool // whether a field can be learnt from its pairs
}

// passes are those that EM learns from. Each asks for a first name or a date of birth to agree, which tells the members of a
// household apart, and does not learn what it looks by. Twins come where last names and dates of birth agree, father and son
// where names do: what a household shares would pass them off as one person, and is not looked at there.
func passes() []pass {
	personal := func(learnt ...string) func(string) bool {
		own := slices.Concat(learnt, []string{"middleName", "suffix", "sexAtBirth", "sexAtBirth given firstName", "last4Ssn"})
		return func(field string) bool { return slices.Contains(own, field) }
	}
	return []pass{
		{
			"first name and date of birth",
			func(p *linkage.Person) []string { return joined(sounds(p.First), day(p.DOB)) },
			func(field string) bool { return field != "firstName" && field != "dob" },
		},
		{
			"first and last name",
			func(p *linkage.Person) []string { return joined(sounds(p.First), sounds(p.Last)) },
			personal("dob"),
		},
		{
			"last name and date of birth",
			func(p *linkage.Person) []string { return joined(sounds(p.Last), day(p.DOB)) },
			personal("firstName"),
		},
	}
}

// wide is the passes that find whom a record is held against in a back-test: whoever could score high.
func wide() []pass {
	all := passes()
	more := []func(p *linkage.Person) []string{
		func(p *linkage.Person) []string { return joined(sounds(p.First), year(p.DOB), postals(p)) },
		func(p *linkage.Person) []string { return joined(sounds(p.Last), year(p.DOB)) },
		func(p *linkage.Person) []string { return joined(sounds(p.Last), streets(p)) },
		func(p *linkage.Person) []string { return joined(day(p.DOB), postals(p)) },
		func(p *linkage.Person) []string { return joined(sounds(p.First), lastFour(p)) },
		func(p *linkage.Person) []string { return joined(day(p.DOB), lastFour(p)) },
		phones, emails, identifiers,
	}
	for _, keys := range more {
		all = append(all, pass{keys: keys})
	}
	return all
}

// sounds are how the words of a name sound; where that is not known, the words.
func sounds(t *linkage.Text) []string {
	if t == nil || t.Missing {
		return nil
	}
	var out []string
	for i := range t.Parts {
		if sound := t.Parts[i].Sound; sound != "" {
			out = append(out, sound)
		} else {
			out = append(out, t.Parts[i].Text)
		}
	}
	return out
}

func day(d linkage.Date) []string {
	if d == 0 {
		return nil
	}
	return []string{strconv.Itoa(int(d))}
}

func year(d linkage.Date) []string {
	if d == 0 {
		return nil
	}
	return []string{strconv.Itoa(d.Year())}
}

func lastFour(p *linkage.Person) []string {
	if p.SSNLast4 < 0 {
		return nil
	}
	return []string{strconv.Itoa(int(p.SSNLast4))}
}

func postals(p *linkage.Person) (out []string) {
	for i := range p.Addresses {
		if postal := p.Addresses[i].Postal; postal != nil && !postal.Missing {
			out = append(out, postal.Whole)
		}
	}
	return out
}

func streets(p *linkage.Person) (out []string) {
	for i := range p.Addresses {
		if a := &p.Addresses[i]; a.Line != nil && !a.Line.Missing && a.House != "" {
			out = append(out, a.House+" "+a.Line.Whole)
		}
	}
	return out
}

func phones(p *linkage.Person) (out []string) {
	for _, phone := range p.Phones {
		out = append(out, strconv.FormatUint(uint64(phone), 10))
	}
	return out
}

func emails(p *linkage.Person) []string { return p.Emails }

func identifiers(p *linkage.Person) (out []string) {
	for _, n := range p.Identifiers {
		out = append(out, strconv.FormatUint(n.System, 36)+" "+n.Value)
	}
	return out
}

// joined is every combination of one text of each list; none where a list is empty.
func joined(lists ...[]string) []string {
	out := []string{""}
	for _, list := range lists {
		var longer []string
		for _, head := range out {
			for _, tail := range list {
				longer = append(longer, head+"\x00"+tail)
			}
		}
		out = longer
	}
	return out
}

// pair is two records by their places, the lower first.
type pair struct{ a, b int32 }

// The bounds of a pass. A key that more records have says little, and its pairs grow with their square.
const (
	mostInBlock = 60
	mostPairs   = 300_000
)

// pairsOf are the pairs that a pass finds, each once, in one order. Of too many the seed chooses.
func (p *People) pairsOf(one pass, seed uint64) []pair {
	blocks := map[string][]int32{}
	for i := range p.persons {
		keys := one.keys(&p.persons[i])
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			blocks[key] = append(blocks[key], int32(i))
		}
	}
	found := map[pair]bool{}
	for _, block := range blocks {
		if len(block) > mostInBlock {
			continue
		}
		for x := range block {
			for y := range x {
				found[pair{block[y], block[x]}] = true
			}
		}
	}
	list := slices.SortedFunc(maps.Keys(found), comparePairs)
	if len(list) > mostPairs {
		r := chance(seed, hash(one.name))
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		list = list[:mostPairs]
		slices.SortFunc(list, comparePairs)
	}
	return list
}

func comparePairs(x, y pair) int {
	if x.a != y.a {
		return int(x.a - y.a)
	}
	return int(x.b - y.b)
}

func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return h.Sum64()
}
