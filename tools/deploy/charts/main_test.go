// Package charts checks the Helm charts as far as that goes without a cluster: what they render over a matrix of values,
// what their schemas refuse, and that they say the same as the programs. It skips where helm is missing, and parts of it
// where kubeconform, kube-score or helm-docs are.
package charts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// folder is a copy of the charts with the umbrella's dependencies in place.
var folder string // made once for all tests of the package

const source = "../../../charts"

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run keeps the deferred removal out of reach of os.Exit.
func run(m *testing.M) int {
	if find("HELM", "helm") == "" {
		fmt.Println("helm is not on this machine (HELM or PATH): the charts are not checked")
		return 0
	}
	dir, err := os.MkdirTemp("", "charts-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	folder = filepath.Join(dir, "charts")
	if err := os.CopyFS(folder, os.DirFS(source)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if out, err := tool("HELM", "helm", "dependency", "build", filepath.Join(folder, "patient-mesh")); err != nil {
		fmt.Fprintln(os.Stderr, string(out), err)
		return 1
	}
	return m.Run()
}

// find gives the path of a program: the variable's, or the one on PATH.
func find(variable, name string) string {
	if path := os.Getenv(variable); path != "" {
		return path
	}
	path, _ := exec.LookPath(name)
	return path
}

// tool runs a program to its end and gives all it said.
func tool(variable, name string, args ...string) ([]byte, error) {
	command := exec.Command(find(variable, name), args...)
	return command.CombinedOutput()
}

// optional skips where a program is missing.
func optional(t *testing.T, variable, name string) {
	t.Helper()
	if find(variable, name) == "" {
		t.Skipf("%s is not on this machine (%s or PATH)", name, variable)
	}
}

// object is one thing that a chart makes.
type object struct {
	Kind     string
	Metadata struct {
		Name        string
		Labels      map[string]string
		Annotations map[string]string
	}
	all map[string]any
}

func (o object) String() string { return o.Kind + "/" + o.Metadata.Name }

// at gives what stands at a path of names, or nil.
func (o object) at(path ...string) any {
	var here any = o.all
	for _, name := range path {
		members, _ := here.(map[string]any)
		here = members[name]
	}
	return here
}

// pod is the pod that the object is or makes, or nil.
func (o object) pod() map[string]any {
	switch o.Kind {
	case "Pod":
		return members(o.at("spec"))
	case "Deployment", "StatefulSet", "Job":
		return members(o.at("spec", "template", "spec"))
	}
	return nil
}

func members(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func items(v any) []any {
	l, _ := v.([]any)
	return l
}

// template renders the umbrella.
func template(args ...string) ([]byte, error) {
	return tool("HELM", "helm", append([]string{"template", "mesh", filepath.Join(folder, "patient-mesh"), "--namespace", "records"}, args...)...)
}

// example is the arguments that take one of the examples.
func example(name string, more ...string) []string {
	return append([]string{"--values", filepath.Join(folder, "patient-mesh", "examples", name+".yaml")}, more...)
}

// render gives what the umbrella makes.
func render(t *testing.T, args ...string) []object {
	t.Helper()
	out, err := template(args...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	list, err := objects(out)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func objects(text []byte) ([]object, error) {
	var list []object
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var node yaml.Node
		if err := decoder.Decode(&node); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		var o object
		if err := errors.Join(node.Decode(&o), node.Decode(&o.all)); err != nil {
			return nil, err
		}
		if o.Kind != "" {
			list = append(list, o)
		}
	}
}

// one gives the object of a kind and name.
func one(t *testing.T, list []object, kind, name string) object {
	t.Helper()
	for _, o := range list {
		if o.Kind == kind && o.Metadata.Name == name {
			return o
		}
	}
	t.Fatalf("there is no %s/%s", kind, name)
	return object{}
}

// programs are the six.
func programs() []string {
	return []string{"gateway", "identity", "tenant", "patient", "attachment", "matching"}
}
