package linkage

import (
	"math/bits"
	"strings"
)

func (q *Question) comparePhones(c *Person, p *pair) {
	p.lacks(inPhone)
	best := phoneDiffer + 1
	for _, a := range q.Person.Phones {
		for _, b := range c.Phones {
			best = min(best, phoneLevel(a, b))
		}
	}
	if best <= phoneDiffer {
		q.at(p, inPhone, best)
		q.luck(p, len(q.Person.Phones)*len(c.Phones), inPhone)
	}
}

func phoneLevel(a, b Phone) int {
	const local = 10_000_000 // the last seven digits
	switch {
	case a == b:
		return phoneExact
	case a%local == b%local:
		return phoneLocal
	case phoneEdits(a, b):
		return phoneEdit
	}
	return phoneDiffer
}

// phoneEdits tells that one digit differs, or two neighbours are swapped.
func phoneEdits(a, b Phone) bool {
	n := 0
	for a != b && n < 2 {
		if a%10 != b%10 {
			n++
			if a%10 == b/10%10 && a/10%10 == b%10 {
				a, b = a/10, b/10
			}
		}
		a, b = a/10, b/10
	}
	return n == 1
}

func (q *Question) compareEmails(c *Person, p *pair) {
	p.lacks(inEmail)
	best := emailDiffer + 1
	for _, a := range q.Person.Emails {
		for _, b := range c.Emails {
			best = min(best, emailLevel(a, b))
		}
	}
	if best <= emailDiffer {
		q.at(p, inEmail, best)
		q.luck(p, len(q.Person.Emails)*len(c.Emails), inEmail)
	}
}

func emailLevel(a, b string) int {
	switch {
	case a == b:
		return emailExact
	case oneEdit(a, b):
		return emailEdit
	}
	x, _, _ := strings.Cut(a, "@")
	y, _, _ := strings.Cut(b, "@")
	if x == y && x != "" {
		return emailLocal
	}
	return emailDiffer
}

// logOf is the logarithm of small counts to base two.
func logOf(n int) float64 {
	if n <= 1 {
		return 0
	}
	return float64(bits.Len(uint(n - 1))) // rounded up: cheap, and on the careful side
}
