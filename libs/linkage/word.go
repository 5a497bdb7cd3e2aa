package linkage

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a run of letters and digits, folded.
type word struct {
	text string
	alt  string // its other usual spelling, or the same
	dash bool   // a hyphen joins it to the word before
}

// words cuts a text where there is a space, a hyphen or other punctuation. An apostrophe cuts nothing: O'Brien is one word.
// Signs that are no punctuation, such as emoji, are words when there is nothing else.
func words(s string) iter.Seq[word] {
	return func(yield func(word) bool) {
		if ascii(s) {
			wordsASCII(s, yield)
		} else {
			wordsOf(compose(s), yield)
		}
	}
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func wordsASCII(s string, yield func(word) bool) bool {
	lower := strings.ToLower(s)
	start, dash, any := -1, false, false
	var before []byte // what an apostrophe joins to the word
	for i := 0; i <= len(lower); i++ {
		switch {
		case i < len(lower) && lowerOrDigit(lower[i]):
			if start < 0 {
				start = i
			}
			continue
		case start >= 0 && i < len(lower) && apostrophe(rune(lower[i])):
			before, start = append(before, lower[start:i]...), i+1
			continue
		case start >= 0:
			text := lower[start:i]
			if len(before) > 0 {
				text = string(append(before, text...))
			}
			if text != "" {
				if any = true; !yield(word{text: text, alt: text, dash: dash}) {
					return false
				}
			}
			start, before = -1, before[:0]
		}
		dash = i < len(lower) && lower[i] == '-' && any
	}
	return any || signs(s, yield)
}

func wordsOf(s string, yield func(word) bool) bool {
	var text, alt []byte
	dash, any := false, false
	emit := func() bool {
		if len(text) == 0 {
			return true
		}
		w := word{text: string(text), alt: string(alt), dash: dash}
		text, alt, dash, any = text[:0], alt[:0], false, true
		return yield(w)
	}
	for _, r := range s {
		switch {
		case apostrophe(r), unicode.Is(unicode.Cf, r): // joins what is beside it
		case unicode.IsSpace(r), unicode.IsPunct(r), unicode.IsSymbol(r):
			if !emit() {
				return false
			}
			dash = unicode.Is(unicode.Pd, r) && any
		default:
			text, alt = appendFolded(text, alt, unicode.ToLower(r)) // Cherokee folds to capitals, and some of them back
		}
	}
	return emit() && (any || signs(s, yield))
}

func apostrophe(r rune) bool {
	switch r {
	case '\'', '`', '´', 'ʹ', 'ʻ', 'ʼ', 'ʾ', 'ʿ', '‘', '’', '′', '‛', '＇':
		return true
	}
	return false
}

// signs is the text whole, without its spaces, when it has neither letters nor digits.
func signs(s string, yield func(word) bool) bool {
	without := func(none func(r rune) bool) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) || unicode.IsControl(r) || none(r) {
				return -1
			}
			return r
		}, s)
	}
	text := without(accent)
	if text == "" { // of accents alone, which NFKC also makes of a diaeresis that stands by itself
		text = without(func(rune) bool { return false })
	}
	return text == "" || yield(word{text: text, alt: text})
}
