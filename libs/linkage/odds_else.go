package linkage

// The fields besides names, birth and sex of which it can be looked up who has the same.
const (
	AtDoor = iota // house and street
	AtPostal
	AtPhone
	AtEmail
	AtSSN
	AtNumber
	Places
)

// Elsewhere are the odds of such a field should a candidate have the same as the question, and the most should it not.
func (q *Question) Elsewhere(at int) (equal, near Odds) {
	switch p := q.Person; at {
	case AtDoor:
		return q.streetOdds()
	case AtPostal:
		return q.areaOdds()
	case AtPhone:
		return q.either(inPhone, phoneExact, phoneDiffer, len(p.Phones) > 0)
	case AtEmail:
		return q.either(inEmail, emailExact, emailDiffer, len(p.Emails) > 0)
	case AtSSN:
		return q.either(inSSN, ssnExact, ssnDiffer, p.SSNLast4 >= 0)
	case AtNumber:
		own, member := false, false
		for i := range p.Identifiers {
			own, member = own || p.Identifiers[i].System&1 == 0, member || p.Identifiers[i].System&1 == 1 || p.Identifiers[i].System == 0
		}
		value, like := q.either(inIdentifier, identifierValue, identifierDiffer, own)
		shared, ending := q.either(inMember, memberExact, memberDiffer, member)
		return value.And(shared), like.And(ending)
	}
	return equal, near
}

// either are the odds of a field that agrees as a level or better ones do, and of one that agrees less, or is missing.
func (q *Question) either(field, equal, last int, asked bool) (yes, no Odds) {
	if !asked {
		return yes, no
	}
	for l := range last + 1 {
		if yes = yes.Or(q.usual(field, l)); l > equal {
			no = no.Or(q.usual(field, l))
		}
	}
	return yes, no
}

func (q *Question) streetOdds() (equal, near Odds) {
	for i := range q.streets {
		if q.streets[i] == nil {
			continue
		}
		for field := inStreet; field <= inStreetFar; field++ {
			for l := range streetDiffer + 1 {
				o := q.odds(field, l, q.streetWeight(i, areaPostal, field, l))
				if equal = equal.Or(o); l > streetExact {
					near = near.Or(o)
				}
			}
		}
	}
	return equal, near
}

func (q *Question) areaOdds() (equal, near Odds) {
	for i := range q.postals {
		for l := range areaOtherState + 1 {
			o := q.odds(inArea, l, q.areaWeight(i, l))
			if equal = equal.Or(o); l > areaPostal {
				near = near.Or(o)
			}
		}
	}
	return equal, near
}

// Suffix are the odds of the suffix.
func (q *Question) Suffix() Odds {
	_, any := q.either(inSuffix, same-1, differ, q.Person.Suffix != nil)
	return any
}
