package e2e

import (
	"debug/buildinfo"
	"os"
	"strconv"
	"testing"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// raced reports whether the programs of a mesh were built with the race detector.
func raced(t *testing.T, m *mesh.Mesh) bool {
	t.Helper()
	program, err := os.Readlink("/proc/" + strconv.Itoa(m.Process(mesh.Gateway).Pid()) + "/exe")
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range info.Settings {
		if setting.Key == "-race" && setting.Value == "true" {
			return true
		}
	}
	return false
}
