package image_test

import (
	"encoding/json"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/tools/image"
)

func TestMaterials(t *testing.T) {
	t.Parallel()
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Path: "program/cmd", Deps: []*debug.Module{
		{Path: "golang.org/x/net", Version: "v0.62.0", Sum: "h1:AAEC"},
		{Path: "github.com/patient-mesh/patient-mesh/libs", Version: "v0.0.0", Replace: &debug.Module{Path: "../libs"}},
		{Path: "example.com/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/new", Version: "v2.0.0+incompatible"}},
	}}
	got := map[string][3]string{}
	for _, c := range image.Materials(info, "patient", "v7").Components {
		about := [3]string{c.Version, c.URL, ""}
		for _, p := range c.Properties {
			about[2] += p.Name + "=" + p.Value
		}
		got[c.Name] = about
	}
	want := map[string][3]string{
		"std":              {"1.26.8", "pkg:golang/std@1.26.8", ""},
		"golang.org/x/net": {"v0.62.0", "pkg:golang/golang.org/x/net@v0.62.0", "go:h1=000102"},
		"github.com/patient-mesh/patient-mesh/libs": {"v7", "", ""},
		"example.com/new": {"v2.0.0+incompatible", "pkg:golang/example.com/new@v2.0.0%2Bincompatible", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	raw, err := json.Marshal(image.Materials(info, "patient", "v7"))
	if err != nil || !json.Valid(raw) {
		t.Error(err)
	}
}
