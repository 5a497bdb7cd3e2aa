package charts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// DNS is asked at the ports and addresses that are said, by programs and by the test.
func TestDNSIsWhereItIsSaid(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"53": example("demo"), "5353": example("demo", "--set", "global.outside.dns.ports={5353}"),
	} {
		list := render(t, args...)
		for _, name := range append(programs(), "test") {
			var ports []string
			for _, rule := range items(one(t, list, "NetworkPolicy", "mesh-"+name).at("spec", "egress")) {
				for _, p := range items(members(rule)["ports"]) {
					if members(p)["protocol"] == "UDP" {
						ports = append(ports, fmt.Sprint(members(p)["port"]))
						if !strings.Contains(fmt.Sprint(members(rule)["ports"]), "TCP") || !strings.Contains(fmt.Sprint(members(rule)["to"]), "kube-dns") {
							t.Errorf("%s asks DNS by %v", name, rule)
						}
					}
				}
			}
			if !slices.Equal(ports, []string{want}) {
				t.Errorf("%s asks DNS at %v, want %s", name, ports, want)
			}
		}
	}
}

// What a node tells is reached by nobody, unless attachment's pods get their role in the cloud from there.
func TestNodesAreAskedForRolesOnDemand(t *testing.T) {
	t.Parallel()
	for _, asks := range []bool{false, true} {
		args := example("production")
		if asks {
			args = append(args, "--set", "attachment.reaches={postgres,blobs,podRole}")
		}
		var reaching []string
		for _, o := range render(t, args...) {
			if o.Kind != "NetworkPolicy" {
				continue
			}
			for _, rule := range items(o.at("spec", "egress")) {
				if to := fmt.Sprint(members(rule)["to"]); strings.Contains(to, "cidr:169.254.169.254/32") && strings.Contains(to, "cidr:169.254.170.23/32") {
					reaching = append(reaching, o.Metadata.Name)
				}
			}
		}
		if want := map[bool][]string{true: {"mesh-attachment"}}[asks]; !slices.Equal(reaching, want) {
			t.Errorf("asked for: %v, reached by %v", asks, reaching)
		}
	}
}
