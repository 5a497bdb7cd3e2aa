package synth

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The table of the README is the one that errors happen by.
func TestReadmeTellsTheRates(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, r := range Rates() {
		fmt.Fprintf(&table, "| %s | %s | %.1f |\n", strings.ReplaceAll(r.Fields, ",", ", "), r.Kind, 100*r.Probability)
	}
	if !strings.Contains(string(text), table.String()) {
		t.Errorf("the table should be:\n%s", table.String())
	}
}
