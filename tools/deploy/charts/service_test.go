package charts

import (
	"slices"
	"testing"
)

// Both Services of a program are there whatever finds it, so that another way can be chosen of a release that runs: the API
// server lets nobody change clusterIP.
func TestServicesOutliveTheKindOfDiscovery(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"dns", "service", "consul"} {
		list := render(t, example("production", append(agents(), "--set", "global.discovery.kind="+kind)...)...)
		for _, name := range programs() {
			if ip := one(t, list, "Service", "mesh-"+name).at("spec", "clusterIP"); ip != nil {
				t.Errorf("%s: clusterIP of %s is %v", kind, name, ip)
			}
			if ip := one(t, list, "Service", "mesh-"+name+"-pods").at("spec", "clusterIP"); ip != "None" {
				t.Errorf("%s: clusterIP of %s's pods is %v", kind, name, ip)
			}
		}
	}
}

// Metrics are scraped of every pod by the headless Service, and are not at the address that the world is shown.
func TestMetricsAreNotPublic(t *testing.T) {
	t.Parallel()
	list := render(t, example("production", "--set", "gateway.service.type=LoadBalancer")...)
	for _, name := range programs() {
		monitor := one(t, list, "ServiceMonitor", "mesh-"+name)
		port := members(items(monitor.at("spec", "endpoints"))[0])["port"]
		var found []string
		for _, o := range list {
			if o.Kind != "Service" {
				continue
			}
			var ports []any
			for _, p := range items(o.at("spec", "ports")) {
				ports = append(ports, members(p)["name"])
			}
			if matches(members(monitor.at("spec", "selector", "matchLabels")), o.Metadata.Labels) {
				found = append(found, o.Metadata.Name)
				if !slices.Contains(ports, port) {
					t.Errorf("%s has no port %v", o, port)
				}
			} else if o.Metadata.Name == "mesh-"+name && slices.Contains(ports, any("metrics")) {
				t.Errorf("%s shows metrics", o)
			}
		}
		if !slices.Equal(found, []string{"mesh-" + name + "-pods"}) {
			t.Errorf("%s is scraped by %v", name, found)
		}
	}
}
