package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func synthesize(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	err = run(context.Background(), args, &out, &errs)
	return out.String(), errs.String(), err
}

func TestLinesAndTruth(t *testing.T) {
	dir := t.TempDir()
	lines, truth := filepath.Join(dir, "people.ndjson"), filepath.Join(dir, "truth.tsv")
	out, said, err := synthesize(t, "--people", "50", "--duplicated", "1", "--out", lines, "--truth", truth)
	if err != nil || out != "" || !strings.HasPrefix(said, "50 people in 100 records") {
		t.Fatalf("%v, %q, %q", err, out, said)
	}
	for path, want := range map[string]int{lines: 100, truth: 101} {
		text, err := os.ReadFile(path)
		if n := strings.Count(string(text), "\n"); err != nil || n != want {
			t.Errorf("%s: %d lines, want %d: %v", path, n, want, err)
		}
	}
}

func TestPartsAreTheWhole(t *testing.T) {
	whole, _, err := synthesize(t, "--households", "0:40", "--format", "csv", "--duplicated", "0.5")
	if err != nil {
		t.Fatal(err)
	}
	heading, _, _ := strings.Cut(whole, "\n")
	together := heading + "\n"
	for _, part := range []string{"0:13", "13:40"} {
		text, _, err := synthesize(t, "--households", part, "--format", "csv", "--duplicated", "0.5")
		if err != nil {
			t.Fatal(err)
		}
		together += strings.TrimPrefix(text, heading+"\n")
	}
	if together != whole {
		t.Error("made in two parts, the people are others")
	}
}

func TestOneTypo(t *testing.T) {
	out, _, err := synthesize(t, "--people", "20", "--duplicated", "1", "--mode", "one-typo", "--fields", "lastName", "--format", "csv")
	if err != nil || strings.Count(out, ",lastName:") != 20 {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestRefusals(t *testing.T) {
	for name, args := range map[string][]string{
		"a mode": {"--mode", "x"}, "a format": {"--format", "x"}, "truth beside truth": {"--format", "csv", "--truth", "x"},
		"households": {"--households", "5:1"}, "fields": {"--fields", "race"}, "rest": {"more"}, "a flag": {"--x"}, "a share": {"--duplicated", "2"},
		"no folder": {"--out", "/nowhere/at/all", "--people", "1"},
	} {
		if _, _, err := synthesize(t, args...); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestStopsWhenToldTo(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	var out, errs bytes.Buffer
	if err := run(ctx, []string{"--people", "0"}, &out, &errs); err == nil || !strings.Contains(err.Error(), "household 0") {
		t.Errorf("without end, and told to stop: %v", err)
	}
}
