package linkage

import "testing"

func TestPlaceholders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    Kind
		missing []string
		kept    []string
	}{
		{
			Given,
			[]string{
				"Baby", "baby boy", "Baby Girl", "BabyBoy", "Baby Boy A", "Twin B", "Newborn", "Infant", "Baby Girl Maria", "Babygirl Maria", "Infant of Maria", "Boy 2", "Unknown", "UNK", "none",
				"No Name", "n/a", "N.A.", "XXX", "zzz", "999", "0000", "Test", "Testing", "???", "-", ".", "Null", "NFN", "FNU", "Unbekannt", "aaaa", "ZZTest", "Zzzsample", "no first name",
			},
			[]string{"Na", "Baby John", "Bo", "X", "Ann", "Testa", "Nona", "Roy", "Twinkle", "😀", "J", "Babette", "Ana", "Nil", "Oo"},
		},
		{
			Family,
			[]string{"Unknown", "n/a", "None", "XXXX", "99999", "LNU", "No Last Name", "Testing", "...", "zztest", "Desconocido"},
			[]string{"Test", "Baby", "Null", "Na", "Doe", "Blank", "Boy", "Newborn", "Sample", "Tester", "Le", "O", "Xx-Smith", "Ng", "王", "None-Smith"},
		},
		{Street, []string{"Unknown", "N/A", "Homeless", "No fixed address"}, []string{"Main Street", "Unknown Soldier Road", "Homeless Lane"}},
		{City, []string{"unknown", "none given"}, []string{"None Such", "Nome"}},
		{Postal, []string{"00000", "99999", "0000", "n/a"}, []string{"2222", "55555", "00501", "99950"}},
		{Generation, []string{"n/a", "none", "MD"}, []string{"Jr", "II"}},
	} {
		for _, raw := range c.missing {
			if !Parse(c.kind, raw).Missing {
				t.Errorf("kind %d: %q is taken for a value", c.kind, raw)
			}
		}
		for _, raw := range c.kept {
			if Parse(c.kind, raw).Missing {
				t.Errorf("kind %d: %q is taken for a placeholder", c.kind, raw)
			}
		}
	}
}

func TestPlaceholdersTogether(t *testing.T) {
	t.Parallel()
	p := NewParser()
	for _, c := range []struct {
		first, last             string
		firstMissing, lastKnown bool
	}{
		{"John", "Doe", true, false},
		{"Jane", "DOE", true, false},
		{"Mary", "Doe", false, true},
		{"Baby Girl", "Doe", true, false},
		{"Test", "Test", true, false},
		{"Test", "Patient", true, false},
		{"Anna", "Test", false, true},
		{"Test", "Smith", true, true},
		{"Baby Boy", "Smith", true, true},
		{"Boy", "Baby", true, false},
		{"Mickey", "Mouse", true, false},
		{"Christopher", "Null", false, true},
	} {
		person := p.Person(&Demographics{FirstName: c.first, LastName: c.last}, nil)
		if person.First.Missing != c.firstMissing || person.Last.Missing == c.lastKnown {
			t.Errorf("%s %s: first missing %t, last missing %t", c.first, c.last, person.First.Missing, person.Last.Missing)
		}
		if person.First.Fold != Fold(c.first) || person.Last.Fold != Fold(c.last) {
			t.Errorf("%s %s: exact matching would compare %q and %q", c.first, c.last, person.First.Fold, person.Last.Fold)
		}
	}
}
