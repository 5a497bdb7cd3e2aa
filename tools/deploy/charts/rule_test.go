package charts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// away are the programs that a release's rules tell of when none of their instances is there.
func away(t *testing.T, args ...string) (names []string, all string) {
	t.Helper()
	rule := one(t, render(t, args...), "PrometheusRule", "mesh-patient-mesh")
	for _, g := range items(rule.at("spec", "groups")) {
		if len(items(members(g)["rules"])) == 0 {
			t.Errorf("group %v is empty", members(g)["name"])
		}
		for _, r := range items(members(g)["rules"]) {
			if name, ok := members(members(r)["labels"])["program"].(string); ok && members(r)["alert"] == "ProgramAway" {
				names = append(names, name)
			}
			all += fmt.Sprintln(members(r)["expr"])
		}
	}
	return names, all
}

// There is an alert for each program, by its name.
func TestRulesNameWhoIsAway(t *testing.T) {
	t.Parallel()
	if names, _ := away(t, example("production")...); !slices.Equal(names, programs()) {
		t.Errorf("rules for %v", names)
	}
}

// Everything is asked of this namespace's mesh, and of the collector that is named; where none is, nothing is.
func TestRulesAreNarrow(t *testing.T) {
	t.Parallel()
	_, all := away(t, example("production")...)
	if strings.Contains(all, "otelcol_") {
		t.Error("any collector is asked for")
	}
	if strings.Contains(strings.ReplaceAll(all, `job="mesh",namespace="records"`, ""), `job="`) {
		t.Error("somebody else's mesh is asked for")
	}
	named := filepath.Join(t.TempDir(), "values.yaml")
	values := "prometheusRule: {collector: 'job=\"otel\",namespace=~\"observability|records\"'}\n"
	if err := os.WriteFile(named, []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	_, all = away(t, example("production", "--values", named)...)
	if n := strings.Count(all, "otelcol_"); n == 0 || strings.Count(all, `{job="otel",namespace=~"observability|records"}`) != n {
		t.Errorf("the collector that is named is asked for otherwise:\n%s", all)
	}
	if out, err := template(example("production", "--set-string", "prometheusRule.collector=otel")...); err == nil {
		t.Errorf("a collector without a label was taken: %.100s", out)
	}
}

// Prometheus takes what the chart makes of the rules.
func TestRulesAreRules(t *testing.T) {
	t.Parallel()
	optional(t, "PROMTOOL", "promtool")
	rule := one(t, render(t, example("production", "--set-string", `prometheusRule.collector=job="otel"`)...), "PrometheusRule", "mesh-patient-mesh")
	text, err := yaml.Marshal(rule.at("spec"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := tool("PROMTOOL", "promtool", "check", "rules", "--lint=all", "--lint-fatal", path); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
