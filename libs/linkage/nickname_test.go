package linkage

import (
	"slices"
	"testing"
)

func given(t *testing.T, name string) *Part {
	t.Helper()
	x := Parse(Given, name)
	if len(x.Parts) != 1 {
		t.Fatalf("%s has %d parts", name, len(x.Parts))
	}
	return &x.Parts[0]
}

func TestNicknames(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"Robert", "Bob"},
		{"Bob", "Bobby"},
		{"William", "Bill"},
		{"Elizabeth", "Betty"},
		{"Bess", "Beth"},
		{"Patrick", "Pat"},
		{"Patricia", "Pat"},
		{"Margaret", "Peggy"},
		{"José", "Pepe"},
		{"Francisco", "Paco"},
		{"Mohammed", "Muhammad"},
		{"Aleksandr", "Sasha"},
		{"Friedrich", "Fritz"},
		{"Katarzyna", "Kasia"},
		{"Giuseppe", "Peppe"},
	} {
		a, b := given(t, pair[0]), given(t, pair[1])
		if !meet(a.Nicks, b.Nicks) || !meet(b.Nicks, a.Nicks) {
			t.Errorf("%s and %s are not nicknames", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{
		{"Patrick", "Patricia"},
		{"Robert", "William"},
		{"Arabella", "Isabella"},
		{"Albert", "Robert"},
		{"Alexander", "Alexandra"},
		{"Christopher", "Christina"},
		{"Edward", "Edwin"},
		{"Mary", "Robert"},
		{"Xyzzy", "Xyzzy"},
	} {
		if meet(given(t, pair[0]).Nicks, given(t, pair[1]).Nicks) {
			t.Errorf("%s and %s are nicknames", pair[0], pair[1])
		}
	}
}

func TestNicknameGroupsAscend(t *testing.T) {
	t.Parallel()
	table := nicknames()
	if len(table) < 1500 {
		t.Fatalf("only %d names have nicknames", len(table))
	}
	for name, groups := range table {
		if name != Fold(name) || len(slices.Compact(slices.Clone(groups))) != len(groups) || !slices.IsSorted(groups) {
			t.Errorf("%s: %v", name, groups)
		}
	}
	if Parse(Family, "Robert").Parts[0].Nicks != nil {
		t.Error("a last name has nicknames")
	}
}

func TestSounds(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"Smith", "Smyth"},
		{"Smith", "Schmidt"},
		{"Schmidt", "Smith"},
		{"Schmidt", "Schmitt"},
		{"Meyer", "Maier"},
		{"Stephen", "Steven"},
		{"Müller", "Mueller"},
		{"Müller", "Miller"},
		{"Katherine", "Catherine"},
		{"Philip", "Filip"},
		{"Tchaikovsky", "Chaikovsky"},
		{"Djordje", "Jordje"},
		{"Yusuf", "Yousef"},
		{"Наталья", "Natalia"},
	} {
		if !Parse(Family, pair[0]).Parts[0].SoundsLike(&Parse(Family, pair[1]).Parts[0]) {
			t.Errorf("%s and %s do not sound alike", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{{"Smith", "Jones"}, {"Garcia", "Lopez"}, {"Anna", "Robert"}, {"😀", "😀"}} {
		if Parse(Family, pair[0]).Parts[0].SoundsLike(&Parse(Family, pair[1]).Parts[0]) {
			t.Errorf("%s and %s sound alike", pair[0], pair[1])
		}
	}
	if Parse(Street, "Main Street").Parts[0].Sound != "" {
		t.Error("a street has a sound")
	}
}

func TestShares(t *testing.T) {
	t.Parallel()
	p := NewParser()
	between := func(kind Kind, name string, low, high float64) {
		t.Helper()
		if got := p.Share(kind, name); got < low || got > high {
			t.Errorf("%s: share %g, want between %g and %g", name, got, low, high)
		}
	}
	between(Family, "smith", 0.0082, 0.0084) // 828.19 of 100,000 in the Census of 2010
	between(Family, "garcia", 0.0039, 0.0040)
	between(Given, "james", 0.01, 0.02)
	between(Given, "mary", 0.008, 0.02)
	between(Given, "xyzzy", 1e-7, 1e-6)
	between(Family, "xyzzy", 1e-7, 3e-6)
	between(Street, "main", 0, 0)
	for _, s := range []*shares{&p.given, &p.family} {
		sum := 0.0
		for name, share := range s.of {
			if sum += float64(share); float64(share) < s.tail || name != Fold(name) {
				t.Errorf("%s: share %g", name, share)
			}
		}
		if sum < 0.7 || sum > 1 {
			t.Errorf("the shares sum to %g", sum)
		}
	}
}
