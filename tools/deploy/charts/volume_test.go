package charts

import "testing"

// A volume of one node is not waited for by a new pod elsewhere while the old one has it: the old one ends first.
func TestVolumesOfOneNodeAreHandedOver(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"ReadWriteOnce": "Recreate", "ReadWriteOncePod": "Recreate", "ReadWriteMany": "RollingUpdate"} {
		list := render(t, example("demo", "--set", "attachment.persistence.accessModes={"+mode+"}")...)
		for name, want := range map[string]string{"attachment": want, "patient": "RollingUpdate"} {
			strategy := members(one(t, list, "Deployment", "mesh-"+name).at("spec", "strategy"))
			if strategy["type"] != want || (strategy["rollingUpdate"] != nil) != (want == "RollingUpdate") {
				t.Errorf("%s: %s is replaced by %v, want %s", mode, name, strategy, want)
			}
		}
	}
}
