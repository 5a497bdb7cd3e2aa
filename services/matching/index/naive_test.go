package index

import (
	"cmp"
	"slices"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// naive is what an index is held against: demographics in a map, looked at one by one.
type naive map[int64]linkage.Demographics

func (n naive) apply(people []linkage.Demographics) {
	for _, d := range people {
		if d.Deleted {
			delete(n, d.ID)
		} else {
			n[d.ID] = d
		}
	}
}

// exact are the ids of those of whom all is true that a question gives.
func (n naive) exact(q linkage.Demographics) []int64 {
	ids := []int64{}
	for id, d := range n {
		if saysAll(d, q) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func saysAll(d, q linkage.Demographics) bool {
	same := func(has, asked string) bool { return asked == "" || linkage.Fold(has) == linkage.Fold(asked) }
	all := same(d.FirstName, q.FirstName) && same(d.MiddleName, q.MiddleName) && same(d.LastName, q.LastName) && same(d.Suffix, q.Suffix) &&
		same(d.DOB, q.DOB) && same(d.SSNLast4, q.SSNLast4) &&
		(q.SexAtBirth == "" || linkage.ParseSex(d.SexAtBirth) == linkage.ParseSex(q.SexAtBirth))
	for _, asked := range q.Addresses {
		all = all && asked == (linkage.Address{}) || all && slices.ContainsFunc(d.Addresses, func(a linkage.Address) bool {
			return same(a.Line1, asked.Line1) && same(a.City, asked.City) && same(a.State, asked.State) && same(a.PostalCode, asked.PostalCode)
		})
	}
	for _, asked := range q.Contacts {
		all = all && slices.ContainsFunc(d.Contacts, func(c linkage.Contact) bool { return c.System == asked.System && reaches(c) == reaches(asked) })
	}
	for _, asked := range q.Identifiers {
		all = all && slices.ContainsFunc(d.Identifiers, func(i linkage.Identifier) bool {
			return same(i.Value, asked.Value) && (i.From == 0 || i.From <= now) && (i.Until == 0 || now < i.Until)
		})
	}
	return all
}

// reaches is what two contacts that are the same have in common: digits, or a folded address without what a host leaves out.
func reaches(c linkage.Contact) string {
	if c.System == "email" {
		if normal := linkage.ParseEmail(c.Value); normal != "" && linkage.Fold(normal) != linkage.Fold(c.Value) {
			return linkage.Fold(c.Value)
		}
		return linkage.Fold(c.Value)
	}
	return dialled(&c)
}

// find are the bits of everybody, by the same model and frequencies: each alone, and settled with all others.
func (n naive) find(parser *linkage.Parser, q Query) (alone, settled map[int64]float64) {
	asked := parser.Person(&q.Person, nil)
	question := q.Model.Ask(&asked, n.frequencies(parser), q.Now)
	var ids []int64
	var all []float64
	for id, d := range n {
		p := parser.Person(&d, nil)
		ids, all = append(ids, id), append(all, question.Score(&p))
	}
	alone, settled = map[int64]float64{}, map[int64]float64{}
	for i, id := range ids {
		alone[id] = all[i]
	}
	question.Settle(all)
	for i, id := range ids {
		settled[id] = all[i]
	}
	return alone, settled
}

// counted are frequencies, counted.
type counted struct {
	people        int
	firsts, lasts map[string]int
	births        map[linkage.Date]int
	postals       map[string]int
}

func (n naive) frequencies(parser *linkage.Parser) counted {
	c := counted{len(n), map[string]int{}, map[string]int{}, map[linkage.Date]int{}, map[string]int{}}
	for _, d := range n {
		p := parser.Person(&d, nil)
		if day := givenDay(d.DOB); day != 0 {
			c.births[day]++
		}
		firsts, lasts := map[string]bool{}, map[string]bool{}
		words(firsts, p.First, true)
		words(lasts, p.Last, true)
		for _, a := range p.Aliases {
			words(firsts, a.First, false)
			words(lasts, a.Last, false)
		}
		postals := map[string]bool{}
		for _, a := range p.Addresses {
			if a.Postal != nil && !a.Postal.Missing {
				postals[a.Postal.Whole] = true
			}
		}
		for w := range postals {
			c.postals[w]++
		}
		for w := range firsts {
			c.firsts[w]++
		}
		for w := range lasts {
			c.lasts[w]++
		}
	}
	return c
}

func words(to map[string]bool, t *linkage.Text, own bool) {
	if t == nil {
		return
	}
	if own {
		to[t.Fold] = true
	}
	if !t.Missing {
		to[t.Whole] = true
	}
	for _, p := range t.Parts {
		to[p.Text] = true
		if p.Alt != "" {
			to[p.Alt] = true
		}
	}
}

func (c counted) People() int             { return c.people }
func (c counted) Born(d linkage.Date) int { return c.births[d] }
func (c counted) Bearers(kind linkage.Kind, part string) int {
	switch kind {
	case linkage.Given:
		return c.firsts[part]
	case linkage.Family:
		return c.lasts[part]
	case linkage.Postal, linkage.Plain:
		return c.postals[part]
	default:
		return 0
	}
}

// share tells whether two have in common what no ordinary error takes from both: they must be found.
func share(a, b linkage.Demographics) bool {
	same := func(x, y string) bool { return x != "" && x == y }
	return same(a.DOB, b.DOB) && linkage.ParseDate(a.DOB) != 0 ||
		same(strings.ToLower(a.FirstName), strings.ToLower(b.FirstName)) && same(strings.ToLower(a.LastName), strings.ToLower(b.LastName)) &&
			!linkage.Parse(linkage.Given, a.FirstName).Missing && !linkage.Parse(linkage.Family, a.LastName).Missing
}

// ranking are the ids of those who have some bits at least, the best first.
func ranking(bits map[int64]float64, least float64) []int64 {
	var ids []int64
	for id, b := range bits {
		if b >= least {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b int64) int {
		if bits[a] != bits[b] {
			return cmp.Compare(bits[b], bits[a])
		}
		return cmp.Compare(a, b)
	})
	return ids
}
