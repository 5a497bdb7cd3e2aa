package charts

import (
	"fmt"
	"strings"
	"testing"
)

// All records are in the Cluster: it stays when the release goes, unless somebody says otherwise.
func TestDatabasesStay(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{"keep": example("demo"), "": example("demo", "--set", "postgres.keep=false")} {
		n := 0
		for _, o := range render(t, args...) {
			if o.Kind == "Cluster" || o.Kind == "Database" {
				n++
				if got := o.Metadata.Annotations["helm.sh/resource-policy"]; got != want {
					t.Errorf("%s: policy %q, want %q", o, got, want)
				}
			}
		}
		if n != 6 {
			t.Errorf("%d objects, want a cluster and five databases", n)
		}
	}
}

// Each role is let into its own database, and then all of them are refused.
func TestRolesStayInTheirDatabases(t *testing.T) {
	t.Parallel()
	cluster := one(t, render(t, example("demo")...), "Cluster", "mesh-postgres")
	rules := items(cluster.at("spec", "postgresql", "pg_hba"))
	if len(rules) != 6 {
		t.Fatalf("%d rules", len(rules))
	}
	refused := strings.Fields(fmt.Sprint(rules[5]))
	if refused[1] != "all" || refused[len(refused)-1] != "reject" {
		t.Errorf("the last rule is %v", refused)
	}
	for _, r := range items(cluster.at("spec", "managed", "roles")) {
		role, _ := members(r)["name"].(string)
		if !strings.Contains(","+refused[2]+",", ","+role+",") {
			t.Errorf("%s is not refused", role)
		}
		for _, rule := range rules[:5] {
			fields := strings.Fields(fmt.Sprint(rule))
			if lets := strings.Contains(","+fields[2]+",", ","+role+","); lets != (fields[1] == strings.TrimSuffix(role, "_owner")) {
				t.Errorf("%s, by %v: %v", role, fields, lets)
			}
		}
	}
}
