package linkage

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold is what exact matching compares: a text without case, accents, punctuation and spaces. Letters of every script
// stay. A text of signs alone, such as an emoji, folds to its signs, so that it equals itself and not the empty text.
func Fold(s string) string {
	if plain(s) {
		return s
	}
	if folded, ok := foldASCII(s); ok {
		return folded
	}
	return folded(slices.Collect(words(s)))
}

// folded is the fold that words make up.
func folded(ws []word) string {
	if len(ws) == 0 {
		return ""
	}
	text := joined(ws)
	if ascii(text) {
		return text
	}
	return norm.NFC.String(text) // what stood apart may stand in another order now
}

// plain tells that a text is its own fold, as most stored numbers and many texts are.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if !lowerOrDigit(s[i]) {
			return false
		}
	}
	return true
}

func lowerOrDigit(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

func foldASCII(s string) (folded string, ok bool) {
	b := make([]byte, 0, 64)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case lowerOrDigit(c):
			b = append(b, c)
		case 'A' <= c && c <= 'Z':
			b = append(b, c+'a'-'A')
		case c >= utf8.RuneSelf:
			return "", false
		}
	}
	return string(b), len(b) > 0
}

// appendFolded adds a rune that was composed (NFKC) and case-folded, without its accents, and to alt its other usual
// spelling in ASCII: ö is written o abroad and oe at home.
func appendFolded(b, alt []byte, r rune) (text, other []byte) {
	if r < utf8.RuneSelf {
		if c := byte(r & 0x7F); lowerOrDigit(c) {
			return append(b, c), append(alt, c)
		}
		return b, alt
	}
	if spelt, otherwise, is := special(r); is {
		return append(b, spelt...), append(alt, otherwise...)
	}
	var decomposed, kept [utf8.UTFMax * 8]byte
	rest := kept[:0]
	for _, part := range string(norm.NFKD.AppendString(decomposed[:0], string(r))) {
		if spelt, _, is := special(part); is { // ǽ is æ and an accent
			rest = append(rest, spelt...)
		} else if keeps(part) {
			rest = utf8.AppendRune(rest, part)
		}
	}
	rest = norm.NFC.Bytes(rest) // Hangul, kana
	return append(b, rest...), append(alt, rest...)
}

// special is how a Latin letter is spelt that does not decompose, or for which its language has another spelling too.
func special(r rune) (spelt, otherwise string, is bool) {
	switch r {
	case 'ä':
		return "a", "ae", true
	case 'ö', 'ø':
		return "o", "oe", true
	case 'ü':
		return "u", "ue", true
	case 'å':
		return "a", "aa", true
	case 'æ':
		return "ae", "ae", true
	case 'œ':
		return "oe", "oe", true
	case 'ł', 'ƚ':
		return "l", "l", true
	case 'đ', 'ð', 'ɖ':
		return "d", "d", true
	case 'þ':
		return "th", "th", true
	case 'ħ':
		return "h", "h", true
	case 'ı', 'ɨ':
		return "i", "i", true
	case 'ŋ':
		return "n", "ng", true
	case 'ŧ':
		return "t", "t", true
	case 'ß':
		return "ss", "ss", true
	case 'ƀ':
		return "b", "b", true
	case 'ə', 'ɛ', 'ǝ':
		return "e", "e", true
	case 'ɔ':
		return "o", "o", true
	}
	return "", "", false
}

// keeps tells what a fold keeps of decomposed text: letters and digits, and the vowel signs of scripts that write
// vowels as marks. Accents go, and so do Hebrew and Arabic points, which most people leave out.
func keeps(r rune) bool {
	if unicode.IsLetter(r) || unicode.IsNumber(r) {
		return true
	}
	return unicode.IsMark(r) && !accent(r)
}

func accent(r rune) bool {
	switch {
	case r >= 0x0300 && r <= 0x036F, r >= 0x1AB0 && r <= 0x1AFF, r >= 0x1DC0 && r <= 0x1DFF, r >= 0x20D0 && r <= 0x20FF:
		return true // combining diacritical marks
	case r >= 0x0591 && r <= 0x05C7, r >= 0x0610 && r <= 0x061A, r >= 0x064B && r <= 0x065F, r == 0x0670, r >= 0x06D6 && r <= 0x06ED:
		return true // Hebrew and Arabic points
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xFE20 && r <= 0xFE2F, r >= 0xE0100 && r <= 0xE01EF:
		return true // variation selectors, half marks
	}
	return false
}

// compose brings a text into the form that words are cut from.
func compose(s string) string { return cases.Fold().String(norm.NFKC.String(s)) }
