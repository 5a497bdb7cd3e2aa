package linkage_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// The README's table is the default model's: UPDATE=1 writes it anew.
func TestREADME(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- levels -->\n", "<!-- /levels -->"
	before, rest, found := strings.Cut(string(raw), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("no table of levels")
	}
	want := before + begin + table(linkage.Default()) + end + after
	if want == string(raw) {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatal("the README tells of another model; UPDATE=1 go test -run README ./linkage")
	}
	if err := os.WriteFile("README.md", []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
}

func table(m *linkage.Model) string {
	var b strings.Builder
	b.WriteString("\n| Field | Level | m | u | bits | |\n|---|---|---|---|---|---|\n")
	for _, field := range m.Fields {
		for l, level := range field.Levels {
			name, more := "", ""
			if l == 0 {
				name = field.Name
			}
			if level.Spread > 0 {
				more = fmt.Sprintf("spread %g ", level.Spread)
			}
			if level.Veto != "" {
				more += "veto " + strings.ReplaceAll(string(level.Veto), "_", " ")
			}
			fmt.Fprintf(&b, "| %s | %s | %g | %g | %.1f | %s |\n", name, level.Name, level.M, level.U, math.Log2(level.M/level.U), strings.TrimSpace(more))
		}
	}
	b.WriteString("\n")
	return b.String()
}
