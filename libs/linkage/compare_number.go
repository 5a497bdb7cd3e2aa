package linkage

func (q *Question) compareNumbers(c *Person, p *pair) {
	p.lacks(inSSN)
	if a, b := q.Person.SSNLast4, c.SSNLast4; a >= 0 && b >= 0 {
		q.at(p, inSSN, ssnLevel(Phone(a), Phone(b)))
	}
	p.lacks(inIdentifier)
	best, tries := identifierDiffer+1, 0
	for i := range q.Person.Identifiers {
		a := &q.Person.Identifiers[i]
		if !holds(a.From, a.Until, q.now) {
			continue
		}
		for j := range c.Identifiers {
			b := &c.Identifiers[j]
			if !holds(b.From, b.Until, q.now) {
				continue
			}
			tries++
			best = min(best, identifierLevel(a, b))
		}
	}
	if best <= identifierDiffer {
		q.at(p, inIdentifier, best)
		q.luck(p, tries, inIdentifier)
	}
}

func ssnLevel(a, b Phone) int {
	switch {
	case a == b:
		return ssnExact
	case phoneEdits(a, b):
		return ssnEdit
	}
	return ssnDiffer
}

// identifierLevel compares numbers. Those of two systems differ always, and say nothing: only the same value does.
func identifierLevel(a, b *Number) int {
	comparable := a.System == b.System || a.System == 0 || b.System == 0
	switch {
	case a.Value == b.Value && a.System == b.System && a.System != 0:
		return identifierExact
	case a.Value == b.Value:
		return identifierValue
	case !comparable:
		return identifierDiffer + 1
	case oneEdit(a.Value, b.Value):
		if otherEnding(a.Value, b.Value) {
			return identifierEnding
		}
		return identifierEdit
	}
	return identifierDiffer
}

// otherEnding tells that only the last two signs differ: numbers given one after the other, or to the members of a family.
func otherEnding(a, b string) bool {
	return len(a) == len(b) && len(a) > 2 && a[:len(a)-2] == b[:len(b)-2]
}
