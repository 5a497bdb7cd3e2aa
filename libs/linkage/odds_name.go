package linkage

import "math"

// NameOdds are those of a name, by what a candidate's has to be like.
type NameOdds struct {
	Same     Odds // it has a word of the question's
	Edit     Odds // one edit makes it, or a word of it, the question's
	Similar  Odds
	Nickname Odds
	Sound    Odds
	Initial  Odds
	Middle   Odds // it is the other's middle name
	Together Odds // together with a middle name it is the other's first name
	Other    Odds // nothing of these
	Missing  Odds // there is none
}

// Any are the odds of a name of which nothing is known but that it has no word of the question's.
func (n *NameOdds) Any() Odds {
	return n.Edit.Or(n.Similar).Or(n.Nickname).Or(n.Sound).Or(n.Initial).Or(n.Middle).Or(n.Together).Or(n.Other).Or(n.Missing)
}

// How a candidate's sex at birth is to the question's.
const (
	SexSame = iota
	SexOther
	SexMissing
	Sexes
)

// First are the odds of the first name.
func (q *Question) First(splits []Split) NameOdds {
	m := q.model
	n := q.names(inFirst, q.first, q.firsts)
	if q.first != nil {
		n.Middle = q.odds(inFirst, firstMiddle, max(m.m[inFirst][firstMiddle]-q.first.log, m.weight[inFirst][firstDiffer]))
		for _, s := range splits {
			n.Together = n.Together.Or(q.odds(inFirst, firstPart, m.m[inFirst][firstPart]-s.log))
		}
		if q.middle != nil {
			n.Middle = n.Middle.Or(q.odds(inFirst, firstMiddle, m.m[inFirst][firstMiddle]-q.middle.log))
		}
	}
	return n
}

// Sex are the odds of a sex where first names agree, and where they do not.
func (q *Question) Sex(sex int) (named, alone Odds) {
	return q.sexed(inSexNamed, sex), q.sexed(inSex, sex)
}

// With are the odds of a first name and of a sex together.
func (n NameOdds) With(named, alone Odds) NameOdds {
	for _, o := range [...]*Odds{&n.Same, &n.Edit, &n.Similar, &n.Nickname, &n.Middle, &n.Together} {
		*o = o.And(named)
	}
	for _, o := range [...]*Odds{&n.Sound, &n.Initial, &n.Other, &n.Missing} {
		*o = o.And(alone)
	}
	return n
}

// Split is a first name that somebody has who may have another one with it, so that the question's is both run together: First
// and Middle; or the question's first and middle name run together, which stand in First.
type Split struct {
	First, Middle string
	log           float64
}

// Splits appends those of the question's first name.
func (q *Question) Splits(to []Split) []Split {
	if q.first == nil {
		return to
	}
	whole := q.first.text.Whole
	for at := 2; at+2 <= len(whole); at++ {
		if q.common.of == nil || q.common.of.Bearers(Given, whole[:at]) > 0 {
			to = append(to, Split{whole[:at], whole[at:], math.Log2(q.common.name(Given, whole[:at], rare))})
		}
	}
	if q.middle != nil {
		if both := whole + q.middle.text.Whole; q.common.of == nil || q.common.of.Bearers(Given, both) > 0 {
			to = append(to, Split{both, "", q.first.log})
		}
	}
	return to
}

func (q *Question) sexed(field, sex int) Odds {
	switch sex {
	case SexSame:
		return q.usual(field, same)
	case SexOther:
		return q.usual(field, differ)
	}
	return Odds{}
}

// Last are the odds of the last name.
func (q *Question) Last() NameOdds { return q.names(inLast, q.last, q.lasts) }

func (q *Question) names(field int, own *asked, aliases []*asked) (n NameOdds) {
	if own == nil {
		return n
	}
	level, alias := firstAlias, q.model.m[inFirst][firstAlias]-q.model.m[inFirst][0]
	if field == inLast {
		level, alias = lastAlias, q.model.m[inLast][lastAlias]-q.model.m[inLast][0]
	}
	of := func(way int) Odds {
		weight := q.most(own, way)
		o := q.odds(field, levelOf(field, way), weight)
		for _, a := range aliases {
			if a != nil {
				weight = max(weight, q.most(a, way))
			}
		}
		return o.Or(q.odds(field, level, weight+alias))
	}
	n.Same = of(wayExact).Or(of(wayPart))
	n.Edit, n.Similar, n.Nickname = of(wayEdit), of(waySimilar), Never()
	if field == inFirst {
		n.Nickname = of(wayNickname)
	}
	n.Middle, n.Together = Never(), Never()
	n.Sound = q.odds(field, levelOf(field, waySound), q.most(own, waySound))
	n.Initial, n.Other = q.usual(field, levelOf(field, wayInitial)), q.usual(field, levelOf(field, wayDiffer))
	return n
}

// most is the most that a name can be worth that agrees in a way with one of the question: see worth.
func (q *Question) most(a *asked, way int) float64 {
	m := q.model
	level := levelOf(a.field, way)
	weight := m.weight[a.field][level]
	if len(a.text.Whole) == 1 { // an initial
		return m.weight[a.field][levelOf(a.field, wayDiffer)]
	}
	switch way {
	case wayExact:
		weight = m.m[a.field][0] - a.log
	case wayPart:
		rarity := 0.0
		for i := range a.text.Parts {
			rarity = min(rarity, a.rarity[i])
		}
		weight = m.m[a.field][level] - rarity
	default:
		if m.spread[a.field][level] == 0 {
			break
		}
		other := q.common.least(unheard) // the rarer it is, the likelier it is a slip
		chance := m.m[a.field][level] - m.spread[a.field][level]
		slip := math.Exp2(chance)
		weight = chance - math.Log2(min(a.share+slip*other, other+slip*a.share))
		exact := m.m[a.field][0] - math.Log2(max(a.share, other)+q.common.unit()*(rare-unheard))
		weight = min(weight, exact-m.gap[a.field])
	}
	return max(weight, m.weight[a.field][levelOf(a.field, wayDiffer)])
}

// least is no more than the share of any name.
func (s *commonness) least(unseen float64) float64 {
	const parts = 1 << (2 * (MaxParts - 1))
	if s.of == nil {
		return s.by.Floor
	}
	return max(unseen*s.unit()/parts, s.by.Floor)
}

// Swapped are the odds of first and last name that have changed places, and of one that stands in the other's place while the
// other is a third.
func (q *Question) Swapped() (both, one Odds) {
	if q.first == nil || q.last == nil {
		return Never(), Never()
	}
	m := q.model
	slip := max(0, m.m[inFirst][firstEdit]-m.m[inFirst][firstExact])
	swap := q.swap(q.first.log+q.last.log, q.crossLast.log+q.crossFirst.log) + 2*slip
	both = q.odds(inFirst, firstSwapped, swap/2).And(q.odds(inLast, lastSwapped, swap/2))
	single := max(q.swap(q.first.log, q.crossFirst.log), q.swap(q.crossLast.log, q.last.log)) + slip
	wrong := min(m.weight[inFirst][firstDiffer], m.weight[inLast][lastDiffer])
	at := m.weight[inLast][lastDiffer]
	one = q.odds(inFirst, firstSwapped, single+wrong-at).And(q.odds(inLast, lastDiffer, at))
	return both, one
}

// Middle are the odds of a middle name: one that begins as the question's does; any other; of no middle name they are none.
func (q *Question) Middle() (alike, other Odds) {
	if q.middle == nil {
		return alike, other
	}
	other = q.usual(inMiddle, middleSimilar).Or(q.usual(inMiddle, middleDiffer))
	exact := q.odds(inMiddle, middleExact, max(q.model.m[inMiddle][middleExact]-q.middle.log, q.model.weight[inMiddle][middleDiffer]))
	alike = other.Or(q.usual(inMiddle, middleInitial))
	if len(q.middle.text.Whole) == 1 {
		return alike, q.usual(inMiddle, middleDiffer)
	}
	alike = alike.Or(exact)
	if len(q.middle.text.Parts) > 1 { // in another order
		other = alike
	}
	return alike, other
}
