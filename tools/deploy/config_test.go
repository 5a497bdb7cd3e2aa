package deploy

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// service is what we look at of one in compose.yaml.
type service struct {
	Profiles    []string
	Image       string
	Restart     string
	NetworkMode string `yaml:"network_mode"`
	Networks    any
	Healthcheck map[string]any
	Environment map[string]string
	Logging     map[string]any
	SecurityOpt []string `yaml:"security_opt"`
	Deploy      struct {
		Resources struct{ Limits struct{ CPUs, Memory string } }
	}
	Volumes []string
}

// The compose file keeps its promises: profiles, exact tags, limits, probes, no secret in an environment, and nothing that
// an engine of version 20.10 refuses.
func TestComposeFile(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(root(t), "compose", "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "start_interval") {
		t.Error("engine 20.10 refuses start_interval")
	}
	var file struct {
		Services map[string]service
		Volumes  map[string]any
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for name, s := range file.Services {
		if len(s.Profiles) == 0 || !slices.Contains(s.Profiles, "full") && name != "smoke" {
			t.Errorf("%s: the profile full is everything", name)
		}
		if _, tag, _ := strings.Cut(s.Image, ":"); tag == "" || tag == "latest" {
			t.Errorf("%s: the image %s has no exact tag", name, s.Image)
		}
		if strings.Contains(s.Image, "bitnami") {
			t.Errorf("%s: the image %s can no longer be had by its version", name, s.Image)
		}
		if limits := s.Deploy.Resources.Limits; limits.CPUs == "" || limits.Memory == "" {
			t.Errorf("%s has no limits", name)
		}
		if s.Logging == nil || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s: its log is not bound, or it may gain privileges", name)
		}
		if s.Restart != "no" && s.Healthcheck == nil && name != "collector" { // whose image holds nothing to ask with
			t.Errorf("%s has no probe", name)
		}
		for variable, value := range s.Environment {
			secret := strings.Contains(variable, "PASSWORD") || strings.Contains(variable, "SECRET") || strings.Contains(variable, "KEY") || strings.HasSuffix(variable, "_URL")
			if secret && !strings.HasSuffix(variable, "_FILE") && !strings.HasPrefix(value, "/run/secrets/") && variable != "PUBLIC_URL" && variable != "GATEWAY_URL" {
				t.Errorf("%s: %s is no file", name, variable)
			}
		}
		for _, volume := range s.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			used[source] = true
			ours := strings.HasPrefix(source, ".") // a file of the tree
			if _, named := file.Volumes[source]; !named && !ours {
				t.Errorf("%s: the volume %s has no name", name, source)
			}
			if path := filepath.Join(root(t), "compose", source); ours {
				if _, err := os.Stat(path); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	for volume := range file.Volumes {
		if !used[volume] {
			t.Errorf("nobody uses the volume %s", volume)
		}
	}
}

// Fiber asks for a fasthttp that accepts a second Content-Length, Host or Transfer-Encoding: each module asks for one that
// refuses them, since each can be built alone.
func TestFasthttpRefusesDuplicates(t *testing.T) {
	t.Parallel()
	modules, err := filepath.Glob(filepath.Join(root(t), "*", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	services, _ := filepath.Glob(filepath.Join(root(t), "services", "*", "go.mod"))
	if modules = append(modules, services...); len(modules) < 8 {
		t.Fatalf("only %d modules", len(modules))
	}
	requires := regexp.MustCompile(`(?m)^\s*(?:require )?github.com/valyala/fasthttp v1\.(\d+)\.`)
	for _, module := range modules {
		for _, name := range []string{module, strings.TrimSuffix(module, "mod") + "sum"} {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			found := requires.FindAllStringSubmatch(string(raw), -1)
			for _, version := range found {
				if minor, err := strconv.Atoi(version[1]); err != nil || minor < 73 {
					t.Errorf("%s: fasthttp 1.%s", name, version[1])
				}
			}
			if len(found) == 0 {
				t.Errorf("%s does not say which fasthttp", name)
			}
		}
	}
}

// What looks into the mesh can be read at all.
func TestObservabilityFiles(t *testing.T) {
	t.Parallel()
	if got := expressions(t); len(got) < 50 {
		t.Errorf("%d expressions in rules and dashboards", len(got))
	}
	for _, name := range []string{
		"collector.yaml", "jaeger.yaml", "prometheus/prometheus.yml", "grafana/provisioning/datasources/datasources.yaml", "grafana/provisioning/dashboards/dashboards.yaml",
	} {
		raw, err := os.ReadFile(filepath.Join(root(t), "compose", name))
		if err != nil {
			t.Fatal(err)
		}
		var any map[string]any
		if err := yaml.Unmarshal(raw, &any); err != nil || len(any) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// expressions are all that rules and dashboards ask Prometheus, by where they stand.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	rules, _ := filepath.Glob(filepath.Join(root(t), "charts", "patient-mesh", "rules", "*.yml"))
	for _, name := range rules {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Groups []struct {
				Rules []struct{ Record, Alert, Expr string }
			}
		}
		if err := yaml.Unmarshal(raw, &file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, group := range file.Groups {
			for n, rule := range group.Rules {
				if rule.Expr == "" || (rule.Record == "") == (rule.Alert == "") {
					t.Errorf("%s: rule %d is none", name, n)
				}
				found[rule.Expr] = filepath.Base(name) + " " + rule.Record + rule.Alert
			}
		}
	}
	dashboards, _ := filepath.Glob(filepath.Join(root(t), "charts", "patient-mesh", "dashboards", "*.json"))
	for _, name := range dashboards {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			UID    string
			Panels []struct {
				Title   string
				Targets []struct{ Expr string }
			}
		}
		if err := json.Unmarshal(raw, &file); err != nil || file.UID == "" {
			t.Fatalf("%s: %v", name, err)
		}
		for _, panel := range file.Panels {
			for _, target := range panel.Targets {
				found[target.Expr] = filepath.Base(name) + " " + panel.Title
			}
		}
	}
	return found
}

var (
	selectors = regexp.MustCompile(`\{[^}]*\}|\[[^\]]*\]|(?:by|without|on) \([^)]*\)|"[^"]*"`)
	names     = regexp.MustCompile(`[a-z][a-zA-Z0-9_:]*_[a-zA-Z0-9_:]+`)
)

const functions = "histogram_quantile min_over_time max_over_time sum_over_time" // of those that look like a metric

// Rules and dashboards ask for metrics that the programs do have; and none of these carries what was stored.
func metrics(t *testing.T, p *project, stored string) {
	t.Helper()
	there := map[string]bool{}
	for program, port := range map[string]string{"gateway": "9090", "identity": "8080", "tenant": "8080", "patient": "8080", "attachment": "8080", "matching": "8080"} {
		text := p.metrics(p.containers(program)[0], port)
		if strings.Contains(text, stored) {
			t.Errorf("the metrics of %s tell of a patient", program)
		}
		for line := range strings.SplitSeq(text, "\n") {
			if name, _, _ := strings.Cut(line, "{"); name != "" && line[0] != '#' {
				name, _, _ = strings.Cut(name, " ")
				there[name] = true
			}
		}
	}
	for expression, where := range expressions(t) {
		for _, name := range names.FindAllString(selectors.ReplaceAllString(expression, ""), -1) {
			known := there[name] || strings.HasPrefix(name, "slo:") || strings.HasPrefix(name, "otelcol_") || strings.Contains(functions, name) // otelcol_: collector_test.go
			if !known {
				t.Errorf("%s asks for %s, which no program has", where, name)
			}
		}
	}
}

func fetch(ctx context.Context, t *testing.T, address string) string {
	t.Helper()
	text, err := get(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func get(ctx context.Context, address string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	return string(raw), err
}

// Programs read what depends on the profile when they start, from files: another profile makes other containers of them, and
// of nothing that keeps data.
func TestProfilesMakeProgramsAnew(t *testing.T) {
	t.Parallel()
	if out, err := run(t.Context(), nil, "docker", "compose", "version"); err != nil {
		t.Skipf("no Docker Compose here (%s): its view of the file was not looked at", firstLine(out))
	}
	hashes := func(profile, service string) string {
		out, err := run(t.Context(), []string{"COMPOSE_PROFILES=" + profile}, "docker", "compose",
			"--file", filepath.Join(root(t), "compose", "compose.yaml"), "config", "--hash", service)
		if err != nil {
			t.Fatal(err, out)
		}
		return out
	}
	for service, anew := range map[string]bool{
		"gateway": true, "identity": true, "tenant": true, "patient": true, "attachment": true, "matching": true, "postgres": false, "redis": false, "consul": false,
	} {
		if changed := hashes("core", service) != hashes("full", service); changed != anew {
			t.Errorf("another profile makes %s anew: %t", service, changed)
		}
	}
}
