package linkage

import "math"

func (q *Question) compareDates(c *Person, p *pair) {
	a, b := q.Person.DOB, c.DOB
	if a == 0 || b == 0 {
		p.lacks(inDOB)
		return
	}
	level := dateLevel(a, b)
	q.at(p, inDOB, level)
	exact := q.model.m[inDOB][dobExact] - q.born
	switch level {
	case dobExact:
		p.weight[inDOB] = exact
		return
	case dobPlaceholder:
		vague := a
		if !vague.Vague() {
			vague = b
		}
		p.weight[inDOB] = q.model.m[inDOB][level] - math.Log2(q.common.day(vague))
	}
	p.weight[inDOB] = min(p.weight[inDOB], exact-q.model.gap[inDOB])
}

// dateLevel finds how two days agree. The first of January is often given where only the year is known, or nothing at all: it
// proves little that another day stands elsewhere.
func dateLevel(a, b Date) int {
	if a == b {
		return dobExact
	}
	year, month, day := a.Year() == b.Year(), a.Month() == b.Month(), a.Day() == b.Day()
	edits := digitEdits(a, b)
	switch {
	case year && a.Month() == b.Day() && a.Day() == b.Month():
		return dobSwapped
	case year && (a.Vague() || b.Vague()):
		return dobPlaceholder
	case edits == 1 || neighbours(a, b):
		return dobEdit
	case year && day:
		return dobYearDay
	case year && month:
		return dobYearMonth
	case month && day:
		return dobMonthDay
	case year:
		return dobYear
	case edits == 2:
		return dobTwoEdits
	case a.Vague() || b.Vague():
		return dobVague
	}
	return dobDiffer
}

// neighbours are days, months and years that follow each other.
func neighbours(a, b Date) bool {
	year, month, day := b.Year()-a.Year(), b.Month()-a.Month(), b.Day()-a.Day()
	switch {
	case month == 0 && day == 0:
		return year == 1 || year == -1
	case year == 0 && day == 0:
		return month == 1 || month == -1
	case year == 0 && month == 0:
		return day == 1 || day == -1
	}
	return false
}

// digitEdits counts the digits of dates that differ, two neighbours in the other order as one.
func digitEdits(a, b Date) int {
	n := 0
	for a != b {
		if a%10 != b%10 {
			n++
			if a%10 == b/10%10 && a/10%10 == b%10 {
				a, b = a/10, b/10
			}
		}
		a, b = a/10, b/10
	}
	return n
}
