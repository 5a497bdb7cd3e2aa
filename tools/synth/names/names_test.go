package names

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/patient-mesh/patient-mesh/tools/synth/data"
	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
)

// tables are read once for all tests.
var tables = sync.OnceValues(Load)

func load(t testing.TB) *Names {
	t.Helper()
	n, err := tables()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// near fails when something that is to happen with a share happened more or less often than chance explains.
func near(t *testing.T, what string, seen, throws int, share float64) {
	t.Helper()
	want := share * float64(throws)
	if off := math.Abs(float64(seen) - want); off > 5*math.Sqrt(want)+1 {
		t.Errorf("%s: %d of %d, want about %.0f", what, seen, throws, want)
	}
}

func TestSurnamesAreAsFrequentAsInTheCensus(t *testing.T) {
	n := load(t)
	var d dice.Dice
	d.Seed(1)
	const throws = 1_000_000
	told, rare, tail := map[int]int{}, map[string]bool{}, 0
	for range throws {
		s := n.Surname(&d)
		switch {
		case s.Told < 0:
			rare[s.Text] = true
			told[-1]++
		case s.Told >= 10_000:
			tail++
		default:
			told[s.Told]++
		}
	}
	near(t, "rare names", told[-1], throws, RareSurnames)
	for at, c := range map[int]struct {
		name    string
		bearers float64 // Census Bureau, 2010
	}{0: {"Smith", 2442977}, 1: {"Johnson", 1932812}, 5: {"Garcia", 1166120}, 37: {"Nguyen", 437645}} {
		if n.surnames.entries[at].plain != c.name {
			t.Errorf("number %d is %s, want %s", at, n.surnames.entries[at].plain, c.name)
		}
		near(t, c.name, told[at], throws, c.bearers/294979229)
	}
	if len(rare) < told[-1]*9/10 {
		t.Errorf("of %d rare names only %d differ", told[-1], len(rare))
	}
	near(t, "names past the first 10000", tail, throws, bearersPast(t, 10_000)/294979229)
}

// bearersPast counts who bears a name that comes later in the Census Bureau's table.
func bearersPast(t *testing.T, n int) (sum float64) {
	t.Helper()
	err := data.Lines("surnames.csv.gz", func(line string) error {
		_, count, _ := strings.Cut(line, ",")
		bearers, err := strconv.ParseFloat(count, 64)
		if n--; n < 0 {
			sum += bearers
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestSurnamesAreSpeltAsBorne(t *testing.T) {
	n := load(t)
	forms := map[string]map[string]bool{}
	var d dice.Dice
	d.Seed(2)
	hispanic, ascii := 0, 0
	const throws = 1_000_000
	for range throws {
		s := n.Surname(&d)
		if k := key(s.Text); forms[k] == nil {
			forms[k] = map[string]bool{}
		}
		forms[key(s.Text)][s.Text] = true
		if s.Heritage == Hispanic {
			hispanic++
		}
		if strings.IndexFunc(s.Text, func(r rune) bool { return r > 127 }) < 0 {
			ascii++
		}
	}
	for name, want := range map[string][]string{
		"ONEILL": {"O'Neill", "Oneill"}, "DELACRUZ": {"De La Cruz", "Delacruz"}, "MCDONALD": {"McDonald"}, "GARCIA": {"García", "Garcia"},
		"STJOHN": {"St. John", "Stjohn"}, "SMITH": {"Smith"}, "VANDYKE": {"Van Dyke", "Vandyke"}, "NGUYEN": {"Nguyen", "Nguyễn"},
	} {
		for _, form := range want {
			if !forms[name][form] {
				t.Errorf("%s is never spelt %s", name, form)
			}
			delete(forms[name], form)
		}
		if len(forms[name]) > 0 {
			t.Errorf("%s is also spelt %v", name, forms[name])
		}
	}
	near(t, "Hispanic surnames", hispanic, throws, n.surnames.hispanic)
	if n.surnames.hispanic < 0.09 || n.surnames.hispanic > 0.19 {
		t.Errorf("%.3f have a Hispanic surname", n.surnames.hispanic)
	}
	if share := 1 - float64(ascii)/throws; share < 0.005 || share > 0.03 {
		t.Errorf("%.4f of surnames are beyond ASCII", share)
	}
}

// Names go with families, and are as frequent as their tables say all the same.
func TestFirstNamesAreAsFrequentAsTheirTables(t *testing.T) {
	n := load(t)
	var d dice.Dice
	const throws = 300_000
	for _, c := range []struct {
		sex  Sex
		year int
	}{{Female, 1948}, {Male, 1975}, {Female, 1990}, {Male, 2015}, {Female, 1905}, {Male, 2024}} {
		d.Seed(3, uint64(c.year))
		seen, hispanicSeen, hispanic := map[string]int{}, map[string]int{}, 0
		for range throws {
			family := n.Surname(&d).Heritage
			name := key(n.First(&d, c.sex, c.year, family))
			seen[name]++
			if family == Hispanic {
				hispanicSeen[name]++
				hispanic++
			}
		}
		decade := max(c.year-firstYear, 0) / 10
		born, resident := shares(&n.born[c.sex][decade]), shares(&n.resident[c.sex])
		var names []string
		for name := range born {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int { return cmp(born[b], born[a], a, b) })
		for _, name := range append(names[:40], "JOSE", "MARIA") {
			near(t, name, seen[name], throws, born[name]*(1-BornAbroad)+resident[name]*BornAbroad)
		}
		for _, name := range []string{"MARIA", "JOSE", "GUADALUPE", "JUAN", "LUZ"} {
			if seen[name] > 200 && float64(hispanicSeen[name])/float64(hispanic) < 2*float64(seen[name])/throws {
				t.Errorf("%d: %s is %d of %d in Hispanic families, %d in all", c.year, name, hispanicSeen[name], hispanic, seen[name])
			}
		}
	}
}

func cmp(a, b float64, x, y string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return strings.Compare(x, y)
}

// shares are what the tables were read from: each name's share of its sex and decade.
func shares(f *firstNames) map[string]float64 {
	out := map[string]float64{}
	total := float64(f.parts[0].table.Total() + f.parts[1].table.Total())
	for i := range f.parts {
		for at, name := range f.parts[i].names {
			out[key(name.plain)] += float64(f.parts[i].weights[at]) / total
		}
	}
	return out
}

func TestTablesHoldTheWholeData(t *testing.T) {
	n := load(t)
	if got := n.surnames.table.Total(); got != 265_667_228 {
		t.Errorf("surnames of %d people", got)
	}
	born := uint64(0)
	for sex := range n.born {
		for decade := range n.born[sex] {
			born += n.born[sex][decade].parts[0].table.Total() + n.born[sex][decade].parts[1].table.Total()
		}
	}
	if born != 343_544_373 {
		t.Errorf("first names of %d births", born)
	}
	if f, m := n.resident[Female].parts, n.resident[Male].parts; f[0].table.Total()+f[1].table.Total() != 136_577_391 ||
		m[0].table.Total()+m[1].table.Total() != 128_977_041 {
		t.Error("first names of residents are not all there")
	}
}

func TestNicknames(t *testing.T) {
	n := load(t)
	for name, want := range map[string]string{"William": "Bill", "Bill": "William", "margaret": "Peggy", "KATHERINE": "Kate"} {
		if !slices.Contains(n.Nicknames(name), want) {
			t.Errorf("%s is not %s, but %q", name, want, n.Nicknames(name))
		}
	}
	if got := n.Nicknames("Xzqw"); got != nil {
		t.Errorf("nobody is called %q", got)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := Load(); err != nil {
			b.Fatal(err)
		}
	}
}
