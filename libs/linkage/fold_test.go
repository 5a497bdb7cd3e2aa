package linkage

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"O'Brien": "obrien", "O’Brien": "obrien", "d'Angelo-Smith": "dangelosmith", "  Mary  Ann ": "maryann", "J.R.": "jr",
		"Müller": "muller", "MÜLLER": "muller", "Mu\u0308ller": "muller", "Straße": "strasse", "Søren": "soren", "Ægir": "aegir", "Ǽlfǿr": "aelfor", "Łukasz": "lukasz",
		"Đorđević": "dordevic", "Þór": "thor", "Şırnak": "sirnak", "İnci": "inci", "Nguyễn": "nguyen", "ﬁ": "fi", "Ａｂｃ": "abc",
		"Наталья": "наталья", "НАТАЛЬЯ": "наталья", "Νίκος": "νικοσ", "王小明": "王小明", "محمّد": "محمد", "שָׁלוֹם": "שלום",
		"\u200fدانيال\u200e": "دانيال", "राम": "राम", "रमा": "रमा", "が": "が", "か": "か",
		"😀 😀": "😀😀", "-": "-", "": "", "   ": "", "¨": "\u0308", "\u0301": "\u0301", "K": "k", "ꭽ": "ꭽ", "Ꭽ": "ꭽ",
	} {
		if got := Fold(raw); got != want {
			t.Errorf("Fold(%q) = %q, want %q", raw, got, want)
		}
	}
}

// Punctuation, spaces, case and accents make no difference; letters do.
func TestFoldForgetsOnlyWhatItShould(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SliceOfN(rapid.RuneFrom([]rune("abcxyzäéñøłñ王明رИ")), 1, 20).Draw(t, "letters")
		var noisy strings.Builder
		for _, r := range letters {
			noisy.WriteString(rapid.SampledFrom([]string{"", " ", "-", "'", ". ", "\u200f"}).Draw(t, "between"))
			if rapid.Bool().Draw(t, "upper") {
				noisy.WriteString(strings.ToUpper(string(r)))
			} else {
				noisy.WriteRune(r)
			}
		}
		if got, want := Fold(noisy.String()), Fold(string(letters)); got != want {
			t.Fatalf("Fold(%q) = %q, want %q", noisy.String(), got, want)
		}
		other := append(slices.Clone(letters), 'q')
		if Fold(string(other)) == Fold(string(letters)) {
			t.Fatalf("%q and %q fold alike", string(other), string(letters))
		}
	})
}

func FuzzFold(f *testing.F) {
	for _, s := range []string{"", "a", "é", "\xff", "e\u0301", "ß", "İ", "ŉ", "ΐ", "﷽", "\u0345a", "👩‍👩‍👧‍👦", strings.Repeat("\u0301", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Fold(s)
		if !utf8.ValidString(s) {
			return // such bytes are refused at the door
		}
		if !utf8.ValidString(once) {
			t.Fatalf("Fold(%q) is no UTF-8", s)
		}
		if twice := Fold(once); twice != once {
			t.Fatalf("Fold(%q) = %q, which folds to %q", s, once, twice)
		}
	})
}
