package linkage

import "math"

// mostRelatives bounds the kinds of relatives of a model.
const mostRelatives = 8

// tables are a model as it is computed with: logarithms to base two throughout.
type tables struct {
	shown             [fieldCount]string
	weight            [fieldCount][mostLevels]float64    // log2 of m/u
	slips             [fieldCount][mostLevels][2]float64 // log2 of how much more often than all the careful and the careless agree so far
	spread            [fieldCount][mostLevels]float64    // log2
	m                 [fieldCount][mostLevels]float64    // log2
	gap               [fieldCount]float64                // what an exact agreement must be ahead of a slip, lest the careless be better off with one
	veto              [fieldCount][mostLevels]Veto
	expected          [mostRelatives]float64             // log2 of relatives expected to matches expected
	shared            [fieldCount][mostRelatives]float64 // log2 of their having a value in common
	apart             [fieldCount][mostRelatives]float64 // log2 of their not having it in common
	careful, careless float64                            // log2 of their shares
	sums              *sums
	scale, shift      float64
	relatives         [mostRelatives]string
	classes           int
}

func (m *Model) tables() *tables {
	if t := m.compiled.Load(); t != nil {
		return t
	}
	t := m.compile()
	m.compiled.Store(t)
	return t
}

func (m *Model) compile() *tables {
	t := &tables{careful: math.Log2(1 - m.Careless.Share), careless: math.Log2(m.Careless.Share), sums: newSums(), scale: m.Calibration.Scale, shift: m.Calibration.Shift, classes: min(len(m.Relatives), mostRelatives)}
	for f, v := range vocabularies() {
		t.shown[f] = v.shown
		if f >= len(m.Fields) || len(m.Fields[f].Levels) > mostLevels {
			continue
		}
		levels := m.Fields[f].Levels
		wrong := 0.0
		for l := range levels {
			if v.slip(l) {
				wrong += levels[l].M
			}
		}
		few, many := m.Careless.shares(wrong)
		for l, level := range levels {
			t.m[f][l] = math.Log2(level.M)
			t.weight[f][l] = math.Log2(level.M / level.U)
			t.spread[f][l] = math.Log2(max(level.Spread, 1))
			t.veto[f][l] = level.Veto
			if v.slip(l) {
				t.slips[f][l] = [2]float64{math.Log2(few / wrong), math.Log2(many / wrong)}
			} else if wrong < 1 {
				t.slips[f][l] = [2]float64{math.Log2((1 - few) / (1 - wrong)), math.Log2((1 - many) / (1 - wrong))}
			}
		}
		if wrong > 0 && wrong < 1 {
			t.gap[f] = math.Log2(many/wrong) - math.Log2((1-many)/(1-wrong))
		}
		for k := range t.classes {
			share := m.Relatives[k].Shares[v.name]
			t.shared[f][k], t.apart[f][k] = math.Log2(share), math.Log2(1-share)
		}
	}
	for k := range t.classes {
		t.relatives[k] = m.Relatives[k].Name
		t.expected[k] = math.Log2(m.Relatives[k].Expected / m.Prior.Matches)
	}
	return t
}

// shares are how often the careful and the careless err where all together err with a share: the odds of the careless are so
// many times those of the careful.
func (c Careless) shares(all float64) (few, many float64) {
	if all <= 0 || all >= 1 {
		return all, all
	}
	low, high := 0.0, all
	for range 50 {
		few = (low + high) / 2
		odds := c.Times * few / (1 - few)
		many = odds / (1 + odds)
		if (1-c.Share)*few+c.Share*many < all {
			low = few
		} else {
			high = few
		}
	}
	return few, many
}
