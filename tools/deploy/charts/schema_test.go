package charts

import (
	"strings"
	"testing"
)

// What the schemas refuse, and what they point at. Each case changes one thing of an example that renders.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		example string
		args    []string
		says    string
	}{
		"a misspelt program":             {"demo", []string{"--set", "patientt.replicas=3"}, "patientt"},
		"a misspelt setting":             {"demo", []string{"--set", "patient.replica=3"}, "replica"},
		"a misspelt global":              {"demo", []string{"--set", "global.environmentt=demo"}, "environmentt"},
		"an unknown environment":         {"demo", []string{"--set", "global.environment=staging"}, "/global/environment"},
		"production without TLS":         {"production", []string{"--set", "global.publicUrl=http://records.example.org"}, "/global/publicUrl"},
		"no public address":              {"demo", []string{"--set", "global.publicUrl=records.example.org"}, "/global/publicUrl"},
		"keys made up in production":     {"production", []string{"--set", "secrets.generate=true,externalSecrets.enabled=false"}, "/secrets/generate"},
		"two sources of secrets":         {"demo", []string{"--set", "externalSecrets.enabled=true,externalSecrets.store.name=vault"}, "not"},
		"a store without a name":         {"production", []string{"--set", "externalSecrets.store.name="}, "/externalSecrets/store/name"},
		"a tenant made up in production": {"production", []string{"--set", "test.ownTenant=true"}, "/test/ownTenant"},
		"a key for the test, half":       {"production", []string{"--set-json", `test.apiKey={"secret":"x","key":null}`}, "/test/apiKey"},
		"no place for bytes":             {"production", []string{"--set", "attachment.env.BLOB_URL="}, "/attachment/env/BLOB_URL"},
		"no way for letters":             {"production", []string{"--set-json", `identity.secrets.SMTP_URL=null`}, "SMTP_URL"},
		"a secret in the open":           {"demo", []string{"--set", "patient.secrets.DATABASE_URL=postgres://u:p@h/d"}, "/secrets/DATABASE_URL"},
		"a variable in small letters":    {"demo", []string{"--set", "patient.env.log_level=debug"}, "log_level"},
		"a migration without its role":   {"demo", []string{"--set-json", `patient.migrate.secrets.DATABASE_MIGRATE_URL=null`}, "/migrate/secrets"},
		"replicas below nothing":         {"demo", []string{"--set", "patient.replicas=-1"}, "/replicas"},
		"replicas in words":              {"demo", []string{"--set-string", "patient.replicas=two"}, "/replicas"},
		"a way to scale":                 {"demo", []string{"--set", "patient.autoscaling.kind=vpa"}, "/autoscaling/kind"},
		"memory without a unit":          {"demo", []string{"--set", "patient.resources.limits.memory=lots"}, "/resources/limits/memory"},
		"a port that needs root":         {"demo", []string{"--set", "patient.ports.http=80"}, "/ports/http"},
		"a drain that cuts off":          {"demo", []string{"--set", "patient.drain.finish=5"}, "/drain/finish"},
		"root":                           {"demo", []string{"--set", "patient.user=0"}, "/user"},
		"an ingress to nowhere":          {"demo", []string{"--set", "gateway.ingress.enabled=true"}, "/ingress/hosts"},
		"a host with a path":             {"demo", []string{"--set", "gateway.ingress.enabled=true,gateway.ingress.hosts={example.org/api}"}, "/ingress/hosts/0"},
		"a route from nowhere":           {"demo", []string{"--set", "gateway.httpRoute.enabled=true"}, "/httpRoute/parentRefs"},
		"a way to find peers":            {"demo", []string{"--set", "global.discovery.kind=etcd"}, "/global/discovery/kind"},
		"a port that is none":            {"demo", []string{"--set", "global.outside.postgres.ports={70000}"}, "/global/outside/postgres/ports/0"},
		"half a digest":                  {"demo", []string{"--set", "patient.image.digest=sha256:abc"}, "/image/digest"},
		"a level of the log":             {"demo", []string{"--set", "global.logLevel=verbose"}, "/global/logLevel"},
		"a program left out":             {"production", []string{"--set", "matching.enabled=false"}, "enabled"},
		"an HPA that sees nothing":       {"demo", []string{"--set", "patient.autoscaling.kind=hpa,patient.autoscaling.cpu=0"}, "/autoscaling"},
		"KEDA that asks nobody":          {"demo", []string{"--set", "patient.autoscaling.kind=keda,patient.autoscaling.cpu=0"}, "/autoscaling"},
		"a port below nothing":           {"demo", []string{"--set", "gateway.service.port=-1"}, "/service/port"},
		"no servers":                     {"demo", []string{"--set", "postgres.instances=0"}, "/instances"},
		"a misspelt redis":               {"demo", []string{"--set", "redis.persistencee.enabled=false"}, "persistencee"},
		"a label that is no text":        {"demo", []string{"--set-json", `dashboards.labels={"grafana_dashboard":1}`}, "/dashboards/labels/grafana_dashboard"},
		"a name for the datasource":      {"demo", []string{"--set", "dashboards.datasource=My Prometheus"}, "/dashboards/datasource"},
		"misspelt dashboards":            {"demo", []string{"--set", "dashboards.enable=true"}, "enable"},
		"a Redis that evicts":            {"demo", []string{"--set", "redis.maxMemory=lots"}, "/maxMemory"},
		// Not the schemas, but as plain.
		"a neighbour that is none":  {"demo", []string{"--set", "patient.reaches={postgres,mongo}"}, "mongo is reached and not in global.outside"},
		"an HPA upside down":        {"demo", []string{"--set", "patient.autoscaling.kind=hpa,patient.autoscaling.minReplicas=11"}, "patient.autoscaling: minReplicas 11 is more than maxReplicas 10"},
		"a ScaledObject as well":    {"demo", []string{"--set", "patient.autoscaling.kind=keda,patient.autoscaling.minReplicas=11"}, "minReplicas 11 is more than"},
		"checks from anywhere":      {"demo", []string{"--set", "global.discovery.kind=consul"}, "global.outside.consul.to names no agents"},
		"a test that cannot get in": {"demo", []string{"--set", "global.calls.test={gateway}"}, "test.ownTenant needs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := template(example(c.example, c.args...)...)
			if err == nil {
				t.Fatalf("%v was taken", c.args)
			}
			if !strings.Contains(string(out), c.says) {
				t.Errorf("%v: says nothing of %q:\n%s", c.args, c.says, out)
			}
		})
	}
}

// Without any values the charts say what is missing.
func TestNothingSaid(t *testing.T) {
	t.Parallel()
	out, err := template()
	if err == nil || !strings.Contains(string(out), "BLOB_URL") || !strings.Contains(string(out), "SMTP_URL") {
		t.Errorf("%v\n%s", err, out)
	}
}
