package slip

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
)

// Typing is one mistake of typing, with its name: a substitution, insertion, deletion or transposition (Damerau 1964). All
// happen at letters and digits only, so that what stands between them, as in a date or an e-mail address, stays where it is.
func Typing(d *dice.Dice, text string) (out, kind string, ok bool) {
	for range 8 { // one that cannot happen to this text gives way to another
		kind, slip := typing(d)
		if out, ok := slip(d, text); ok {
			return out, kind, true
		}
	}
	return text, "", false
}

// typing chooses by the shares of single-error misspellings that Kukich 1992 gathers: they vary from study to study, with
// substitutions and omissions before insertions, and transpositions rarest.
func typing(d *dice.Dice) (string, Slip) {
	switch share := d.Below(100); {
	case share < 35:
		return "substitution", Substitute
	case share < 62:
		return "deletion", Delete
	case share < 85:
		return "insertion", Insert
	default:
		return "transposition", Transpose
	}
}

// Digits is one mistake of typing that leaves as many digits as there were: a wrong one, or two swapped.
func Digits(d *dice.Dice, text string) (string, bool) {
	slip := Substitute
	if d.Chance(0.3) {
		slip = Transpose
	}
	return slip(d, text)
}

// Substitute hits a key beside the right one.
func Substitute(d *dice.Dice, text string) (string, bool) {
	runes := []rune(text)
	at, ok := place(d, runes, func(i int) bool { return neighbours(runes[i]) != "" })
	if !ok {
		return text, false
	}
	runes[at] = beside(d, runes[at])
	return changed(text, string(runes))
}

// Insert hits a key twice, or one beside it as well.
func Insert(d *dice.Dice, text string) (string, bool) {
	runes := []rune(text)
	at, ok := place(d, runes, func(i int) bool { return neighbours(runes[i]) != "" })
	if !ok {
		return text, false
	}
	extra := unicode.ToLower(runes[at])
	if d.Chance(0.5) {
		extra = unicode.ToLower(beside(d, extra))
	}
	if at > 0 && unicode.IsUpper(runes[at]) && unicode.IsUpper(runes[at-1]) { // among capitals
		extra = unicode.ToUpper(extra)
	}
	return string(runes[:at+1]) + string(extra) + string(runes[at+1:]), true
}

// Delete misses a key. Something is left.
func Delete(d *dice.Dice, text string) (string, bool) {
	runes := []rune(text)
	at, ok := place(d, runes, func(i int) bool {
		return written(runes[i]) && (i > 0 && written(runes[i-1]) || i+1 < len(runes) && written(runes[i+1]))
	})
	if !ok {
		return text, false
	}
	rest := slices.Delete(runes, at, at+1)
	if first, _ := utf8.DecodeRuneInString(text); at == 0 && unicode.IsUpper(first) { // the next one begins the name
		rest[0] = unicode.ToUpper(rest[0])
	}
	return changed(text, string(rest))
}

// Transpose hits two keys in the wrong order.
func Transpose(d *dice.Dice, text string) (string, bool) {
	runes := []rune(text)
	at, ok := place(d, runes, func(i int) bool {
		return i+1 < len(runes) && written(runes[i]) && written(runes[i+1]) && unicode.ToLower(runes[i]) != unicode.ToLower(runes[i+1])
	})
	if !ok {
		return text, false
	}
	first, second := runes[at], runes[at+1]
	if unicode.IsUpper(first) && unicode.IsLower(second) { // "Anna" is mistyped "Nana"
		first, second = unicode.ToLower(first), unicode.ToUpper(second)
	}
	runes[at], runes[at+1] = second, first
	return string(runes), true
}

// place chooses where a mistake happens, among the places that can have it. The first letter is mistaken half as often as
// the others are (Pollock and Zamora 1984 found few errors there).
func place(d *dice.Dice, runes []rune, can func(i int) bool) (int, bool) {
	if len(runes) == 0 {
		return 0, false
	}
	at := d.Below(len(runes))
	if at == 0 && d.Chance(0.5) {
		at = d.Below(len(runes))
	}
	for range runes {
		if can(at) {
			return at, true
		}
		at = (at + 1) % len(runes)
	}
	return 0, false
}

func written(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// beside is a key beside another, in the same case.
func beside(d *dice.Dice, r rune) rune {
	keys := neighbours(r)
	key := rune(keys[d.Below(len(keys))])
	if unicode.IsUpper(r) {
		return unicode.ToUpper(key)
	}
	return key
}

// neighbours are the keys that touch one on an American keyboard. Digits have only digits beside them, since whoever types
// a number has the hand at the numbers. Keys that are not on it have none.
func neighbours(r rune) string {
	const keyboard = "q:wa w:qeas e:wrsd r:etdf t:ryfg y:tugh u:yihj i:uojk o:ipkl p:ol " +
		"a:qwsz s:awedzx d:serfxc f:drtgcv g:ftyhvb h:gyujbn j:huiknm k:jiolm l:kop " +
		"z:asx x:zsdc c:xdfv v:cfgb b:vghn n:bhjm m:njk " +
		"1:2 2:13 3:24 4:35 5:46 6:57 7:68 8:79 9:80 0:9"
	r = unicode.ToLower(r)
	if r > unicode.MaxASCII || !written(r) {
		return ""
	}
	_, after, _ := strings.Cut(keyboard, string(r)+":")
	keys, _, _ := strings.Cut(after, " ")
	return keys
}
