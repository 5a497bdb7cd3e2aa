package synth

import (
	"math"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/tools/synth/names"
)

func near(t *testing.T, what string, seen, of int, share float64) {
	t.Helper()
	want := share * float64(of)
	if off := math.Abs(float64(seen) - want); off > 5*math.Sqrt(want)+1 {
		t.Errorf("%s: %d of %d, want about %.0f", what, seen, of, want)
	}
}

// everybody makes the people of some households.
func everybody(t *testing.T, households int64, each func(people []person)) {
	t.Helper()
	g := with(t, Options{Seed: 11})
	scratch := make([]person, 0, mostMembers)
	for index := range households {
		each(g.household(index, scratch))
	}
}

func TestPeopleAreAsOldAsInTheCensus(t *testing.T) {
	var ages [9]int
	var months [13]int
	n, women, households := 0, 0, 0
	everybody(t, 40_000, func(people []person) {
		households++
		for i := range people {
			p := &people[i]
			n++
			ages[min(p.age()/10, 8)]++
			months[p.born.month]++
			if p.sex == names.Female {
				women++
			}
		}
	})
	// Ten years each, the last one 80 and older: per cent of the Census of 2020, rounded.
	for decade, want := range []float64{12.0, 13.0, 13.4, 13.6, 12.3, 12.9, 11.9, 7.3, 3.9} {
		if got := 100 * float64(ages[decade]) / float64(n); math.Abs(got-want) > 1.7 {
			t.Errorf("age %d and on: %.1f %%, want about %.1f %%", decade*10, got, want)
		}
	}
	if share := float64(women) / float64(n); share < 0.495 || share > 0.525 {
		t.Errorf("%.3f are women", share)
	}
	if size := float64(n) / float64(households); size < 2.35 || size > 2.6 { // 2.5 in the Census of 2020
		t.Errorf("%.2f people in a household", size)
	}
	if months[8]*28 < months[2]*31 || months[2] < n/16 {
		t.Errorf("births by month: %v", months)
	}
}

func TestHouseholdsAreFamiliesAndOthers(t *testing.T) {
	seen := map[string]int{}
	n := 0
	everybody(t, 60_000, func(people []person) {
		n++
		for i := range people {
			p := &people[i]
			if p.id%mostMembers != int64(i) || p.home != people[0].home || p.first == "" || p.last == "" || p.age() < 0 || p.age() > 99 {
				t.Fatalf("%+v is no member of a household", p)
			}
			for j := range people[:i] {
				pairs(t, seen, &people[j], p)
			}
			count(seen, p)
		}
	})
	for what, least := range map[string]int{
		"twins": 100, "twins of one initial": 40, "twins with the next number": 40, "father and son of one name": 200, "the third": 3,
		"couple of one name": 15_000, "couple of two names": 5_000, "couple with a hyphen": 300, "unrelated": 3_000, "parent and child": 20_000,
		"parent and child of two names": 1_000, "shared mobile": 5_000, "shared mail": 5_000, "landline": 10_000,
		"apostrophe": 200, "hyphen": 1_000, "space": 1_000, "beyond ASCII": 500, "suffix": 1_000, "no middle name": 10_000,
		"initial": 10_000, "two first names": 1_000, "maiden name": 10_000, "intersex": 3,
	} {
		if seen[what] < least {
			t.Errorf("%s: %d in %d households, want %d or more", what, seen[what], n, least)
		}
	}
}

func pairs(t *testing.T, seen map[string]int, a, b *person) {
	t.Helper()
	say := func(what string, is bool) {
		if is {
			seen[what]++
		}
	}
	twins := a.born == b.born && a.age() < 26
	say("twins", twins)
	say("twins of one initial", twins && initial(a.first) == initial(b.first))
	say("twins with the next number", twins && nextNumber(a.ssn) == b.ssn)
	if twins && a.first == b.first && a.suffix == b.suffix {
		t.Errorf("twins are both called %s", a.first)
	}
	say("father and son of one name", a.first == b.first && a.last == b.last && a.sex == b.sex && b.suffix != "" && a.suffix != b.suffix)
	say("the third", b.suffix == "III" && a.suffix == "Jr" && a.first == b.first)
	say("couple of one name", a.married && b.married && a.last == b.last)
	say("couple of two names", a.married && b.married && a.last != b.last)
	say("couple with a hyphen", a.married && b.married && strings.Contains(a.last, b.last+"-")) // hers before his
	say("unrelated", a.last != b.last && !a.married && !b.married && a.adult() && b.adult())
	child := a.age()-b.age() >= 16 && b.age() < 18
	say("parent and child", child && a.last == b.last)
	say("parent and child of two names", child && a.last != b.last)
	say("shared mobile", a.mobile == b.mobile)
	say("shared mail", a.mail == b.mail)
	say("landline", a.landline != "" && a.landline == b.landline)
	if a.landline != b.landline {
		t.Error("a household has two landlines")
	}
}

func count(seen map[string]int, p *person) {
	for what, is := range map[string]bool{
		"apostrophe": strings.Contains(p.last, "'"), "hyphen": strings.Contains(p.last, "-"), "space": strings.Contains(p.last, " "),
		"beyond ASCII": strings.IndexFunc(p.first+p.last, func(r rune) bool { return r > 127 }) >= 0, "suffix": p.suffix != "",
		"no middle name": p.middle == "", "initial": len([]rune(p.middle)) == 1, "two first names": strings.ContainsAny(p.first, " -"),
		"maiden name": p.maiden != "", "intersex": p.sexSay == "intersex",
	} {
		if is {
			seen[what]++
		}
	}
}

// Whole names that people share who share nothing else, beyond the common ones.
func TestNamesakes(t *testing.T) {
	bearers := map[string][]person{}
	everybody(t, 10*4096, func(people []person) {
		for _, p := range people {
			if len(p.middle) > 1 {
				name := p.first + " " + p.middle + " " + p.last
				bearers[name] = append(bearers[name], p)
			}
		}
	})
	shared := 0
	for _, people := range bearers {
		strangers := 0
		for _, p := range people[1:] {
			if p.home != people[0].home && p.born != people[0].born && p.ssn != people[0].ssn && p.mail != people[0].mail {
				strangers++
			}
		}
		if strangers >= 2 {
			shared++
		}
	}
	if shared < 4 {
		t.Errorf("%d whole names are borne by three people or more who are not related", shared)
	}
}

func TestHouseholdsMoveTogether(t *testing.T) {
	g := with(t, Options{Seed: 11})
	together, apart := 0, 0
	everybody(t, 3000, func(people []person) {
		if len(people) < 2 || !people[0].married || people[0].age() < 40 {
			return
		}
		one, other := people[0], people[1]
		if other.age() < 40 {
			return
		}
		g.live(&one, people[0].id/mostMembers, 8)
		g.live(&other, people[0].id/mostMembers, 8)
		if one.home == other.home && one.oldHome.line1 != "" {
			together++
		}
		if one.home != other.home {
			apart++
		}
	})
	if together < 100 || apart > 0 {
		t.Errorf("%d couples moved together, %d parted", together, apart)
	}
}

func TestLivesOnlyGrow(t *testing.T) {
	g := with(t, Options{Seed: 11})
	everybody(t, 500, func(people []person) {
		for i := range people {
			early, late := people[i], people[i]
			before, after := g.live(&early, people[i].id/mostMembers, 3), g.live(&late, people[i].id/mostMembers, 10)
			if len(before) > len(after) {
				t.Errorf("three years hold %v, ten %v", before, after)
			}
			for k, e := range before {
				if after[k] != e {
					t.Errorf("three years hold %v, ten %v", before, after)
				}
			}
		}
	})
}

func TestCopiesAreAsManyAsAsked(t *testing.T) {
	people, copies := 0, map[int64]int{}
	for r := range with(t, Options{Seed: 3, People: 40_000, Duplicated: 0.25, Copies: 3}).Records() {
		if r.Copy == 0 {
			people++
		} else {
			copies[r.Person]++
		}
	}
	near(t, "people with copies", len(copies), people, 0.25)
	var by [4]int
	for _, n := range copies {
		by[n]++
	}
	for n, share := range []float64{0, 0.5, 0.25, 0.25} {
		near(t, "copies", by[n], len(copies), share)
	}
}

func TestNeighboursShareBuildings(t *testing.T) {
	lines := map[string]int{}
	everybody(t, 5000, func(people []person) {
		h := people[0].home
		lines[h.line1+", "+h.zip]++
	})
	shared := 0
	for line, n := range lines {
		if n > 1 && !strings.HasPrefix(line, "PO Box") {
			shared += n
		}
	}
	if shared < 250 || shared > 750 {
		t.Errorf("%d of 5000 households live in a building with others, want about a tenth", shared)
	}
}
