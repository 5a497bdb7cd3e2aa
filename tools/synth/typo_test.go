package synth

import (
	"strings"
	"testing"
)

func TestOneTypoIsExactlyOne(t *testing.T) {
	var first Record
	seen := map[string]int{}
	for r := range with(t, Options{Seed: 9, People: 8000, Duplicated: 1, Copies: 2, Mode: OneTypo}).Records() {
		if r.Copy == 0 {
			if len(r.Errors) > 0 {
				t.Fatalf("the first record has errors: %v", r.Errors)
			}
			first = r
			continue
		}
		if len(r.Errors) != 1 || len(r.Events) != 0 {
			t.Fatalf("errors %v, events %v", r.Errors, r.Events)
		}
		field, kind, _ := strings.Cut(r.Errors[0], ":")
		seen[field]++
		seen[kind]++
		was, is := first.value(field), r.value(field)
		if distance(strings.ToLower(was), strings.ToLower(is)) != 1 {
			t.Errorf("%s: %q to %q is not one error of typing", r.Errors[0], was, is)
		}
		*r.field(field) = was
		r.Copy, r.Errors = 0, nil
		if !same(first, r) {
			t.Errorf("something else than %s differs", field)
		}
	}
	for _, what := range append(TypoFields(), "substitution", "insertion", "deletion", "transposition", "digit") {
		if seen[what] == 0 {
			t.Errorf("never: %s", what)
		}
	}
}

func TestOneTypoInChosenFields(t *testing.T) {
	for r := range with(t, Options{Seed: 9, People: 500, Duplicated: 1, Mode: OneTypo, Fields: []string{"lastName", "dob"}}).Records() {
		if r.Copy > 0 && !strings.HasPrefix(r.Errors[0], "lastName:") && !strings.HasPrefix(r.Errors[0], "dob:") {
			t.Errorf("%v", r.Errors)
		}
	}
}

// distance is that of Damerau and Levenshtein, without editing a piece twice.
func distance(one, other string) int {
	a, b := []rune(one), []rune(other)
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
