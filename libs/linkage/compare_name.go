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
	one, oneAgrees := q.cross(q.first, q.crossFirst, c.Last)
	two, twoAgrees := q.cross(q.crossLast, q.last, c.First)
	weight := &q.model.weight
	before := p.weight[inFirst] + p.weight[inLast]
	wrong := min(weight[inFirst][firstDiffer], weight[inLast][lastDiffer]) // of a name that agrees in neither place
	switch {
	case oneAgrees && twoAgrees:
		if swap := q.swap(one.given+two.family, two.given+one.family) + one.slip + two.slip; swap > before {
			p.level[inFirst], p.weight[inFirst] = firstSwapped, swap/2
			p.level[inLast], p.weight[inLast] = lastSwapped, swap/2
		}
	case oneAgrees || twoAgrees:
		if twoAgrees {
			one = two
		}
		if swap := q.swap(one.given, one.family) + one.slip + wrong; swap > before {
			q.at(p, inLast, lastDiffer)
			p.level[inFirst], p.weight[inFirst] = firstSwapped, swap-p.weight[inLast]
		}
	}
}

// crossed is a name that stands among first names in one record and among last names in the other: how common it is there, and
// what a slip in it takes away. All are logarithms to base two.
type crossed struct{ given, family, slip float64 }

// cross compares a name, asked of both places, with one of the other place.
func (q *Question) cross(given, family *asked, t *Text) (crossed, bool) {
	out := crossed{given: given.log, family: family.log}
	asked := given
	if given == q.first {
		asked = family
	}
	switch v := q.look(asked, t); v.level {
	case wayExact:
	case wayEdit: // as common as the commoner of the two
		out.given = max(out.given, math.Log2(q.common.text(Given, t, rare)))
		out.family = max(out.family, math.Log2(q.common.text(Family, t, rare)))
		out.slip = q.model.m[inFirst][firstEdit] - q.model.m[inFirst][firstExact]
	default:
		return crossed{}, false
	}
	return out, true
}

// swap weighs names that stand in each other's place, by how common they are as they stand here and as they stand there. As
// with slips, they stand in the rarer way at least as often as they are swapped into it.
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
