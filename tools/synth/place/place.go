// Package place is a rough map of the United States: states, cities and small towns with as many people as live there, the
// ZIP codes and telephone area codes that belong to them, and streets with names as frequent as they are. It knows nothing
// of who lives there, and no street of it need exist.
package place

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/patient-mesh/patient-mesh/tools/synth/data"
	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
)

// Map is all places, ready to be drawn from, by any number of goroutines.
type Map struct {
	states  []*state
	bySize  dice.Table // of places
	places  []spot
	towns   []string
	town    dice.Table
	streets streets
}

type state struct {
	code, name string
	people     int // thousands
	zips       [2]int
	areas      []string
}

// spot is a city, or all small towns of a state together when it has no name.
type spot struct {
	state  *state
	name   string
	people int // thousands
	zip    string
	areas  []string
}

// Spot is a ZIP code's area: what an address says after its first lines.
type Spot struct {
	City, State, ZIP string
	Area             string // the telephone area code of most people there
}

// Load reads the map.
func Load() (*Map, error) {
	m := &Map{}
	err := data.Lines("places.txt", func(line string) error {
		if strings.HasPrefix(line, " ") {
			return m.addCity(line)
		}
		return m.addState(line)
	})
	if err != nil {
		return nil, err
	}
	if m.towns, err = data.Words("towns.txt"); err != nil {
		return nil, err
	}
	if m.town, err = dice.NewTable(fewer(len(m.towns))); err != nil {
		return nil, err
	}
	weights := make([]uint64, len(m.places))
	for i, p := range m.places {
		weights[i] = uint64(max(p.people, 1))
	}
	if m.bySize, err = dice.NewTable(weights); err != nil {
		return nil, err
	}
	return m, m.streets.load()
}

// addState reads "CODE Name people from-to areas".
func (m *Map) addState(line string) error {
	cells := strings.Fields(line)
	n := len(cells)
	if n < 5 {
		return fmt.Errorf("%q is no state", line)
	}
	s := &state{code: cells[0], name: strings.Join(cells[1:n-3], " "), areas: strings.Split(cells[n-1], ",")}
	from, to, _ := strings.Cut(cells[n-2], "-")
	for i, number := range []string{cells[n-3], from, to} {
		into := []*int{&s.people, &s.zips[0], &s.zips[1]}[i]
		var err error
		if *into, err = strconv.Atoi(number); err != nil {
			return err
		}
	}
	m.states = append(m.states, s)
	m.places = append(m.places, spot{state: s, people: s.people, areas: s.areas})
	return nil
}

// addCity reads " Name people zip areas". Its people no longer live in the small towns of the state.
func (m *Map) addCity(line string) error {
	cells := strings.Fields(line)
	n := len(cells)
	if n < 4 || len(m.states) == 0 {
		return fmt.Errorf("%q is no city", line)
	}
	people, err := strconv.Atoi(cells[n-3])
	if err != nil {
		return err
	}
	s := m.states[len(m.states)-1]
	for i := range m.places {
		if m.places[i].state == s && m.places[i].name == "" {
			m.places[i].people -= people
		}
	}
	m.places = append(m.places, spot{
		state: s, name: strings.Join(cells[:n-3], " "), people: people, zip: cells[n-2], areas: strings.Split(cells[n-1], ","),
	})
	return nil
}

// fewer are weights of n things, each rarer than the one before by Zipf's law.
func fewer(n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(1_000_000 / (i + 3))
	}
	return out
}

// Anywhere draws where somebody lives.
func (m *Map) Anywhere(d *dice.Dice) Spot { return m.in(d, &m.places[m.bySize.Draw(d)]) }

// Near draws where somebody moves to who stays in the state.
func (m *Map) Near(d *dice.Dice, stateCode string) Spot {
	for range 1000 {
		if p := &m.places[m.bySize.Draw(d)]; p.state.code == stateCode {
			return m.in(d, p)
		}
	}
	return m.Anywhere(d)
}

func (m *Map) in(d *dice.Dice, p *spot) Spot {
	out := Spot{City: p.name, State: p.state.code, Area: dice.Pick(d, p.areas)}
	if p.name != "" {
		// About one ZIP code for 15,000 people; an area of three digits has a hundred, less what post office boxes take.
		out.ZIP = p.zip + digits(1+d.Below(min(max(p.people/15, 1), 95)), 2)
		return out
	}
	// A town has one ZIP code and one area code, whoever lives there: they follow from its name.
	at := m.town.Draw(d)
	h := dice.Mix(uint64(at)<<16 | uint64(p.state.code[0])<<8 | uint64(p.state.code[1])) //nolint:gosec // an index
	span := p.state.zips[1] - p.state.zips[0] + 1
	out.City, out.Area = m.towns[at], p.areas[h%uint64(len(p.areas))]
	out.ZIP = digits(p.state.zips[0]+int(h>>8%uint64(span)), 3) + digits(int(h>>40%98)+1, 2) //nolint:gosec // small
	return out
}

// digits writes a number with zeros before it.
func digits(n, width int) string {
	text := strconv.Itoa(n)
	if len(text) < width {
		text = "0000"[:width-len(text)] + text
	}
	return text
}

// StateName is the name of a state by its code.
func (m *Map) StateName(code string) string {
	for _, s := range m.states {
		if s.code == code {
			return s.name
		}
	}
	return ""
}
