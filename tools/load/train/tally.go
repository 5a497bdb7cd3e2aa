package train

import (
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/tools/load/train/estimate"
)

// tally counts how pairs agree. Fields that uses does not name are left out; nil: none is but those of which nothing can be learnt.
func (p *People) tally(m *linkage.Model, pairs []pair, uses func(field string) bool) *estimate.Tally {
	t := &estimate.Tally{}
	var q *linkage.Question
	asked := int32(-1)
	var levels []int8
	for _, one := range pairs {
		if one.a != asked {
			q, asked = m.Ask(&p.persons[one.a], p.common, p.now), one.a
		}
		levels = q.Levels(&p.persons[one.b], levels)
		for f := range levels {
			if name := m.Fields[f].Name; uses != nil && !uses(name) || !p.learnable(name) {
				levels[f] = estimate.Missing
			}
		}
		t.Add(levels, 1)
	}
	return t
}

// askedOften is how many others each record is held against among pairs taken at random: to ask is dearer than to compare.
const askedOften = 20

// strangers are pairs taken at random, but for those known to be of one person, and others that are named.
func (p *People) strangers(most int, seed uint64, but map[pair]bool) []pair {
	n := len(p.persons)
	most = min(most, n*(n-1)/2)
	r := chance(seed, 0)
	list := make([]pair, 0, most)
	for range (most + askedOften - 1) / askedOften {
		a := int32(r.IntN(n)) //nolint:gosec // there is no memory for so many records
		for range askedOften {
			b := int32(r.IntN(n)) //nolint:gosec // as above
			if a != b && !p.same(a, b) && !but[pair{min(a, b), max(a, b)}] {
				list = append(list, pair{a, b})
			}
		}
	}
	return list
}

// same tells that two records are known to be of one person.
func (p *People) same(a, b int32) bool {
	return p.Records[a].Truth != "" && p.Records[a].Truth == p.Records[b].Truth
}
