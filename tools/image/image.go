// Package image makes what goes into the programs' container images: static programs, each with the bill of materials
// that its own build record gives, and the few files that a program expects of a system. It runs alike on a developer's
// machine and in an image build.
package image

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Program is one that is shipped as an image.
type Program struct {
	Name    string
	Package string
}

// Programs are the six, the one that prepares a mesh for them, and the one that says whether a mesh serves.
func Programs() []Program {
	list := []Program{{"gateway", "./gateway/cmd/gateway"}}
	for _, service := range []string{"identity", "tenant", "patient", "attachment", "matching"} {
		list = append(list, Program{service, "./services/" + service + "/cmd/" + service})
	}
	return append(list, Program{"setup", "./tools/setup/cmd/setup"}, Program{"smoke", "./tools/smoke/cmd/smoke"})
}

const versionVariable = "github.com/patient-mesh/patient-mesh/libs/run.Version"

// Options say what to make from where.
type Options struct {
	Source      string // the tree
	Out         string // a folder: bin/ and sbom/ by program, etc/ and data/ for all
	Version     string
	Authorities string // a file in PEM with those that TLS trusts; Mozilla's when empty
	Log         io.Writer
}

// Make fills the folder.
func Make(ctx context.Context, o Options) error {
	out, err := filepath.Abs(o.Out)
	if err != nil {
		return err
	}
	for _, folder := range []string{"bin", "sbom", "etc/ssl/certs", "data"} {
		if err := os.MkdirAll(filepath.Join(out, folder), 0o755); err != nil { //nolint:gosec // it becomes the image's root
			return err
		}
	}
	arguments := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X " + versionVariable + "=" + o.Version, "-o", filepath.Join(out, "bin") + "/"}
	for _, p := range Programs() {
		arguments = append(arguments, p.Package)
	}
	build := exec.CommandContext(ctx, "go", arguments...)
	build.Dir, build.Stdout, build.Stderr = o.Source, o.Log, o.Log
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	for _, p := range Programs() {
		if err := describe(filepath.Join(out, "bin", p.Name), filepath.Join(out, "sbom", p.Name+".cdx.json"), p.Name, o.Version); err != nil {
			return err
		}
	}
	return system(filepath.Join(out, "etc"), o.Authorities)
}

// describe writes a program's bill of materials.
func describe(program, to, name, version string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	raw, err := json.MarshalIndent(Materials(info, name, version), "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(to, append(raw, '\n'), 0o644) //nolint:gosec // it is for everybody
}

// system is what a program expects of the machine: a user's name, and whom TLS trusts.
func system(etc, file string) error {
	files := map[string]string{ //nolint:gosec // names of users, no credential
		"passwd": "root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n",
		"group":  "root:x:0:\nnonroot:x:65532:\n",
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(etc, name), []byte(content), 0o644); err != nil { //nolint:gosec // as /etc/passwd is
			return err
		}
	}
	roots, err := authorities(file)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(etc, "ssl", "certs", "ca-certificates.crt"), roots, 0o644) //nolint:gosec // public
}
