package slip

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
)

// Plain is a text in the letters that every keyboard has: accents dropped, and letters of their own replaced by their nearest.
func Plain(text string) string {
	ascii := true
	for i := range len(text) {
		ascii = ascii && text[i] < utf8.RuneSelf
	}
	if ascii {
		return text
	}
	var out strings.Builder
	for _, r := range norm.NFD.String(text) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r < utf8.RuneSelf:
			out.WriteRune(r)
		default:
			out.WriteString(nearest(r))
		}
	}
	return out.String()
}

func nearest(r rune) string {
	switch r {
	case 'Ł', 'ł', 'Đ', 'đ', 'Ø', 'ø', 'ı', 'Ð', 'ð':
		return map[rune]string{'Ł': "L", 'ł': "l", 'Đ': "D", 'đ': "d", 'Ø': "O", 'ø': "o", 'ı': "i", 'Ð': "D", 'ð': "d"}[r]
	case 'Æ', 'æ', 'Œ', 'œ', 'ß', 'Þ', 'þ':
		return map[rune]string{'Æ': "Ae", 'æ': "ae", 'Œ': "Oe", 'œ': "oe", 'ß': "ss", 'Þ': "Th", 'þ': "th"}[r]
	}
	return ""
}

// Accents drops the accents of a text.
func Accents(_ *dice.Dice, text string) (string, bool) { return changed(text, Plain(text)) }

// Hyphen loses a hyphen: the parts stand apart, together, or one of them is lost.
func Hyphen(d *dice.Dice, text string) (string, bool) { return unbind(d, text, "-") }

// Apostrophe loses an apostrophe: the parts stand together or apart.
func Apostrophe(d *dice.Dice, text string) (string, bool) {
	before, after, ok := strings.Cut(text, "'")
	if !ok {
		return text, false
	}
	if d.Chance(0.7) {
		return before + after, true
	}
	return before + " " + after, true
}

// Space loses a space: the parts stand together, with a hyphen between them, or one of them is lost.
func Space(d *dice.Dice, text string) (string, bool) { return unbind(d, text, " ") }

func unbind(d *dice.Dice, text, between string) (string, bool) {
	before, after, ok := strings.Cut(text, between)
	if !ok || before == "" || after == "" {
		return text, false
	}
	other := map[string]string{"-": " ", " ": "-"}[between]
	switch share := d.Below(100); {
	case share < 40:
		return before + other + after, true
	case share < 70:
		return before + strings.ToLower(after), true
	case share < 85:
		return before, true
	default:
		return after, true
	}
}

// Split puts a space or a case into a name that has a prefix: McDonald becomes Mc Donald, Vandyke Van Dyke.
func Split(_ *dice.Dice, text string) (string, bool) {
	for _, prefix := range []string{"Vander", "Mac", "Mc", "Van", "Von", "Dela", "De", "Di", "La", "Le", "St", "Fitz"} {
		rest, ok := strings.CutPrefix(text, prefix)
		if ok && len(rest) > 3 && rest[0] != ' ' && rest[0] != '.' {
			return prefix + " " + strings.ToUpper(rest[:1]) + rest[1:], true
		}
	}
	return text, false
}

// Upper writes a text in capitals.
func Upper(_ *dice.Dice, text string) (string, bool) { return changed(text, strings.ToUpper(text)) }

// Lower writes a text in small letters.
func Lower(_ *dice.Dice, text string) (string, bool) { return changed(text, strings.ToLower(text)) }
