package index

import "fmt"

// Why tells how a search went.
func (x *Index) Why(q Query) string {
	f := x.finders.Get().(*finder)
	defer x.finders.Put(f)
	x.mu.RLock()
	defer x.mu.RUnlock()
	f.texts.clear()
	x.parser.Fill(&f.person, &q.Person, f.text)
	f.candidates(&q, bitsOf(q.MinScore))
	s := &f.search
	w := &s.worth
	out := fmt.Sprintf("truncated %v needed %.1f first %.1f last %.1f birth %.1f middle %.0f found %d groups %d likely %d\n", s.truncated, w.needed, w.first, w.last, w.birth, w.middle, len(s.tally.found), len(s.groups), len(s.likely))
	for _, a := range s.asked {
		out += fmt.Sprintf("  rule %d n %d unread %d\n", a.key.rule, a.n, s.unread[a.key.rule])
	}
	count := map[uint64]int{}
	kept := map[uint64]int{}
	for i, t := range s.tally.found {
		count[t.lists]++
		if s.group(t.lists).most(w, s.sketches[i]) >= float32(w.needed) {
			kept[t.lists]++
		}
	}
	for _, g := range s.groups {
		rs := ""
		for r := rule(1); r < rules; r++ {
			if g.lists&(1<<r) != 0 {
				rs += fmt.Sprint(" ", r)
			}
		}
		out += fmt.Sprintf("  group%s: sum %.1f n %d kept %d\n", rs, g.shared, count[g.lists], kept[g.lists])
	}
	return out
}
