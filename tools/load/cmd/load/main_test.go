package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTrainingIsToldWhatItNeeds(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"pairs of a file": {"--pairs", "a.csv", "people.csv"}, "truth of nothing": {"--truth", "person"}, "no expression": {"--truth", "x", "--truth-part", "(", "a.csv"},
		"two files": {"a.csv", "b.csv"}, "a flag": {"--x"}, "a map": {"--map", "x", "a.csv"},
	} {
		if _, err := parseTraining(args); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	got, err := parseTraining([]string{"--truth", "rec_id", "people.csv", "--map", "dob=born,firstName=given", "--seed", "7", "--activate"})
	if err != nil || got.file.Path != "people.csv" || got.file.Columns["firstName"] != "given" || got.options.Seed != 7 || !got.activate || got.name == "" {
		t.Errorf("%+v, %v", &got, err)
	}
}

// Without a mesh a file is still trained from, and held against the built-in model.
func TestADryTrainingNeedsNoMesh(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("MESH_DIR", filepath.Join(dir, "none"))
	lines := []string{"firstName,lastName,dob,person"}
	for i := range 400 {
		name := string(rune('a'+i/2%26)) + string(rune('a'+i/52%26))
		lines = append(lines, "Ana"+name+",Lima"+name+",19"+string(rune('0'+i/2%10))+"0-02-11,"+name)
	}
	file := filepath.Join(dir, "people.csv")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "report")
	if err := runTraining([]string{"--dry", "--truth", "person", "--out", out, file}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"report.md", "model.json", "scores.svg", "calibration.svg", "weights.svg"} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := runTraining([]string{"--truth", "person", "--out", out, file}); err == nil || !strings.Contains(err.Error(), "start the mesh first") {
		t.Errorf("to add it, a mesh is needed: %v", err)
	}
}
