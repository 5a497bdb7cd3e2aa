package charts

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What scales by CPU asks for what a pod should use, and the connections of all pods are those that the example reckons.
func TestProductionScales(t *testing.T) {
	t.Parallel()
	list := render(t, example("production")...)
	connections, scaling := 0, 0
	for _, name := range programs() {
		deployment := one(t, list, "Deployment", "mesh-"+name)
		pods, _ := deployment.at("spec", "replicas").(int)
		for _, o := range list {
			if o.Kind == "HorizontalPodAutoscaler" && o.Metadata.Name == deployment.Metadata.Name {
				scaling++
				pods, _ = o.at("spec", "maxReplicas").(int)
				cpu := members(members(members(items(deployment.pod()["containers"])[0])["resources"])["requests"])["cpu"]
				if cpu != "1" {
					t.Errorf("%s scales by its share of %v cores", name, cpu)
				}
			}
		}
		text, _ := one(t, list, "ConfigMap", "mesh-"+name).at("data", "DATABASE_MAX_CONNS").(string)
		each, err := strconv.Atoi(text)
		if err != nil || pods == 0 {
			t.Fatalf("%s: %d pods, %v", name, pods, err)
		}
		if name != "gateway" {
			connections += pods * (each + 2)
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, "patient-mesh", "examples", "production.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`= (\d+)`).FindStringSubmatch(strings.ReplaceAll(string(text), "\n", " "))
	if scaling != 5 || said == nil || said[1] != fmt.Sprint(connections) {
		t.Errorf("%d programs scale, to %d connections; the example says %v", scaling, connections, said)
	}
}
