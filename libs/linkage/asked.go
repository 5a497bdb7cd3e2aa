package linkage

import "math"

// asked is a text of the question, with what was worked out beforehand.
type asked struct {
	text   *Text
	kind   Kind
	field  int // whose levels it is weighed by
	slot   uint32
	rarity [MaxParts]float64 // log2 of the share of each part
	share  float64           // of all of it
	log    float64           // log2 of share
}

// ask prepares a text of the question; nil: it says nothing.
func (q *Question) ask(t *Text, kind Kind) *asked {
	if t == nil || t.Missing || t.Whole == "" {
		return nil
	}
	q.slots++
	a := &asked{text: t, kind: kind, slot: q.slots, field: inFirst}
	switch kind {
	case Family:
		a.field = inLast
	case Given:
	default:
		return a
	}
	for i := range t.Parts {
		a.rarity[i] = math.Log2(q.common.name(kind, t.Parts[i].Text, rare))
	}
	a.share = q.common.text(kind, t, unheard)
	a.log = math.Log2(q.common.text(kind, t, rare))
	return a
}

// How many bearers a name is taken to have beside those that are known: one that two records share has been met, after all; one
// that nobody else bears is rather a slip than a name.
const (
	rare    = 0.5
	unheard = 0.1
)

// The ways in which names agree, in the order in which they are tried.
const (
	wayExact = iota
	wayPart
	wayNickname
	wayEdit
	waySimilar
	waySound
	wayInitial
	wayDiffer
	ways
)

// levelOf is the level of a way in a field of names.
func levelOf(field, way int) int {
	switch field {
	case inFirst:
		return [ways]int{firstExact, firstPart, firstNickname, firstEdit, firstSimilar, firstSound, firstInitial, firstDiffer}[way]
	case inLast:
		return [ways]int{lastExact, lastPart, lastEdit, lastEdit, lastSimilar, lastSound, lastInitial, lastDiffer}[way]
	}
	return [ways]int{middleExact, middleSimilar, middleSimilar, middleSimilar, middleSimilar, middleSimilar, middleInitial, middleDiffer}[way]
}

// look compares a name of the question with one of a candidate, or remembers how it came out.
func (q *Question) look(a *asked, t *Text) verdict {
	if a == nil || t == nil || t.Missing || t.Whole == "" {
		return verdict{level: missing}
	}
	if t.ID == 0 {
		return q.judge(a, t)
	}
	v, known := q.memory.recall(a.slot, t.ID)
	if !known {
		*v = q.judge(a, t)
	}
	return *v
}

// judge finds the way in which two names agree, and its weight.
func (q *Question) judge(a *asked, t *Text) verdict {
	way, rarity := agree(a, t)
	return verdict{level: int8(way), weight: float32(q.worth(a, t, way, rarity))} //nolint:gosec // one of ways
}

// worth weighs an agreement. Of an exact one u is the share of people with the name. A slip turned one of the two names into
// the other one: the chance that it made this one is m over the spread of such slips, and the chance to meet both among
// strangers is the product of their shares. Of that follows m / (spread · the rarer one's share), in which the rarer one is at
// least as frequent as slips of the other make it.
func (q *Question) worth(a *asked, t *Text, way int, rarity float64) float64 {
	m := q.model
	level := levelOf(a.field, way)
	weight := m.weight[a.field][level]
	switch way {
	case wayExact:
		log := a.log
		if len(t.Parts) != len(a.text.Parts) { // "Mary Ann" is as common as "Maryann"
			log = max(log, math.Log2(q.common.text(a.kind, t, rare)))
		}
		weight = m.m[a.field][0] - log
	case wayPart:
		weight = m.m[a.field][level] - rarity
	case wayNickname, wayEdit, waySimilar, waySound:
		if m.spread[a.field][level] == 0 { // it stands as it is
			break
		}
		other := q.common.text(a.kind, t, unheard)
		chance := m.m[a.field][level] - m.spread[a.field][level]
		slip := math.Exp2(chance)
		weight = chance - math.Log2(min(a.share+slip*other, other+slip*a.share))
		exact := m.m[a.field][0] - math.Log2(max(a.share, other)+q.common.unit()*(rare-unheard))
		weight = min(weight, exact-m.gap[a.field])
	}
	return max(weight, m.weight[a.field][levelOf(a.field, wayDiffer)])
}

// agree finds the way; rarity is that of what the names have in common, where it is a part of them.
func agree(a *asked, t *Text) (way int, rarity float64) {
	x, y := a.text.Whole, t.Whole
	if len(x) == 1 || len(y) == 1 {
		if x[0] == y[0] {
			return wayInitial, 0
		}
		return wayDiffer, 0
	}
	if x == y {
		return wayExact, 0
	}
	common, rarity := commonParts(a, t)
	switch {
	case common == len(a.text.Parts) && common == len(t.Parts):
		return wayExact, 0
	case common > 0:
		return wayPart, rarity
	case a.kind == Given && shareNickname(a.text, t):
		return wayNickname, 0
	case oneEdit(x, y):
		return wayEdit, 0
	case similar(x, y) || partsAlike(a.text, t):
		return waySimilar, 0
	case soundAlike(a.text, t):
		return waySound, 0
	}
	return wayDiffer, 0
}

// commonParts counts the parts that both have, in any order, and tells how rare the rarest is.
func commonParts(a *asked, t *Text) (common int, rarity float64) {
	for i := range a.text.Parts {
		p := &a.text.Parts[i]
		if len(p.Text) < 2 {
			continue
		}
		for j := range t.Parts {
			if samePart(p, &t.Parts[j]) {
				common++
				rarity = min(rarity, a.rarity[i])
				break
			}
		}
	}
	return common, rarity
}

func samePart(p, q *Part) bool {
	return p.Text == q.Text || p.Alt != "" && (p.Alt == q.Text || p.Alt == q.Alt) || q.Alt != "" && p.Text == q.Alt
}

func shareNickname(a, b *Text) bool {
	for i := range a.Parts {
		for j := range b.Parts {
			if meet(a.Parts[i].Nicks, b.Parts[j].Nicks) {
				return true
			}
		}
	}
	return false
}

// meet tells whether two ascending lists have a number in common: parts that have a group of nicknames in common are nicknames of
// one another.
func meet(a, b []uint16) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			return true
		case a[0] < b[0]:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return false
}

// partsAlike tells that names of several parts have parts that differ by one slip.
func partsAlike(a, b *Text) bool {
	if len(a.Parts) < 2 && len(b.Parts) < 2 {
		return false
	}
	for i := range a.Parts {
		for j := range b.Parts {
			if x, y := a.Parts[i].Text, b.Parts[j].Text; len(x) > 3 && len(y) > 3 && oneEdit(x, y) {
				return true
			}
		}
	}
	return false
}

func soundAlike(a, b *Text) bool {
	return len(a.Parts) > 0 && len(b.Parts) > 0 && a.Parts[0].SoundsLike(&b.Parts[0])
}
