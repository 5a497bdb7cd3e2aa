package charts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Grafana gets each dashboard of the folder, which compose shows as it is, for the mesh of its namespace alone.
func TestDashboards(t *testing.T) {
	t.Parallel()
	for _, o := range render(t, example("demo")...) {
		if strings.Contains(o.Metadata.Name, "dashboard") {
			t.Errorf("%s, which nobody asked for", o)
		}
	}
	files, err := filepath.Glob(filepath.Join(source, "patient-mesh", "dashboards", "*.json"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%d dashboards, %v", len(files), err)
	}
	list := render(t, example("production", "--set", "dashboards.datasource=thanos")...)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		o := one(t, list, "ConfigMap", "mesh-dashboard-"+name)
		if o.Metadata.Labels["grafana_dashboard"] != "1" || o.Metadata.Annotations["grafana_folder"] != "Patient Mesh" {
			t.Errorf("%s: %v %v", o, o.Metadata.Labels, o.Metadata.Annotations)
		}
		text, _ := o.at("data", "records-"+name+".json").(string)
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, `"uid":"prometheus"`) || !strings.Contains(text, `"uid":"thanos"`) {
			t.Errorf("%s asks another Prometheus", o)
		}
		there, here := dashboard(t, string(raw)), dashboard(t, text)
		if here.UID != there.UID+"-records" || here.Title != there.Title+" (records)" || len(here.Panels) != len(there.Panels) {
			t.Errorf("%s: %q, %q, %d panels", o, here.UID, here.Title, len(here.Panels))
		}
		for _, panel := range here.Panels {
			for _, target := range panel.Targets {
				ofThisMesh(t, o.String()+" "+panel.Title, target.Expr)
			}
		}
	}
}

// ofThisMesh: whatever an expression asks for is of this namespace; the collector is not the chart's.
func ofThisMesh(t *testing.T, where, expr string) {
	t.Helper()
	metric := regexp.MustCompile(`\b([a-zA-Z_:]+[a-zA-Z0-9_:]*)(\{[^}]*\})?`)
	bare := regexp.MustCompile(`(by|without|on|ignoring|group_left|group_right) ?\([^)]*\)|\[[^\]]*\]`).ReplaceAllString(expr, "")
	for _, m := range metric.FindAllStringSubmatch(bare, -1) {
		name, selector := m[1], m[2]
		plain := !strings.ContainsAny(name, "_:") && name != "up" && name != "ALERTS"
		if plain || name == "histogram_quantile" || name == "label_replace" || strings.HasPrefix(name, "otelcol_") {
			continue
		}
		if !strings.Contains(selector, `namespace="records"`) {
			t.Errorf("%s: %s%s in %s", where, name, selector, expr)
		}
	}
}

// shown is what we look at of a dashboard.
type shown struct {
	UID, Title string
	Panels     []struct {
		Title   string
		Targets []struct{ Expr string }
	}
}

func dashboard(t *testing.T, text string) (d shown) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}
