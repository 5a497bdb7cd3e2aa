package linkage

import (
	"strings"

	"github.com/antzucaro/matchr"
)

// sounds are the codes of a word by double metaphone (Philips 2000), which has English names in mind and gives a second code
// where another language would say the word otherwise. Spellings of one sound in transliterations are made one first.
func sounds(s string) (code, other string) {
	for i := 0; i < len(s); i++ {
		if s[i] < 'a' || s[i] > 'z' {
			return "", ""
		}
	}
	code, other = matchr.DoubleMetaphone(transliterations(s))
	if other == code {
		other = ""
	}
	return code, other
}

// transliterations makes one of what other languages write for sounds that English has one way for: Tchaikovsky, Djordje,
// Zhukov, Khalid.
func transliterations(s string) string {
	for _, pair := range [...][2]string{{"tsch", "ch"}, {"tch", "ch"}, {"dzh", "j"}, {"dj", "j"}, {"zh", "j"}, {"kh", "k"}} {
		if strings.Contains(s, pair[0]) {
			s = strings.ReplaceAll(s, pair[0], pair[1])
		}
	}
	return s
}

// SoundsLike tells that there is a way of saying both that is the same.
func (p *Part) SoundsLike(q *Part) bool {
	if p.Sound == "" || q.Sound == "" {
		return false
	}
	return p.Sound == q.Sound || p.Sound2 != "" && (p.Sound2 == q.Sound || p.Sound2 == q.Sound2) || q.Sound2 != "" && p.Sound == q.Sound2
}
