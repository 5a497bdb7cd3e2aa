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
			if !wordsASCII(s, yield) {
				return
			}
		} else if !wordsOf(compose(s), yield) {
			return
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
	start, dash, joined, any := -1, false, []byte(nil), false
	emit := func(end int) bool {
		text := lower[start:end]
		if joined != nil {
			text = string(append(joined, text...))
		}
		w := word{text: text, alt: text, dash: dash}
		start, dash, joined, any = -1, false, nil, true
		return w.text == "" || yield(w)
	}
	for i := 0; i < len(lower); i++ {
		switch c := lower[i]; {
		case lowerOrDigit(c):
			if start < 0 {
				start = i
			}
		case c == '\'' || c == '`':
			if start >= 0 {
				joined, start = append(joined, lower[start:i]...), i+1
			}
		default:
			if start >= 0 && !emit(i) {
				return false
			}
			dash = c == '-' && any
		}
	}
	if start >= 0 && !emit(len(lower)) {
		return false
	}
	if !any {
		return signs(s, yield)
	}
	return true
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
			text, alt = appendFolded(text, alt, r)
		}
	}
	if !emit() {
		return false
	}
	if !any {
		return signs(s, yield)
	}
	return true
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
	text := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || accent(r) {
			return -1
		}
		return r
	}, s)
	return text == "" || yield(word{text: text, alt: text})
}
