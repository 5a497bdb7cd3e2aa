package charts

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// matrix is what is rendered: each case by its arguments.
func matrix() map[string][]string {
	cases := map[string][]string{
		"demo": example("demo"), "production": example("production"), "consul and keda": example("consul-keda"),
		"one address each":       example("demo", "--set", "global.discovery.kind=service"),
		"consul":                 example("demo", agents()...),
		"consul, no policies":    example("demo", "--set", "global.discovery.kind=consul,global.networkPolicy.enabled=false"),
		"no network policies":    example("production", "--set", "global.networkPolicy.enabled=false"),
		"no test":                example("demo", "--set", "test.enabled=false"),
		"no sleep":               example("demo", "--set", "patient.drain.preStopSleep=0"),
		"no disruption budget":   example("demo", "--set", "tenant.podDisruptionBudget.enabled=false"),
		"platform's user":        example("production", "--set-json", "gateway.user=null"),
		"digest":                 example("production", "--set", "patient.image.digest=sha256:"+strings.Repeat("a", 64)),
		"load balancer":          example("production", "--set", "gateway.service.type=LoadBalancer,gateway.ingress.enabled=false"),
		"monitored":              example("demo", "--set", "global.metrics.serviceMonitor.enabled=true"),
		"dashboards":             example("demo", "--set", "dashboards.enabled=true,dashboards.annotations=null"),
		"redis behind sentinels": example("production", example("redis-sentinel")...),
		"redis cluster":          example("production", example("redis-cluster")...),
		"redis in memory":        example("demo", "--set", "redis.persistence.enabled=false"),
		"claim that is there":    example("demo", "--set", "attachment.persistence.existingClaim=blobs"),
		"percent of disruption":  example("production", "--set", "patient.podDisruptionBudget.maxUnavailable=25%"),
		"migration by others":    example("production", "--set", "patient.migrate.enabled=false"),
		"further metrics of HPA": example("production", "--set-json", `patient.autoscaling.metrics=[{"type":"Pods","pods":{"metric":{"name":"http_requests"},"target":{"type":"AverageValue","averageValue":"300"}}}]`),
	}
	for _, name := range programs() {
		cases["hpa of "+name] = example("demo", "--set", name+".autoscaling.kind=hpa")
		cases["keda for "+name] = example("demo", "--set", name+".autoscaling.kind=keda,"+name+".autoscaling.keda.serverAddress=http://prometheus:9090")
	}
	return cases
}

// agents is Consul with the addresses of its agents.
func agents() []string {
	return []string{"--set", "global.discovery.kind=consul,global.outside.consul.to[0].ipBlock.cidr=10.0.0.0/16"}
}

func TestLint(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"service"},
		{"redis"},
		{"postgres"},
		append([]string{"patient-mesh"}, example("demo")...),
		append([]string{"patient-mesh"}, example("production")...),
		append([]string{"patient-mesh"}, example("consul-keda")...),
	} {
		args[0] = filepath.Join(folder, args[0])
		if out, err := tool("HELM", "helm", append([]string{"lint", "--strict"}, args...)...); err != nil {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
	}
}

func TestMatrix(t *testing.T) {
	t.Parallel()
	for name, args := range matrix() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := render(t, args...)
			seen := map[string]bool{}
			for _, o := range list {
				if seen[o.String()] {
					t.Errorf("%s is there twice", o)
				}
				seen[o.String()] = true
				if o.Metadata.Labels["app.kubernetes.io/instance"] != "mesh" {
					t.Errorf("%s lacks its labels", o)
				}
				if pod := o.pod(); pod != nil {
					restricted(t, o, pod)
				}
			}
			scaled(t, list)
			selected(t, list)
		})
	}
}

// restricted checks the restricted Pod Security Standard, and what we ask beyond it.
func restricted(t *testing.T, o object, pod map[string]any) {
	t.Helper()
	if pod["automountServiceAccountToken"] != false {
		t.Errorf("%s mounts a token", o)
	}
	security := members(pod["securityContext"])
	if security["runAsNonRoot"] != true || members(security["seccompProfile"])["type"] != "RuntimeDefault" {
		t.Errorf("%s: securityContext %v", o, security)
	}
	for _, name := range []string{"hostNetwork", "hostPID", "hostIPC"} {
		if pod[name] != nil {
			t.Errorf("%s: %s", o, name)
		}
	}
	for _, c := range append(items(pod["containers"]), items(pod["initContainers"])...) {
		c := members(c)
		s := members(c["securityContext"])
		if s["allowPrivilegeEscalation"] != false || s["readOnlyRootFilesystem"] != true {
			t.Errorf("%s: securityContext of %s: %v", o, c["name"], s)
		}
		for _, e := range items(c["env"]) {
			if members(members(e)["valueFrom"])["secretKeyRef"] != nil {
				t.Errorf("%s: %s has a secret in its environment, as %v", o, c["name"], members(e)["name"])
			}
		}
		if drop := items(members(s["capabilities"])["drop"]); len(drop) != 1 || drop[0] != "ALL" {
			t.Errorf("%s: %s keeps capabilities", o, c["name"])
		}
		resources := members(c["resources"])
		if members(resources["requests"])["cpu"] == nil || members(resources["requests"])["memory"] == nil || members(resources["limits"])["memory"] == nil {
			t.Errorf("%s: resources of %s: %v", o, c["name"], resources)
		}
		if image, _ := c["image"].(string); strings.HasSuffix(image, ":") || strings.HasSuffix(image, ":latest") || !strings.ContainsAny(image, ":@") || strings.Contains(image, "bitnami") {
			t.Errorf("%s: image %q", o, image)
		}
	}
	for _, v := range items(pod["volumes"]) {
		for kind := range members(v) {
			if !slices.Contains([]string{"name", "projected", "emptyDir", "persistentVolumeClaim", "configMap"}, kind) {
				t.Errorf("%s: a volume of kind %s", o, kind)
			}
		}
	}
}

// scaled checks that nothing sets the replicas of what scales.
func scaled(t *testing.T, list []object) {
	t.Helper()
	for _, o := range list {
		if o.Kind != "HorizontalPodAutoscaler" && o.Kind != "ScaledObject" {
			continue
		}
		target, _ := o.at("spec", "scaleTargetRef", "name").(string)
		if one(t, list, "Deployment", target).at("spec", "replicas") != nil {
			t.Errorf("%s and its Deployment both set replicas", o)
		}
	}
}

// selected checks that every selector finds the pods of its own program, and no others.
func selected(t *testing.T, list []object) {
	t.Helper()
	for _, o := range list {
		path := map[string][]string{
			"Service": {"spec", "selector"}, "PodDisruptionBudget": {"spec", "selector", "matchLabels"}, "NetworkPolicy": {"spec", "podSelector", "matchLabels"},
		}[o.Kind]
		if path == nil || strings.HasSuffix(o.Metadata.Name, "default-deny") || o.Metadata.Name == "mesh-postgres" {
			continue
		}
		var names []string
		for _, p := range list {
			labels := p.Metadata.Labels
			if template := members(p.at("spec", "template", "metadata", "labels")); template != nil {
				labels = map[string]string{}
				for k, v := range template {
					labels[k], _ = v.(string)
				}
			}
			if p.pod() != nil && matches(members(o.at(path...)), labels) {
				names = append(names, p.Metadata.Name)
			}
		}
		if !slices.Equal(names, []string{strings.TrimSuffix(o.Metadata.Name, "-pods")}) {
			t.Errorf("%s selects %v", o, names)
		}
	}
}

func matches(selector map[string]any, labels map[string]string) bool {
	for name, value := range selector {
		if labels[name] != value {
			return false
		}
	}
	return len(selector) > 0
}

// Each program's own kinds against the schemas of a cluster, which `kubernetes.sh schemas` or any like tool writes.
func TestKubeconform(t *testing.T) {
	t.Parallel()
	optional(t, "KUBECONFORM", "kubeconform")
	schemas := os.Getenv("KUBE_SCHEMAS")
	if schemas == "" {
		t.Skip("KUBE_SCHEMAS names no folder of schemas")
	}
	for _, name := range slices.Sorted(maps.Keys(matrix())) {
		out, err := template(matrix()[name]...)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		file := filepath.Join(t.TempDir(), "all.yaml")
		if err := os.WriteFile(file, out, 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"-strict", "-summary", "-schema-location", filepath.Join(schemas, "{{.ResourceKind}}{{.KindSuffix}}.json")}
		if os.Getenv("KUBE_SCHEMAS_PARTLY") != "" { // without those of the operators
			args = append(args, "-ignore-missing-schemas")
		}
		said, err := tool("KUBECONFORM", "kubeconform", append(args, file)...)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, said)
		}
		t.Logf("%s: %s", name, said)
	}
}

// kube-score's opinions, but those that we do not share, each with its reason.
func TestKubeScore(t *testing.T) {
	t.Parallel()
	optional(t, "KUBE_SCORE", "kube-score")
	ignored := map[string]string{
		"container-image-pull-policy":              "tags are exact, and a node that cannot reach the registry should start what it has",
		"container-security-context-user-group-id": "Redis' image has its own user, 999",
		"deployment-has-host-podantiaffinity":      "topologySpreadConstraints spread them",
		"deployment-replicas":                      "KEDA's are not seen, and files of one node are for one pod",
		"networkpolicy-targets-pod":                "the operator makes the pods of PostgreSQL",
		"pod-probes-identical":                     "of the gateway: values.yaml says why",
	}
	for _, name := range []string{"demo", "production", "consul and keda"} {
		out, err := template(matrix()[name]...)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		file := filepath.Join(t.TempDir(), "all.yaml")
		if err := os.WriteFile(file, out, 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"score", "--kubernetes-version", "v1.30", "--output-format", "ci", "--ignore-container-cpu-limit"} // it would only slow down what could run
		for _, check := range slices.Sorted(maps.Keys(ignored)) {
			args = append(args, "--ignore-test", check)
		}
		said, err := tool("KUBE_SCORE", "kube-score", append(args, file)...)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, worst(string(said)))
		}
	}
}

// worst leaves out what is well.
func worst(said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		if !strings.HasPrefix(line, "[OK]") && !strings.HasPrefix(line, "[SKIPPED]") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
