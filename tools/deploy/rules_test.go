package deploy

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Prometheus takes its configuration and the rules, and these say what they are to of series that are made up.
func TestRules(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not on this machine: no rule was tried")
	}
	rules, err := filepath.Glob(filepath.Join(root(t), "charts", "patient-mesh", "rules", "*.yml"))
	if err != nil || len(rules) == 0 {
		t.Fatal("there are no rules", err)
	}
	for what, words := range map[string][]string{
		"configuration": {"check", "config", filepath.Join(root(t), "compose", "prometheus", "prometheus.yml")},
		"syntax":        append([]string{"check", "rules", "--lint=all", "--lint-fatal"}, rules...),
		"meaning":       {"test", "rules", filepath.Join("testdata", "rules.yml")},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			if out, err := run(t.Context(), nil, append([]string{promtool}, words...)...); err != nil {
				t.Errorf("promtool %s: %v\n%s", strings.Join(words, " "), err, out)
			}
		})
	}
}
