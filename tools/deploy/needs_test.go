package deploy

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Where there is an engine and no registry, nothing is deployed and nothing fails: a run that lacks an image says so.
func TestImagesAreAskedForFirst(t *testing.T) {
	for name, c := range map[string]struct {
		there   string // images on the machine, as patterns of a shell
		skipped bool
		consul  bool
	}{
		"all":            {"*postgres*|*redis*|*consul*|*gateway*", false, true},
		"no Consul":      {"*postgres*|*redis*|*gateway*", false, false},
		"no PostgreSQL":  {"*redis*|*consul*|*gateway*", true, false},
		"Consul at most": {"*gateway*|*consul*", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			engine := "#!/bin/sh\ncase \"$*\" in\n*'config --images') printf '%s\\n' postgres:17 redis:7 postgres:17 'a warning' hashicorp/consul:1 ours/gateway:local ;;\n" +
				"'image inspect '*) case \"$3\" in " + c.there + ") ;; *) exit 1 ;; esac ;;\n*) exit 1 ;;\nesac\n"
			if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(engine), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
			var p *project
			skipped := false
			t.Run("project", func(t *testing.T) {
				defer func() { skipped = t.Skipped() }()
				p = newProject(t)
			})
			if skipped != c.skipped {
				t.Fatalf("skipped: %v", skipped)
			}
			if p != nil && slices.Contains(p.files, "compose/static.yaml") == c.consul {
				t.Errorf("made of %v", p.files)
			}
		})
	}
}
