package index

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// plainTexts keeps texts as they are, to tell a fault of records from one of the vocabulary.
type plainTexts struct{ texts []*linkage.Text }

func (p *plainTexts) text(number uint32) *linkage.Text { return p.texts[number-1] }

func (p *plainTexts) number(t *linkage.Text) uint32 {
	p.texts = append(p.texts, t)
	return uint32(len(p.texts))
}

// TestRecordKeepsEverything: what was written is read, shown as it was given, and has the same keys, without which a removal
// would leave keys behind.
func TestRecordKeepsEverything(t *testing.T) {
	x := New(Options{})
	rapid.Check(t, func(t *rapid.T) {
		d := people(t, rapid.Int64Range(1, 1<<53).Draw(t, "id"))
		var texts plainTexts
		k := keyer{seed: x.seed}
		var one, other record
		x.parser.Fill(&one.person, &d, nil)
		one.learn(&d)
		keys := slices.Clone(k.of(&one))
		body := one.write(nil, texts.number)
		other.read(body, &texts)
		if again := k.of(&other); !slices.Equal(keys, again) {
			t.Fatalf("%s\nhas keys %v, and read again %v", show(d), keys, again)
		}
		var shown linkage.Demographics
		other.show(profileOf(&d), &shown)
		if show(shown) != show(childless(d)) {
			t.Fatalf("%s is shown as\n%s", show(d), show(shown))
		}
		if got, want := len(other.write(nil, (&plainTexts{}).number)), len(body); got > want+8 {
			t.Fatalf("written again it has %d bytes of %d", got, want)
		}
	})
}
