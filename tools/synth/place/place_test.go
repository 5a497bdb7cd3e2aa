package place

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
)

func load(t *testing.T) *Map {
	t.Helper()
	m, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPeopleLiveWhereThereAreMost(t *testing.T) {
	m := load(t)
	var d dice.Dice
	d.Seed(1)
	const throws = 300_000
	states, cities := map[string]int{}, map[string]int{}
	for range throws {
		s := m.Anywhere(&d)
		states[s.State]++
		cities[s.City+", "+s.State]++
	}
	if len(states) != 51 {
		t.Errorf("people live in %d states and the District", len(states))
	}
	country := 0
	for _, s := range m.states {
		country += s.people
	}
	if country < 331_000 || country > 332_000 { // 331,449,281 in the Census of 2020
		t.Errorf("%d thousand people", country)
	}
	for where, people := range map[string]int{"CA": 39538, "TX": 29146, "WY": 577, "Chicago, IL": 2746, "Brooklyn, NY": 2736} {
		seen := states[where] + cities[where]
		want := throws * float64(people) / float64(country)
		if math.Abs(float64(seen)-want) > 5*math.Sqrt(want) {
			t.Errorf("%s: %d of %d, want about %.0f", where, seen, throws, want)
		}
	}
}

func TestZIPAndAreaCodeBelongToTheState(t *testing.T) {
	m := load(t)
	var d dice.Dice
	d.Seed(2)
	byTown := map[string]Spot{}
	for range 100_000 {
		s := m.Anywhere(&d)
		var at *state
		for _, candidate := range m.states {
			if candidate.code == s.State {
				at = candidate
			}
		}
		zip, err := strconv.Atoi(s.ZIP[:3])
		if err != nil || len(s.ZIP) != 5 || zip < at.zips[0] || zip > at.zips[1] {
			t.Fatalf("%v: no ZIP of that state", s)
		}
		if len(s.Area) != 3 || s.City == "" {
			t.Fatalf("%v: not a whole place", s)
		}
		city := false
		for _, p := range m.places {
			city = city || p.state == at && p.name == s.City
		}
		if before, seen := byTown[s.City+s.State]; !city && seen && before != s {
			t.Fatalf("a small town has two ZIP codes: %v, %v", before, s)
		}
		byTown[s.City+s.State] = s
	}
}

func TestEveryLineOfTheMapIsSound(t *testing.T) {
	m := load(t)
	for _, p := range m.places {
		if p.people < 0 {
			t.Errorf("%s has more people in its cities than there are", p.state.name)
		}
		for _, area := range p.areas {
			if p.name != "" && (len(area) != 3 || len(p.zip) != 3) {
				t.Errorf("%s: area %s, ZIP %s", p.name, area, p.zip)
			}
		}
		if zip, _ := strconv.Atoi(p.zip); p.name != "" && (zip < p.state.zips[0] || zip > p.state.zips[1]) {
			t.Errorf("%s lies outside of %s", p.name, p.state.name)
		}
	}
	if m.StateName("NH") != "New Hampshire" || m.StateName("XX") != "" {
		t.Error("states are not known by their codes")
	}
}

func TestNearStaysInTheState(t *testing.T) {
	m := load(t)
	var d dice.Dice
	d.Seed(3)
	for range 2000 {
		if s := m.Near(&d, "OH"); s.State != "OH" {
			t.Fatalf("moved to %v", s)
		}
	}
}

func TestStreetsAreAsCommonAsTheyAre(t *testing.T) {
	m := load(t)
	var d dice.Dice
	d.Seed(4)
	const throws = 50_000
	seen := map[string]int{}
	lines := map[string]bool{}
	for range throws {
		b := m.Building(&d)
		lines[b.Line1] = true
		for _, what := range []string{" Second ", " Maple ", " Kennedy ", " Street", " Avenue", " Square", "PO Box", "County Road", " North "} {
			if strings.Contains(b.Line1, what) {
				seen[what]++
			}
		}
		if b.Several {
			seen["several"]++
		}
		if unit := m.Unit(&d); unit == "" || strings.HasSuffix(unit, " ") {
			t.Fatalf("no unit: %q", unit)
		}
	}
	if seen[" Second "] < 3*seen[" Kennedy "] || seen[" Street"] < 5*seen[" Square"] || seen[" Maple "] == 0 {
		t.Errorf("streets: %v", seen)
	}
	for what, share := range map[string]float64{"PO Box": boxes, "several": apartments * (1 - boxes - rural)} {
		if got := float64(seen[what]) / throws; math.Abs(got-share) > 0.01 {
			t.Errorf("%s: %.3f, want about %.3f", what, got, share)
		}
	}
	if len(lines) < throws*9/10 {
		t.Errorf("only %d houses in %d", len(lines), throws)
	}
}
