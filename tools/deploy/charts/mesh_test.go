package charts

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// arrows are the runtime arrows of the design: who calls whom.
func arrows() map[string][]string {
	return map[string][]string{
		"gateway": {"attachment", "identity", "matching", "patient", "tenant"}, "identity": {"tenant"}, "tenant": {},
		"patient": {"attachment", "tenant"}, "attachment": {"tenant"}, "matching": {"patient", "tenant"},
	}
}

// Policies let the arrows through, at both of their ends, and nothing else between programs. Peers are the same arrows.
func TestArrows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args    []string
		address string // of a peer; none: Consul tells it
	}{
		"each pod's address":   {example("production"), "dns:mesh-%s-pods.records.svc.cluster.local.:8080"},
		"one address each":     {example("production", "--set", "global.discovery.kind=service"), "mesh-%s.records.svc.cluster.local.:8080"},
		"consul":               {example("production", agents()...), ""},
		"consul in an example": {example("consul-keda"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := render(t, c.args...)
			checkPolicies(t, list)
			for _, name := range programs() {
				checkPeers(t, list, name, c.address)
			}
		})
	}
}

func checkPolicies(t *testing.T, list []object) {
	t.Helper()
	called := map[string][]string{}
	callers := map[string][]string{}
	for _, name := range programs() {
		policy := one(t, list, "NetworkPolicy", "mesh-"+name)
		for _, rule := range items(policy.at("spec", "egress")) {
			called[name] = append(called[name], pods(members(rule)["to"])...)
		}
		for _, rule := range items(policy.at("spec", "ingress")) {
			for _, caller := range pods(members(rule)["from"]) {
				callers[caller] = append(callers[caller], name)
			}
		}
	}
	for _, name := range programs() {
		slices.Sort(called[name])
		slices.Sort(callers[name])
		if want := arrows()[name]; !slices.Equal(called[name], want) || !slices.Equal(callers[name], want) {
			t.Errorf("%s may call %v and is let in by %v, want %v", name, called[name], callers[name], want)
		}
	}
	if test := callers["test"]; !slices.Equal(test, []string{"gateway"}) {
		t.Errorf("the test is let in by %v", test)
	}
	deny := one(t, list, "NetworkPolicy", "mesh-default-deny")
	if deny.at("spec", "ingress") != nil || deny.at("spec", "egress") != nil || len(items(deny.at("spec", "policyTypes"))) != 2 {
		t.Errorf("what denies all lets through %v", deny.at("spec"))
	}
}

// checkPeers looks at what a program is told of its peers, and that there is a Service of each name.
func checkPeers(t *testing.T, list []object, name, form string) {
	t.Helper()
	config, told := one(t, list, "ConfigMap", "mesh-"+name).at("data", "PEERS").(string)
	if told != (form != "") {
		t.Errorf("%s is told of peers: %v", name, told)
	}
	if !told {
		return
	}
	var peers []string
	for entry := range strings.SplitSeq(config, ";") {
		if peer, address, ok := strings.Cut(entry, "="); ok {
			peers = append(peers, peer)
			if want := fmt.Sprintf(form, peer); address != want {
				t.Errorf("%s calls %s at %s, want %s", name, peer, address, want)
			}
			host, _, _ := strings.Cut(strings.TrimPrefix(address, "dns:"), ".")
			service := one(t, list, "Service", host)
			if headless := service.at("spec", "clusterIP") == "None"; headless != strings.HasPrefix(address, "dns:") {
				t.Errorf("%s calls %s at %s, which is headless: %v", name, peer, address, headless)
			}
			if port := members(items(service.at("spec", "ports"))[0])["port"]; port != 8080 {
				t.Errorf("%s calls %s, which is at port %v", name, address, port)
			}
		}
	}
	slices.Sort(peers)
	if want := arrows()[name]; !slices.Equal(peers, want) {
		t.Errorf("%s calls %v by its peers, want %v", name, peers, want)
	}
}

// pods are the names of the programs that peers of a policy select in the namespace itself.
func pods(peers any) []string {
	var names []string
	for _, p := range items(peers) {
		if members(p)["namespaceSelector"] != nil {
			continue
		}
		labels := members(members(members(p)["podSelector"])["matchLabels"])
		if name, ok := labels["app.kubernetes.io/name"].(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// A rule that names no peers lets everybody through: only the gateway's does, and only where nothing narrows it.
func TestOnlyTheGatewayIsPublic(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args   []string
		public int
	}{
		"demo": {example("demo"), 1}, "production": {example("production"), 0}, "consul": {example("production", agents()...), 0},
	} {
		var open []string
		for _, o := range render(t, c.args...) {
			if o.Kind != "NetworkPolicy" {
				continue
			}
			for _, rule := range items(o.at("spec", "ingress")) {
				if members(rule)["from"] == nil {
					open = append(open, o.Metadata.Name)
				}
			}
		}
		if len(open) != c.public || c.public == 1 && open[0] != "mesh-gateway" {
			t.Errorf("%s: open to anybody: %v", name, open)
		}
	}
}

// What programs are told they know: every variable is one that a program of the tree reads.
func TestVariablesAreKnown(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	pattern := regexp.MustCompile(`(?:env:"|")([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)[",]|env:"([A-Z]+)"`)
	for _, root := range []string{"libs", "gateway", "services", "tools/smoke"} {
		err := filepath.WalkDir(filepath.Join("../../..", root), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, match := range pattern.FindAllStringSubmatch(string(text), -1) {
				known[match[1]+match[2]] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// Read by the runtime and by libraries, and what others refer to.
	for _, name := range []string{"GOMEMLIMIT", "OTEL_RESOURCE_ATTRIBUTES", "POD_NAME", "POD_IP", "HOST_IP", "CONSUL_HTTP_TOKEN"} {
		known[name] = true
	}
	for _, name := range []string{"demo", "production", "consul-keda"} {
		for _, o := range render(t, example(name)...) {
			var told []string
			if o.Kind == "ConfigMap" && slices.Contains(programs(), strings.TrimPrefix(o.Metadata.Name, "mesh-")) {
				told = slices.Collect(maps.Keys(members(o.at("data"))))
			}
			for _, c := range append(items(o.pod()["containers"]), items(o.pod()["initContainers"])...) {
				for _, e := range items(members(c)["env"]) {
					variable, _ := members(e)["name"].(string)
					told = append(told, strings.TrimSuffix(variable, "_FILE"))
				}
			}
			for _, variable := range told {
				if !known[variable] {
					t.Errorf("%s: %s is told %s, which no program reads", name, o, variable)
				}
			}
		}
	}
}

// The owner's role is seen by the migration and by nothing that serves.
func TestOwnerIsForTheMigration(t *testing.T) {
	t.Parallel()
	list := render(t, example("production")...)
	for _, name := range programs()[1:] {
		pod := one(t, list, "Deployment", "mesh-"+name).pod()
		mounts := func(containers any) (all []string) {
			for _, m := range items(members(items(containers)[0])["volumeMounts"]) {
				volume, _ := members(m)["name"].(string)
				all = append(all, volume)
			}
			return all
		}
		if slices.Contains(mounts(pod["containers"]), "owner") || !slices.Contains(mounts(pod["initContainers"]), "owner") {
			t.Errorf("%s: mounts %v, and its migration %v", name, mounts(pod["containers"]), mounts(pod["initContainers"]))
		}
		for _, v := range items(pod["volumes"]) {
			for _, source := range items(members(members(v)["projected"])["sources"]) {
				secret, _ := members(members(source)["secret"])["name"].(string)
				if (members(v)["name"] == "owner") != strings.HasSuffix(secret, "-owner") {
					t.Errorf("%s: %s in volume %v", name, secret, members(v)["name"])
				}
			}
		}
	}
}

// A changed setting rolls the pods of the program that it is of, and of no other.
func TestChangesRollPods(t *testing.T) {
	t.Parallel()
	sums := func(args ...string) map[string]any {
		out := map[string]any{}
		list := render(t, example("production", args...)...)
		for _, name := range programs() {
			out[name] = one(t, list, "Deployment", "mesh-"+name).at("spec", "template", "metadata", "annotations", "checksum/config")
		}
		return out
	}
	before := sums()
	for args, rolls := range map[string][]string{
		"patient.env.STREAM_IDLE=10s":             {"patient"},
		"global.logLevel=debug":                   programs(),
		"global.publicUrl=https://b.example":      {"gateway", "identity"},
		"tenant.replicas=7":                       {},
		"matching.resources.limits.memory=4Gi":    {"matching"}, // GOMEMLIMIT
		"attachment.podAnnotations.restarted=now": {},           // the annotation itself does
	} {
		after := sums("--set", args)
		for _, name := range programs() {
			if rolled := before[name] != after[name]; rolled != slices.Contains(rolls, name) {
				t.Errorf("%s: %s rolls: %v", args, name, rolled)
			}
		}
	}
}

// The secrets that are made up fit each other, and stand nowhere else.
func TestMadeUpSecrets(t *testing.T) {
	t.Parallel()
	out, err := template(example("demo")...)
	if err != nil {
		t.Fatal(err)
	}
	list, err := objects(out)
	if err != nil {
		t.Fatal(err)
	}
	keys := one(t, list, "Secret", "mesh-keys")
	for _, name := range []string{"MESH_KEY", "CREDENTIAL_KEY", "CONTENT_KEYS"} {
		text, _ := keys.at("stringData", name).(string)
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, "k1:"))
		if err != nil || len(raw) != 32 {
			t.Errorf("%s is %d bytes: %v", name, len(raw), err)
		}
	}
	roles := items(one(t, list, "Cluster", "mesh-postgres").at("spec", "managed", "roles"))
	if len(roles) != 10 {
		t.Errorf("%d roles", len(roles))
	}
	for _, r := range roles {
		secretName, _ := members(members(r)["passwordSecret"])["name"].(string)
		secret := one(t, list, "Secret", secretName)
		role, _ := secret.at("stringData", "username").(string)
		password, _ := secret.at("stringData", "password").(string)
		text, _ := secret.at("stringData", "url").(string)
		at, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		set, _ := at.User.Password()
		if members(r)["name"] != role || at.User.Username() != role || set != password || at.Host != "mesh-postgres-rw.records.svc:5432" ||
			strings.TrimPrefix(at.Path, "/") != strings.TrimSuffix(role, "_owner") {
			t.Errorf("role %v, secret of %s, URL for %s at %s%s", members(r)["name"], role, at.User.Username(), at.Host, at.Path)
		}
		if n := strings.Count(string(out), password); n != 2 {
			t.Errorf("the password of %s stands in %d places", role, n)
		}
	}
}

// What External Secrets bring is all that the programs mount, and once it is asked for what the test does.
func TestExternalSecretsAreComplete(t *testing.T) {
	t.Parallel()
	for asked, args := range map[bool][]string{false: example("production"), true: example("production", "--set", "externalSecrets.test=true")} {
		list := render(t, args...)
		brought := map[string]bool{}
		for _, o := range list {
			if o.Kind == "ExternalSecret" {
				for _, d := range items(o.at("spec", "data")) {
					key, _ := members(d)["secretKey"].(string)
					brought[o.Metadata.Name+"/"+key] = true
				}
			}
		}
		for _, o := range list {
			want := asked || o.Metadata.Annotations["helm.sh/hook"] != "test" // its key cannot be made before the mesh runs
			for _, v := range items(o.pod()["volumes"]) {
				for _, source := range items(members(members(v)["projected"])["sources"]) {
					secret := members(members(source)["secret"])
					for _, item := range items(secret["items"]) {
						key, _ := members(item)["key"].(string)
						from, _ := secret["name"].(string)
						if brought[from+"/"+key] != want {
							t.Errorf("%s mounts %s of %s, which is brought: %v", o, key, from, !want)
						}
					}
				}
			}
		}
	}
}

// A pod that ends has time for its sleep, its delay and what is under way.
func TestGracePeriod(t *testing.T) {
	t.Parallel()
	list := render(t, example("demo", "--set", "patient.drain.preStopSleep=7,patient.drain.delay=11,patient.drain.finish=25")...)
	pod := one(t, list, "Deployment", "mesh-patient").pod()
	delay := one(t, list, "ConfigMap", "mesh-patient").at("data", "SHUTDOWN_DELAY")
	sleep := members(members(members(members(items(pod["containers"])[0])["lifecycle"])["preStop"])["sleep"])["seconds"]
	limit := one(t, list, "ConfigMap", "mesh-patient").at("data", "SHUTDOWN_LIMIT")
	if pod["terminationGracePeriodSeconds"] != 43 || delay != "11s" || sleep != 7 || limit != "10s" { // and 15 for what comes after
		t.Errorf("%v s for a sleep of %v s, a delay of %v and requests of %v", pod["terminationGracePeriodSeconds"], sleep, delay, limit)
	}
}

// A rollout of any program waits until it has had what it needs, for longer than that may take (matching loads for 30 s); and
// what goes away later takes no gateway away.
func TestProbes(t *testing.T) {
	t.Parallel()
	list := render(t, example("demo")...)
	for _, program := range []string{"gateway", "identity", "tenant", "patient", "attachment", "matching"} {
		container := members(items(one(t, list, "Deployment", "mesh-"+program).pod()["containers"])[0])
		path := func(probe string) any {
			return members(members(container[probe])["httpGet"])["path"]
		}
		ready := "/readyz"
		if program == "gateway" {
			ready = "/livez"
		}
		if path("startupProbe") != "/startedz" || path("readinessProbe") != ready || path("livenessProbe") != "/livez" {
			t.Errorf("%s: %v, %v, %v", program, path("startupProbe"), path("readinessProbe"), path("livenessProbe"))
		}
		if threshold, ok := members(container["startupProbe"])["failureThreshold"].(int); !ok || threshold < 120 {
			t.Errorf("%s has %d s to start", program, threshold)
		}
	}
}

// The pages that helm-docs writes are those that are there.
func TestReadmesAreFresh(t *testing.T) {
	t.Parallel()
	optional(t, "HELM_DOCS", "helm-docs")
	for _, chart := range []string{"service", "redis", "postgres", "patient-mesh"} {
		args := []string{"--chart-search-root", filepath.Join(folder, chart), "--dry-run", "--log-level", "error", "--sort-values-order", "file"}
		if chart == "patient-mesh" { // the rest stands in the page of service
			args = append(args, "--ignore-non-descriptions")
		}
		out, err := tool("HELM_DOCS", "helm-docs", args...)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		there, err := os.ReadFile(filepath.Join(folder, chart, "README.md"))
		if err != nil || strings.TrimSpace(string(there)) != strings.TrimSpace(string(out)) {
			t.Errorf("%s: README.md is stale: make chart-docs (%v)", chart, err)
		}
	}
}
