package principal_test

import (
	"strings"
	"testing"
)

func TestSealedTextOpensForWhatItIsBoundToAlone(t *testing.T) {
	old, both, next := ring(t, "a"), ring(t, "b", "a"), ring(t, "b")
	for _, text := range []string{"", "Müller & Söhne", strings.Repeat("😀", 500)} {
		sealed := old.Seal(text, "tenant", "7")
		if got, ok := both.Open(sealed, "tenant", "7"); !ok || got != text {
			t.Errorf("%.20q came back as %.20q, %v", text, got, ok)
		}
		if strings.ContainsAny(sealed, "+/=&.% ") || sealed == old.Seal(text, "tenant", "7") {
			t.Error("it is not fit for a URL, or shows when texts are equal")
		}
		for name, ok := range map[string]bool{
			"another binding": opens(both.Open(sealed, "tenant", "8")), "another key": opens(next.Open(sealed, "tenant", "7")),
			"changed": opens(both.Open("A"+sealed[1:], "tenant", "7")) && sealed[0] != 'A', "cut": opens(both.Open(sealed[:20], "tenant", "7")),
			"nothing": opens(both.Open("", "tenant", "7")), "no base64": opens(both.Open("%", "tenant", "7")),
		} {
			if ok {
				t.Errorf("%s opens", name)
			}
		}
	}
}

func opens(_ string, ok bool) bool { return ok }
