package linkage

import "strings"

// nicknames are the groups that each name is in. Whose groups meet are nicknames of one another.
//
// A group is a name with those of its short forms that begin alike: {elizabeth, bess, beth, betty}, {elizabeth, lib, liz},
// {elizabeth, eliza}. So Bess is Beth and each is Elizabeth, but nothing goes farther: Pat is Patrick and Patricia, who are
// not each other, and Bill, for whom the table has both Robert and William, makes no Robert of William.
func nicknames() map[string][]uint16 {
	groups := map[string]uint16{} // by head and beginning
	of := make(map[string][]uint16, 2500)
	add := func(name string, group uint16) {
		name = Fold(name)
		if list := of[name]; len(list) == 0 || list[len(list)-1] != group {
			of[name] = append(list, group)
		}
	}
	next := uint16(0)
	lines("nicknames.csv.gz", func(line string) {
		head, rest, _ := strings.Cut(line, ",")
		relationship, short, _ := strings.Cut(rest, ",")
		if relationship != "has_nickname" || len(short) < 2 {
			return
		}
		key := head + "," + short[:2]
		group, known := groups[key]
		if !known {
			next++
			group = next
			groups[key] = group
			add(head, group)
		}
		add(short, group)
	})
	lines("hypocoristics.txt", func(line string) {
		next++
		for name := range strings.FieldsSeq(line) {
			add(name, next)
		}
	})
	return of
}
