package vocabulary

import (
	"encoding/binary"
	"slices"
	"strings"
	"unsafe"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// What a text's bytes say besides: its kind, raw and this byte come first, then fold, whole, suffix and the words.
const (
	missing    = 1 << iota
	foldIsRaw  // fold has the bytes of raw
	wholeFold  // whole has the bytes of fold
	hasSuffix  // a suffix follows
	onlyWord   // there is one word, which is whole
	manyNoWord // no word follows
)

// write appends a text's bytes.
func write(b []byte, kind linkage.Kind, t *linkage.Text) []byte {
	b = text(append(b, byte(kind)), t.Raw)
	says := byte(0)
	set := func(bit byte, when bool) {
		if when {
			says |= bit
		}
	}
	set(missing, t.Missing)
	set(foldIsRaw, t.Fold == t.Raw)
	set(wholeFold, t.Whole == t.Fold)
	set(hasSuffix, t.Suffix != "")
	set(onlyWord, len(t.Parts) == 1 && t.Parts[0].Text == t.Whole)
	set(manyNoWord, len(t.Parts) == 0)
	b = append(b, says)
	if says&foldIsRaw == 0 {
		b = text(b, t.Fold)
	}
	if says&wholeFold == 0 {
		b = text(b, t.Whole)
	}
	if says&hasSuffix != 0 {
		b = text(b, t.Suffix)
	}
	if says&manyNoWord != 0 {
		return b
	}
	if says&onlyWord == 0 {
		b = binary.AppendUvarint(b, uint64(len(t.Parts)))
	}
	for i := range t.Parts {
		b = word(b, &t.Parts[i], t.Whole, says&onlyWord != 0)
	}
	return b
}

// What a word's bytes say besides.
const (
	wordInWhole = 1 << iota // where in whole, and how long
	wordSound
	wordSound2
	wordAlt
	wordNicks
)

func word(b []byte, p *linkage.Part, whole string, only bool) []byte {
	at := strings.Index(whole, p.Text)
	says := byte(0)
	set := func(bit byte, when bool) {
		if when {
			says |= bit
		}
	}
	set(wordInWhole, at >= 0 && !only)
	set(wordSound, p.Sound != "")
	set(wordSound2, p.Sound2 != "")
	set(wordAlt, p.Alt != "")
	set(wordNicks, len(p.Nicks) > 0)
	b = append(b, says)
	switch {
	case only:
	case at >= 0:
		b = binary.AppendUvarint(b, uint64(at))
		b = binary.AppendUvarint(b, uint64(len(p.Text)))
	default:
		b = text(b, p.Text)
	}
	for _, s := range []string{p.Sound, p.Sound2, p.Alt} {
		if s != "" {
			b = text(b, s)
		}
	}
	if len(p.Nicks) > 0 {
		b = binary.AppendUvarint(b, uint64(len(p.Nicks)))
		for _, n := range p.Nicks {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	return b
}

func text(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// read rebuilds a text in place of another, whose slices it uses.
func read(b []byte, t *linkage.Text) {
	r := reader{b: b}
	r.byte() // kind
	t.Raw = r.view()
	says := r.byte()
	t.Missing = says&missing != 0
	t.Fold, t.Suffix = t.Raw, ""
	if says&foldIsRaw == 0 {
		t.Fold = r.view()
	}
	t.Whole = t.Fold
	if says&wholeFold == 0 {
		t.Whole = r.view()
	}
	if says&hasSuffix != 0 {
		t.Suffix = r.view()
	}
	n := 1
	switch {
	case says&manyNoWord != 0:
		n = 0
	case says&onlyWord == 0:
		n = int(r.uvarint()) //nolint:gosec // as it was written
	}
	if cap(t.Parts) < n {
		t.Parts = slices.Grow(t.Parts[:cap(t.Parts)], n-cap(t.Parts))
	}
	t.Parts = t.Parts[:n]
	for i := range t.Parts {
		r.word(&t.Parts[i], t.Whole, says&onlyWord != 0)
	}
}

type reader struct {
	b []byte
	i int
}

func (r *reader) byte() byte {
	r.i++
	return r.b[r.i-1]
}

func (r *reader) uvarint() uint64 {
	if c := r.b[r.i]; c < 0x80 {
		r.i++
		return uint64(c)
	}
	v, n := binary.Uvarint(r.b[r.i:])
	r.i += n
	return v
}

func (r *reader) bytes() []byte {
	n := int(r.uvarint()) //nolint:gosec // as it was written
	r.i += n
	return r.b[r.i-n : r.i]
}

// view is a string of the bytes themselves: nobody writes over them.
func (r *reader) view() string {
	b := r.bytes()
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // entries of an arena do not change
}

func (r *reader) word(p *linkage.Part, whole string, only bool) {
	says := r.byte()
	switch {
	case only:
		p.Text = whole
	case says&wordInWhole != 0:
		at := int(r.uvarint()) //nolint:gosec // as it was written
		p.Text = whole[at:]
		p.Text = p.Text[:r.uvarint()]
	default:
		p.Text = r.view()
	}
	p.Sound, p.Sound2, p.Alt, p.Nicks = "", "", "", p.Nicks[:0]
	if says&wordSound != 0 {
		p.Sound = r.view()
	}
	if says&wordSound2 != 0 {
		p.Sound2 = r.view()
	}
	if says&wordAlt != 0 {
		p.Alt = r.view()
	}
	if says&wordNicks != 0 {
		for range r.uvarint() {
			p.Nicks = append(p.Nicks, uint16(r.uvarint())) //nolint:gosec // as it was written
		}
	}
}
