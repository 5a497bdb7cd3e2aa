package vocabulary_test

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/services/matching/index/posting"
	"github.com/patient-mesh/patient-mesh/services/matching/index/vocabulary"
)

// borne is a text of a vocabulary as a map has it.
type borne struct {
	kind    linkage.Kind
	raw     string
	text    linkage.Text // as it was parsed
	number  uint32
	bearers int
}

// model is what a vocabulary is held against.
type model struct {
	parser *linkage.Parser
	words  *vocabulary.Vocabulary
	texts  map[string]*borne // by kind and raw
	names  []string          // its keys in the order in which they came, for the draws to be repeatable
	gone   uint64
}

func key(kind linkage.Kind, raw string) string { return fmt.Sprint(kind, "\x00", raw) }

// TestVocabulary takes and drops texts of all kinds, and tidies: each is found under its number, as it was parsed, for as long as
// somebody bears it.
func TestVocabulary(t *testing.T) {
	parser := linkage.NewParser()
	rapid.Check(t, func(t *rapid.T) {
		m := &model{parser: parser, words: vocabulary.New(maphash.MakeSeed(), &posting.Lists{}), texts: map[string]*borne{}}
		raws := rapid.OneOf(
			rapid.SampledFrom([]string{
				"", "Ana", "Robert", "José María de la Cruz", "Smith-Jones III", "unknown", "李", "O'Brien", "12 Main St", "St. Louis", "02139-1234",
				strings.Repeat("Lehmann ", 80), // longer than what is written at once
			}), rapid.StringN(0, 30, 90),
		)
		kinds := rapid.SampledFrom([]linkage.Kind{linkage.Given, linkage.Family, linkage.Street, linkage.City, linkage.Region, linkage.Postal, linkage.Plain})
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) { m.take(t, kinds.Draw(t, "kind"), raws.Draw(t, "raw")) },
			"take many": func(t *rapid.T) {
				for n := range rapid.IntRange(1, 60).Draw(t, "texts") {
					m.take(t, linkage.Family, strings.Repeat("name ", n%7)+fmt.Sprint(n))
				}
			},
			"retake": func(t *rapid.T) {
				if b := m.some(t); b != nil {
					m.words.Retake(b.number)
					b.bearers++
				}
			},
			"drop": func(t *rapid.T) { m.drop(m.some(t)) },
			"drop many": func(t *rapid.T) {
				for _, name := range slices.Clone(m.names[:rapid.IntRange(0, len(m.names)).Draw(t, "texts")]) {
					m.drop(m.texts[name])
				}
			},
			"tidy": func(t *rapid.T) { m.words.Tidy(rapid.IntRange(1, 100).Draw(t, "steps")) },
			"":     m.check,
		})
	})
}

func (m *model) take(t *rapid.T, kind linkage.Kind, raw string) {
	text := m.parser.Parse(kind, raw)
	number, b := m.words.Take(kind, text), m.texts[key(kind, raw)]
	if b == nil {
		b = &borne{kind: kind, raw: raw, text: *text, number: number}
		m.texts[key(kind, raw)] = b
		m.names = append(m.names, key(kind, raw))
	}
	b.bearers++
	if b.number != number || number == 0 {
		t.Fatalf("%q is number %d, it was %d", raw, number, b.number)
	}
}

// some is one of the texts that somebody bears; nil: nobody bears any.
func (m *model) some(t *rapid.T) *borne {
	if len(m.names) == 0 {
		return nil
	}
	return m.texts[rapid.SampledFrom(m.names).Draw(t, "text")]
}

func (m *model) drop(b *borne) {
	if b == nil {
		return
	}
	m.words.Drop(b.number)
	if b.bearers--; b.bearers > 0 {
		return
	}
	m.gone++
	delete(m.texts, key(b.kind, b.raw))
	m.names = slices.DeleteFunc(m.names, func(name string) bool { return m.texts[name] == nil })
}

// check holds all that the vocabulary tells against the map.
func (m *model) check(t *rapid.T) {
	if m.words.Texts() != len(m.texts) || m.words.Removed != m.gone {
		t.Fatalf("%d texts, %d went; want %d and %d", m.words.Texts(), m.words.Removed, len(m.texts), m.gone)
	}
	if n := m.words.Number(linkage.Given, "nobody's"); n != 0 {
		t.Fatalf("what nobody bears is number %d", n)
	}
	var one linkage.Text
	var all []*linkage.Text
	numbers := map[uint32]bool{}
	for _, name := range m.names {
		b := m.texts[name]
		if got := m.words.Number(b.kind, b.raw); got != b.number || numbers[got] {
			t.Fatalf("%q is number %d, want %d", b.raw, got, b.number)
		}
		numbers[b.number] = true
		if raw := m.words.Raw(b.number); raw != b.raw {
			t.Fatalf("%q is %q", b.raw, raw)
		}
		m.words.Fill(b.number, &one)
		m.same(t, b, &one)
		all = append(all, &linkage.Text{ID: b.number})
	}
	m.words.FillAll(all)
	for i, name := range m.names {
		m.same(t, m.texts[name], all[i])
	}
}

func (m *model) same(t *rapid.T, b *borne, got *linkage.Text) {
	t.Helper()
	want := b.text
	want.ID = b.number
	alike := slices.EqualFunc(want.Parts, got.Parts, func(a, b linkage.Part) bool {
		return a.Text == b.Text && a.Alt == b.Alt && a.Sound == b.Sound && a.Sound2 == b.Sound2 && slices.Equal(a.Nicks, b.Nicks)
	})
	if !alike || want.ID != got.ID || want.Raw != got.Raw || want.Fold != got.Fold || want.Missing != got.Missing || want.Whole != got.Whole || want.Suffix != got.Suffix {
		t.Fatalf("%+v is\n%+v", want, *got)
	}
}
