package linkage

import "math"

// Odds are the most that something about a candidate is worth, in bits: should its record be a careful one, and should it be a
// careless one. Carelessness makes fields depend on each other, but of either kind of records they do not, so there they add up.
type Odds struct{ Careful, Careless float64 }

// And are the odds of two things that both hold.
func (o Odds) And(p Odds) Odds { return Odds{o.Careful + p.Careful, o.Careless + p.Careless} }

// Or are the odds of two things of which one holds.
func (o Odds) Or(p Odds) Odds { return Odds{max(o.Careful, p.Careful), max(o.Careless, p.Careless)} }

// Never are the odds of what cannot be.
func Never() Odds { return Odds{math.Inf(-1), math.Inf(-1)} }

// Bound tells the most that candidates of a question can score, from what is known of them without their records.
type Bound struct {
	q      *Question
	days   [dobDiffer + 1]Odds
	needed float64
}

// Bound prepares to tell who can have some bits by Score.
func (q *Question) Bound(bits float64) Bound {
	b := Bound{q: q, needed: (bits-q.model.shift)/q.model.scale - q.prior}
	if q.Person.DOB == 0 {
		return b
	}
	m := q.model
	exact := m.m[inDOB][dobExact] - q.born
	b.days[dobExact] = q.odds(inDOB, dobExact, exact)
	for l := dobSwapped; l <= dobDiffer; l++ {
		b.days[l] = q.odds(inDOB, l, min(m.weight[inDOB][l], exact-m.gap[inDOB]))
	}
	first := q.Person.DOB/10000*10000 + 1_01
	b.days[dobPlaceholder] = q.odds(inDOB, dobPlaceholder, min(m.m[inDOB][dobPlaceholder]-math.Log2(q.common.day(first)), exact-m.gap[inDOB]))
	for l := dobDiffer - 1; l > dobExact; l-- { // of the other centuries' days with the same digits, which agree less
		b.days[l] = b.days[l].Or(b.days[l+1])
	}
	return b
}

// odds are those of a field at a level with a weight.
func (q *Question) odds(field, level int, weight float64) Odds {
	s := &q.model.slips[field][level]
	return Odds{weight + s[0], weight + s[1]}
}

func (q *Question) usual(field, level int) Odds {
	return q.odds(field, level, q.model.weight[field][level])
}

// Reaches tells whether odds of all that a candidate agrees in suffice.
func (b *Bound) Reaches(o Odds) bool {
	t := b.q.model
	few, many := t.careful+o.Careful, t.careless+o.Careless
	most := max(few, many)
	return most+1 >= b.needed && (most >= b.needed || t.sums.add(few, many) >= b.needed)
}

// Most is the most bits that odds of all that a candidate agrees in come to by Score.
func (b *Bound) Most(o Odds) float64 {
	t := b.q.model
	return (t.sums.add(t.careful+o.Careful, t.careless+o.Careless)+b.q.prior)*t.scale + t.shift
}

// DayOdds are those of a day of birth, by what a candidate's has to be like. None is less than one that agrees less.
type DayOdds struct{ Same, Swapped, Placeholder, Edit, Year, TwoEdits, Vague, Differ Odds }

// Days are the odds of the day of birth.
func (b *Bound) Days() DayOdds {
	d := &b.days
	return DayOdds{d[dobExact], d[dobSwapped], d[dobPlaceholder], d[dobEdit], d[dobYear], d[dobTwoEdits], d[dobVague], d[dobDiffer]}
}

// Born are the odds of a day of birth of whose year the last two digits are known.
func (b *Bound) Born(year, month, day int) Odds {
	a := b.q.Person.DOB
	if a == 0 {
		return Odds{}
	}
	of := func(century int) Odds {
		return b.days[dateLevel(a, Date((century*100+year)*1_0000+month*100+day))] //nolint:gosec // a day
	}
	o := of(a.Year() / 100)
	switch year - a.Year()%100 { // the years about a century's end
	case 99:
		o = o.Or(of(a.Year()/100 - 1))
	case -99:
		o = o.Or(of(a.Year()/100 + 1))
	}
	return o
}

// Company is the most that Settle adds to somebody's bits.
func (q *Question) Company() float64 { return q.company(math.Inf(-1)) }
