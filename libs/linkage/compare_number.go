package linkage

func (q *Question) compareNumbers(c *Person, p *pair) {
	p.lacks(inSSN)
	if a, b := q.Person.SSNLast4, c.SSNLast4; a >= 0 && b >= 0 {
		q.at(p, inSSN, ssnLevel(Phone(a), Phone(b)))
	}
	q.compareIdentifiers(c, p)
}

// compareIdentifiers compares the numbers that hold: those of people, and those that a household may share.
func (q *Question) compareIdentifiers(c *Person, p *pair) {
	p.lacks(inIdentifier)
	p.lacks(inMember)
	own, member, tries := identifierDiffer+1, memberDiffer+1, 0
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
			if (a.System|b.System)&1 == 0 {
				own = min(own, identifierLevel(a, b))
			} else {
				member = min(member, memberLevel(a, b))
			}
		}
	}
	if own <= identifierDiffer {
		q.at(p, inIdentifier, own)
		q.luck(p, tries, inIdentifier)
	}
	if member <= memberDiffer {
		q.at(p, inMember, member)
		q.luck(p, tries, inMember)
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
	switch {
	case a.Value == b.Value && a.System == b.System && a.System != 0:
		return identifierExact
	case a.Value == b.Value:
		return identifierValue
	case !comparable(a, b):
		return identifierDiffer + 1
	case oneEdit(a.Value, b.Value):
		if otherEnding(a.Value, b.Value) && !farApart(a.Value[len(a.Value)-2:], b.Value[len(b.Value)-2:]) {
			return identifierEnding
		}
		return identifierEdit
	}
	return identifierDiffer
}

// memberLevel compares numbers that households share. Where the members are told apart, it is by the last signs.
func memberLevel(a, b *Number) int {
	switch {
	case !comparable(a, b):
		return memberDiffer + 1
	case a.Value == b.Value:
		return memberExact
	case otherEnding(a.Value, b.Value):
		return memberEnding
	}
	return memberDiffer
}

// comparable tells whether numbers are of one system, as far as is known.
func comparable(a, b *Number) bool {
	return a.System == b.System || a.System == 0 || b.System == 0
}

// otherEnding tells that only the last two signs differ: numbers given one after the other, or to the members of a family.
func otherEnding(a, b string) bool {
	return len(a) == len(b) && len(a) > 2 && a[:len(a)-2] == b[:len(b)-2]
}

// farApart tells that two digits are further from two others than a family's numbers given one after the other: as far as any
// are that have changed places, which differ by nine at least.
func farApart(a, b string) bool {
	x, first := twoDigits(a)
	y, second := twoDigits(b)
	return first && second && (x-y >= 9 || y-x >= 9)
}

func twoDigits(s string) (n int, ok bool) {
	tens, ones := int(s[0])-'0', int(s[1])-'0'
	return 10*tens + ones, tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9
}
