package linkage

// compareAddresses compares every address with every other: the best counts, with the odds of so many tries.
func (q *Question) compareAddresses(c *Person, p *pair) {
	for f := inArea; f <= inStreetFar; f++ {
		p.lacks(f)
	}
	found, tries := false, 0
	var best float64
	for i := range q.Person.Addresses {
		for j := range c.Addresses {
			tries++
			area, street, field, worth := q.comparePlaces(i, &c.Addresses[j])
			if area == missing && street == missing || found && worth <= best {
				continue
			}
			found, best = true, worth
			for f := inArea; f <= inStreetFar; f++ {
				p.lacks(f)
			}
			if area != missing {
				p.set(inArea, area, q.areaWeight(i, area))
			}
			if street != missing {
				p.set(field, street, q.streetWeight(i, area, field, street))
			}
		}
	}
	if found {
		q.luck(p, tries, inArea, inStreet, inStreetNear, inStreetFar)
	}
}

// luck takes from what agrees the odds of having tried more than once.
func (q *Question) luck(p *pair, tries int, fields ...int) {
	rest := logOf(tries)
	for _, f := range fields {
		if w := p.weight[f]; w > 0 && rest > 0 {
			p.weight[f] = max(w-rest, 0)
			rest = max(rest-w, 0)
		}
	}
}

func (q *Question) comparePlaces(i int, b *Place) (area, street, field int, worth float64) {
	a := &q.Person.Addresses[i]
	area = q.areaLevel(i, a, b)
	street = q.streetLevel(i, a, b)
	field = inStreet
	switch {
	case area == missing:
	case area <= areaCityOnly:
		field = inStreetNear
	default:
		field = inStreetFar
	}
	if area != missing {
		worth += q.areaWeight(i, area)
	}
	if street != missing {
		worth += q.streetWeight(i, area, field, street)
	}
	return area, street, field, worth
}

// areaWeight weighs a postal code by how many people have it. Those like it tell no more than that.
func (q *Question) areaWeight(i, area int) float64 {
	exact := q.model.m[inArea][areaPostal] - q.postals[i]
	switch area {
	case areaPostal:
		return exact
	case areaCity: // one of the two has no postal code
		return q.model.weight[inArea][area]
	}
	return min(q.model.weight[inArea][area], exact-q.model.gap[inArea])
}

// streetWeight weighs a street by its area. Few live in a house wherever it is: the more people an area has, the more tells it
// that the house is the same.
func (q *Question) streetWeight(i, area, field, street int) float64 {
	weight := q.model.weight[field][street]
	if field == inStreetNear && area != areaCity && street != streetDiffer {
		weight += max(0, q.postals[i]-(q.model.m[inArea][areaPostal]-q.model.weight[inArea][areaPostal]))
	}
	return weight
}

func (q *Question) areaLevel(i int, a, b *Place) int {
	postal, city, state := known(a.Postal, b.Postal), known(a.City, b.City), known(a.State, b.State)
	if postal && a.Postal.Whole == b.Postal.Whole {
		return areaPostal
	}
	sameCity := city && q.like(q.cities[i], b.City) <= areSimilar
	sameState := state && a.State.Whole == b.State.Whole
	switch {
	case postal && (sameCity || !city) && oneEdit(a.Postal.Whole, b.Postal.Whole):
		return areaPostalEdit
	case sameCity && (sameState || !state):
		if postal {
			return areaCityOnly
		}
		return areaCity
	case state && !sameState:
		return areaOtherState
	case postal || city || state:
		return areaElsewhere
	}
	return missing
}

func (q *Question) streetLevel(i int, a, b *Place) int {
	if !known(a.Line, b.Line) {
		return missing
	}
	like := q.like(q.streets[i], b.Line)
	house := a.House == b.House && a.House != ""
	switch {
	case like == areDifferent:
		return streetDiffer
	case like == areEqual && house:
		return streetExact
	case house:
		return streetSimilar
	}
	return streetAlone
}

func known(a, b *Text) bool {
	return a != nil && b != nil && !a.Missing && !b.Missing && a.Whole != "" && b.Whole != ""
}

// How texts that are no names are alike.
const (
	areEqual = iota
	areSimilar
	areDifferent
)

// like compares texts that are no names, or remembers how that came out.
func (q *Question) like(a *asked, t *Text) int {
	if a == nil {
		return areDifferent
	}
	if t.ID == 0 {
		return int(alike(a.text, t))
	}
	v, known := q.memory.recall(a.slot, t.ID)
	if !known {
		*v = verdict{level: alike(a.text, t)}
	}
	return int(v.level)
}

func alike(a, b *Text) int8 {
	x, y := a.Whole, b.Whole
	switch {
	case x == y:
		return areEqual
	case oneEdit(x, y) || alikeBy(x, y, addressSimilarity):
		return areSimilar
	}
	return areDifferent
}

// addressSimilarity is higher than that of names: streets have their words in common.
const addressSimilarity = 0.92
