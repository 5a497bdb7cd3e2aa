package linkage

import (
	"strings"
	"sync"

	"github.com/mozillazg/go-unidecode"
)

// Bounds of what is compared, so that no text costs more than a name does.
const (
	MaxParts = 8  // words of a text; the ones after are in its Fold alone
	MaxPart  = 48 // bytes of a word
	MaxWhole = 96 // bytes of a Whole
)

// Parser brings demographics into their normal forms. It only reads its tables: any number of goroutines may share one.
type Parser struct {
	nicks  map[string][]uint16
	named  [][]string // by group of nicknames
	given  shares
	family shares
}

// NewParser unpacks the tables, which takes some milliseconds: one is enough for a program.
func NewParser() *Parser {
	nicks := nicknames()
	return &Parser{nicks: nicks, named: grouped(nicks), given: newShares("given.txt.gz"), family: newShares("family.txt.gz")}
}

var standard = sync.OnceValue(NewParser) //nolint:gochecknoglobals // tables that nobody writes to, unpacked when first needed

// Parse is Parser.Parse with the tables that this package brings along.
func Parse(kind Kind, raw string) *Text { return standard().Parse(kind, raw) }

// Parse brings a text into its normal forms. It takes anything and always gives a Text.
func (p *Parser) Parse(kind Kind, raw string) *Text {
	var w [MaxParts * 2]word
	ws := w[:0]
	for word := range words(raw) {
		if ws = append(ws, word); len(ws) == cap(ws) {
			break
		}
	}
	t := &Text{Raw: raw}
	if len(ws) < cap(ws) {
		t.Fold = folded(ws)
	} else { // there may be more
		t.Fold = Fold(raw)
	}
	if kind == Blank || len(ws) == 0 || placeholder(kind, raw, ws) {
		t.Missing = true
		return t
	}
	switch kind {
	case Given:
		p.givenName(t, ws)
	case Family:
		p.familyName(t, ws)
	case Street:
		street(t, ws)
	case City:
		city(t, ws)
	case Region:
		region(t, ws)
	case Postal:
		postal(t, ws)
	case Generation:
		generationText(t, ws)
	default:
		t.setParts(ws)
	}
	t.Missing = len(t.Parts) == 0
	return t
}

// setParts makes words the parts of a text.
func (t *Text) setParts(ws []word) {
	t.Parts = make([]Part, 0, min(len(ws), MaxParts))
	for _, w := range ws[:min(len(ws), MaxParts)] {
		t.Parts = append(t.Parts, part(w))
	}
	t.Whole = run(t.Parts)
}

func run(parts []Part) string {
	if len(parts) == 1 {
		return parts[0].Text
	}
	var b strings.Builder
	for i := range parts {
		b.WriteString(parts[i].Text)
	}
	return bounded(b.String(), MaxWhole)
}

// part is a word in ASCII, or as it is in a script that has no transliteration.
func part(w word) Part {
	text := latin(w.text)
	p := Part{Text: text}
	if w.alt != w.text {
		if alt := latin(w.alt); alt != text {
			p.Alt = alt
		}
	}
	return p
}

// latin transliterates a folded word: Наталья to natal'ya, 王 to wang.
func latin(s string) string {
	if ascii(s) {
		return bounded(s, MaxPart)
	}
	if folded, ok := foldASCII(unidecode.Unidecode(s)); ok {
		return bounded(folded, MaxPart)
	}
	return bounded(s, MaxPart)
}

// bounded is the beginning of a text, cut between code points.
func bounded(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xC0 == 0x80 {
		most--
	}
	return s[:most]
}
