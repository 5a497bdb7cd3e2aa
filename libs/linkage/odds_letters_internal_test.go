package linkage

import (
	"strings"
	"testing"
)

// Every name of the Census has letters that its own codes ask for.
func TestNamesAreSpeltAsTheySound(t *testing.T) {
	t.Parallel()
	n := 0
	silent := map[byte][]string{}
	for _, table := range []string{"given.txt.gz", "family.txt.gz"} {
		lines(table, func(line string) {
			name, _, _ := strings.Cut(line, " ")
			name = Fold(strings.Split(name, "\t")[0])
			name, _, _ = strings.Cut(name, ",")
			code, other := sounds(name)
			for _, c := range []string{code, other} {
				for i := range len(name) {
					if s := heardAs(name[i]); s != "" && c != "" && len(c) < 4 && !anySign(c, s) {
						silent[name[i]] = append(silent[name[i]], name+" "+c)
					}
				}
				for i := range len(c) {
					if set := spelling(c[i]); set != 0 && set&letterSet(name) == 0 {
						if n++; n < 40 {
							t.Errorf("%s has %c in %s, and no letter for it", name, c[i], c)
						}
					}
				}
			}
		})
	}
	for c, names := range silent {
		t.Errorf("%c is silent in %d: %v", c, len(names), names[:min(10, len(names))])
	}
}
