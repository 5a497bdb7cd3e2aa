package linkage

import "math"

// mostRelatives bounds the kinds of relatives of a model.
const mostRelatives = 8

// tables are a model as it is computed with: logarithms to base two throughout.
type tables struct {
	m      [fieldCount][mostLevels]float64
	weight [fieldCount][mostLevels]float64 // of m/u
	spread [fieldCount][mostLevels]float64
	veto   [fieldCount][mostLevels]Veto

	careful, careless float64                            // their shares of all records
	slips             [fieldCount][mostLevels][2]float64 // how much more often than all together the careful and the careless agree so far
	gap               [fieldCount]float64                // what agreement must be ahead of a slip, lest the careless be better off with one

	relatives []relation
	sharing   [fieldCount][]sharer // the relatives who share a field

	scale, shift float64
	sums         *sums
}

// relation is a kind of relatives.
type relation struct {
	name     string
	expected float64 // how many for each record of the person
}

// sharer is a kind of relatives who have a field's value in common so often, and else agree as strangers do.
type sharer struct {
	relative      int
	shared, apart float64
}

// tables compiles a model when it is first asked with.
func (m *Model) tables() *tables {
	if t := m.compiled.Load(); t != nil {
		return t
	}
	t := m.compile()
	m.compiled.Store(t)
	return t
}

func (m *Model) compile() *tables {
	t := &tables{
		careful: math.Log2(1 - m.Careless.Share), careless: math.Log2(m.Careless.Share),
		scale: m.Calibration.Scale, shift: m.Calibration.Shift, sums: newSums(),
	}
	for _, r := range m.Relatives[:min(len(m.Relatives), mostRelatives)] {
		t.relatives = append(t.relatives, relation{r.Name, math.Log2(r.Expected / m.Prior.Matches)})
	}
	for f, v := range vocabularies() {
		if f >= len(m.Fields) || len(m.Fields[f].Levels) != len(v.levels) {
			continue // no model that Validate lets pass
		}
		t.levels(f, &v, m.Fields[f].Levels, m.Careless)
		for k := range t.relatives {
			if share := m.Relatives[k].Shares[v.name]; share > 0 {
				t.sharing[f] = append(t.sharing[f], sharer{k, math.Log2(share), math.Log2(1 - share)})
			}
		}
	}
	return t
}

func (t *tables) levels(f int, v *vocabulary, levels []Level, careless Careless) {
	wrong := 0.0
	for l := range levels {
		if v.slip(l) {
			wrong += levels[l].M
		}
	}
	few, many := careless.shares(wrong)
	var slip, none [2]float64
	if wrong > 0 && wrong < 1 {
		slip = [2]float64{math.Log2(few / wrong), math.Log2(many / wrong)}
		none = [2]float64{math.Log2((1 - few) / (1 - wrong)), math.Log2((1 - many) / (1 - wrong))}
		t.gap[f] = slip[1] - none[1]
	}
	for l, level := range levels {
		t.m[f][l] = math.Log2(level.M)
		t.weight[f][l] = math.Log2(level.M / level.U)
		t.spread[f][l] = math.Log2(max(level.Spread, 1))
		t.veto[f][l] = level.Veto
		t.slips[f][l] = none
		if v.slip(l) {
			t.slips[f][l] = slip
		}
	}
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
