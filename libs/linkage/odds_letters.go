package linkage

import (
	"maps"
	"slices"
)

// Extra is how many letters more than a name of some length another may have, of which some of the first one's are missing, for
// both to be similar at all, as mostSimilar bounds it; negative: with none, unless one is the beginning of the other.
func Extra(length, missing int) int {
	const long = 31 // see beginning
	if length > long || missing == 0 && length >= 3 {
		return 1 << 10
	}
	common := float64(length - missing)
	if common <= 0 || length < 4 {
		return -1
	}
	bonus := 0.1 * min(common, 4)
	jaro := (similarity - bonus) / (1 - bonus)
	share := 3*jaro - 1 - common/float64(length) // what has to be common of the other
	switch {
	case share > 1:
		return -1
	case share <= 0:
		return 1 << 10
	}
	return int(common/share - common + 1e-9)
}

// spelling is, for each sign of a code of SoundsLike, the letters of which a name that has it has one at least, as bits from
// a to z; a sign that is not told can be of any.
func spelling(sign byte) uint32 {
	switch sign {
	case 'L', 'M', 'N', 'R':
		return 1 << (sign - 'A')
	case 'P':
		return letterSet("pb")
	case 'F':
		return letterSet("fvpgw")
	case 'K':
		return letterSet("kcqgxh")
	case 'S':
		return letterSet("szcxt")
	case 'X':
		return letterSet("cstzxj")
	case 'T', '0':
		return letterSet("tdzcs")
	case 'J':
		return letterSet("jgdzyl")
	}
	return 0
}

// Sounds appends what letters a name must have that sounds like a part: one of each set. No sets: any name can.
func (p *Part) Sounds(sets []uint32) []uint32 {
	for i := range len(p.Sound) {
		if s := spelling(p.Sound[i]); s != 0 && (p.Sound2 == "" || hasSign(p.Sound2, p.Sound[i])) {
			sets = append(sets, s)
		}
	}
	return sets
}

// Silent are the letters, as bits from a to z, of which a name has none that sounds like a part: each has a sign in codes that
// are short enough to tell all.
func (p *Part) Silent() (none uint32) {
	const whole = 4 // signs, of which longer codes are the beginning
	if len(p.Sound) >= whole || len(p.Sound2) >= whole || p.Sound == "" {
		return 0
	}
	for c := byte('a'); c <= 'z'; c++ {
		if s := heardAs(c); s != "" && !anySign(p.Sound, s) && !anySign(p.Sound2, s) {
			none |= 1 << (c - 'a')
		}
	}
	return none
}

// heardAs are the signs that a letter has in every code that is not cut short; none: it can be silent.
func heardAs(letter byte) string {
	switch letter {
	case 'm':
		return "M"
	case 'n':
		return "N"
	case 'f', 'v':
		return "F"
	case 'p':
		return "PF"
	case 'b': // crumb
		return "PM"
	case 'c':
		return "KSX"
	case 'k': // knight
		return "KXN"
	case 'q':
		return "K"
	case 't': // mitch
		return "T0XSK"
	case 'd': // nadja
		return "TJAH"
	case 'z': // zhane
		return "SXTJAH"
	}
	return ""
}

func anySign(code, signs string) bool {
	for i := range len(signs) {
		if hasSign(code, signs[i]) {
			return true
		}
	}
	return false
}

func hasSign(code string, sign byte) bool {
	for i := range len(code) {
		if code[i] == sign {
			return true
		}
	}
	return false
}

// Nicknames calls each with names that a name of the question is a nickname of, or that are nicknames of it.
func (p *Parser) Nicknames(t *Text, each func(name string)) {
	for i := range t.Parts {
		for _, group := range t.Parts[i].Nicks {
			for _, name := range p.named[group] {
				each(name)
			}
		}
	}
}

// grouped are the names of each group.
func grouped(nicks map[string][]uint16) [][]string {
	var named [][]string
	for _, name := range slices.Sorted(maps.Keys(nicks)) {
		for _, group := range nicks[name] {
			for len(named) <= int(group) {
				named = append(named, nil)
			}
			named[group] = append(named[group], name)
		}
	}
	return named
}
