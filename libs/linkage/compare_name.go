package linkage

import "math"

// compareNames compares first and last names: as they stand, crosswise, and with other names that hold.
func (q *Question) compareNames(c *Person, p *pair) {
	first, last := q.look(q.first, c.First), q.look(q.last, c.Last)
	q.put(p, inFirst, first)
	q.put(p, inLast, last)
	if first.level == wayExact && last.level == wayExact {
		return
	}
	q.otherFirst(c, p)
	q.aliases(c, p)
	q.crosswise(c, p)
}

// put takes a verdict for a field.
func (q *Question) put(p *pair, field int, v verdict) {
	if v.level < 0 {
		p.lacks(field)
		return
	}
	p.level[field], p.weight[field] = int8(levelOf(field, int(v.level))), float64(v.weight)
}

// better takes a level of a field if it weighs more than the one so far.
func (q *Question) better(p *pair, field, level int, weight float64) {
	if p.level[field] != missing && weight > p.weight[field] {
		p.level[field], p.weight[field] = int8(level), weight
	}
}

// otherFirst finds the first name among middle names, for people who go by theirs or whose first names stand as one.
func (q *Question) otherFirst(c *Person, p *pair) {
	if p.level[inFirst] <= firstPart {
		return
	}
	m := q.model.m[inFirst]
	if c.Middle != nil && q.first != nil && !c.Middle.Missing && len(c.Middle.Whole) > 1 {
		if c.Middle.Whole == q.first.text.Whole {
			q.better(p, inFirst, firstMiddle, m[firstMiddle]-q.first.log)
		}
		if c.First != nil && runTogether(q.first.text.Whole, c.First.Whole, c.Middle.Whole) {
			q.better(p, inFirst, firstPart, m[firstPart]-math.Log2(q.common.text(Given, c.First, rare)))
		}
	}
	if q.middle != nil && c.First != nil && len(c.First.Whole) > 1 {
		if q.middle.text.Whole == c.First.Whole {
			q.better(p, inFirst, firstMiddle, m[firstMiddle]-q.middle.log)
		}
		if q.first != nil && runTogether(c.First.Whole, q.first.text.Whole, q.middle.text.Whole) {
			q.better(p, inFirst, firstPart, m[firstPart]-q.first.log)
		}
	}
}

// runTogether tells that a text is two others run together.
func runTogether(whole, front, back string) bool {
	return len(front) > 1 && len(back) > 1 && len(whole) == len(front)+len(back) && whole[:len(front)] == front && whole[len(front):] == back
}

// aliases compares names with other names that hold: the best counts, with the odds of so many tries.
func (q *Question) aliases(c *Person, p *pair) {
	tries := 0
	var first, last verdict
	first.level, last.level = missing, missing
	try := func(best *verdict, v verdict) {
		if v.level >= 0 && v.level <= waySimilar && (best.level < 0 || v.weight > best.weight) {
			*best = v
		}
	}
	for i := range c.Aliases {
		if a := &c.Aliases[i]; holds(a.From, a.Until, q.now) {
			tries++
			try(&first, q.look(q.first, a.First))
			try(&last, q.look(q.last, a.Last))
		}
	}
	for i := range q.firsts {
		tries++
		try(&first, q.look(q.firsts[i], c.First))
		try(&last, q.look(q.lasts[i], c.Last))
	}
	if tries == 0 {
		return
	}
	luck := math.Log2(float64(tries))
	if first.level >= 0 {
		q.better(p, inFirst, firstAlias, float64(first.weight)+q.model.m[inFirst][firstAlias]-q.model.m[inFirst][0]-luck)
	}
	if last.level >= 0 {
		q.better(p, inLast, lastAlias, float64(last.weight)+q.model.m[inLast][lastAlias]-q.model.m[inLast][0]-luck)
	}
}

// crosswise takes the first name for the last and the last for the first, where that agrees better. One of the two may be
// wrong beside: then only the other one is told to be swapped.
func (q *Question) crosswise(c *Person, p *pair) {
	if p.level[inFirst] == missing || p.level[inLast] == missing || p.level[inFirst] <= firstPart || p.level[inLast] <= lastPart {
		return
	}
	first, last := q.look(q.crossFirst, c.Last), q.look(q.crossLast, c.First)
	one, two := first.level >= 0 && first.level <= wayEdit, last.level >= 0 && last.level <= wayEdit
	switch {
	case one && two:
		// What agrees less than exactly counts as much less as it would on its own.
		both := q.swap(q.first.log+q.last.log, q.crossFirst.log+q.crossLast.log)
		both += float64(first.weight) - (q.model.m[inLast][0] - q.crossFirst.log)
		both += float64(last.weight) - (q.model.m[inFirst][0] - q.crossLast.log)
		if both > p.weight[inFirst]+p.weight[inLast] {
			p.level[inFirst], p.weight[inFirst] = firstSwapped, both-float64(last.weight)
			p.level[inLast], p.weight[inLast] = lastSwapped, float64(last.weight)
		}
	case one && p.level[inLast] == lastDiffer:
		q.better(p, inFirst, firstSwapped, q.swap(q.first.log, q.crossFirst.log)+float64(first.weight)-(q.model.m[inLast][0]-q.crossFirst.log))
	case two && p.level[inFirst] == firstDiffer:
		q.better(p, inLast, lastSwapped, q.swap(q.last.log, q.crossLast.log)+float64(last.weight)-(q.model.m[inFirst][0]-q.crossLast.log))
	}
}

// swap weighs a name that stands where another one does, by the logarithms of how common it is in the two places. As with
// slips, it is in the rarer place at least as often as it is swapped into it.
func (q *Question) swap(here, there float64) float64 {
	chance := q.model.m[inFirst][firstSwapped]
	rate, a, b := math.Exp2(chance), math.Exp2(here), math.Exp2(there)
	return chance - math.Log2(min(a+rate*b, b+rate*a))
}

// compareMiddle compares middle names, of which many records only have the initial.
func (q *Question) compareMiddle(c *Person, p *pair) {
	v := q.look(q.middle, c.Middle)
	if v.level < 0 {
		p.lacks(inMiddle)
		return
	}
	m := q.model
	level := levelOf(inMiddle, int(v.level))
	q.at(p, inMiddle, level)
	if level == middleExact {
		p.weight[inMiddle] = m.m[inMiddle][level] - q.middle.log
	}
}

func (q *Question) compareSuffix(c *Person, p *pair) {
	if q.Person.Suffix == nil || c.Suffix == nil || q.Person.Suffix.Missing || c.Suffix.Missing {
		p.lacks(inSuffix)
		return
	}
	q.at(p, inSuffix, boolean(generationOf(q.Person.Suffix.Whole) == generationOf(c.Suffix.Whole)))
}

// generationOf makes one of suffixes that say the same: a Jr is the second of his name, a Sr the first.
func generationOf(suffix string) string {
	switch suffix {
	case "jr":
		return "2"
	case "sr":
		return "1"
	}
	return suffix
}

func boolean(agree bool) int {
	if agree {
		return same
	}
	return differ
}

// compareSexes compares sexes at birth. Where first names agree most of the sex is told already.
func (q *Question) compareSexes(c *Person, p *pair) {
	p.lacks(inSex)
	p.lacks(inSexNamed)
	a, b := q.Person.Sex, c.Sex
	if a == SexUnknown || b == SexUnknown || a != b && (a > Male || b > Male) {
		return
	}
	field := inSex
	if l := p.level[inFirst]; l >= 0 && l <= firstMiddle {
		field = inSexNamed
	}
	q.at(p, field, boolean(a == b))
}
