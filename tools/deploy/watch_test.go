package deploy

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// What looks into the mesh sees it: a request's trace joins the programs with the database and Redis, Prometheus finds all
// instances and understands all that rules and dashboards ask, exemplars lead to traces; and none of it tells of a patient.
func TestWatched(t *testing.T) {
	needsEngine(t)
	tracesPort, metricsPort := free(t), free(t)
	p := newProject(t, "tools/deploy/testdata/watched.yaml")
	if p.consul == "" {
		t.Skip("Prometheus finds the instances by Consul, whose image cannot be had here")
	}
	p.env = append(p.env, fmt.Sprintf("JAEGER_PORT=%d", tracesPort), fmt.Sprintf("PROMETHEUS_PORT=%d", metricsPort))
	p.up()
	c := caller{t: t, base: p.demo().Gateway}
	c.key = p.demo().Tenants[0].APIKey

	// One in ten is kept of what went well and fast.
	const calls = 300
	for range calls {
		at := c.create(secret)
		if status, body := c.call(http.MethodGet, at, nil); status != http.StatusOK {
			t.Fatalf("read: %d %s", status, body)
		}
	}
	if status, body := c.call(http.MethodPost, "/v3/patient/find", person(secret)); status != http.StatusOK {
		t.Fatalf("find: %d %s", status, body)
	}
	t.Run("traces", func(t *testing.T) { traces(t, fmt.Sprintf("http://127.0.0.1:%d", tracesPort)) })
	t.Run("metrics", func(t *testing.T) { scraped(t, prometheus(fmt.Sprintf("http://127.0.0.1:%d", metricsPort))) })
}

// secret is a name that nothing else bears.
const secret = "Quillfeather"

// trace is a trace as Jaeger's interface for its own pages has it.
type trace struct {
	Spans []struct {
		ProcessID string
		Tags      []struct {
			Key   string
			Value any
		}
	}
	Processes map[string]struct{ ServiceName string }
}

// touched are the programs of a trace, and the databases that its spans speak to.
func (t trace) touched() (names []string) {
	for _, s := range t.Spans {
		names = append(names, t.Processes[s.ProcessID].ServiceName)
		for _, tag := range s.Tags {
			if tag.Key == "db.system.name" || tag.Key == "db.system" {
				names = append(names, fmt.Sprint(tag.Value))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func traces(t *testing.T, jaeger string) {
	t.Helper()
	var seen []string
	until(t, "traces join the gateway, services, PostgreSQL and Redis", func() bool {
		text, err := get(t.Context(), jaeger+"/api/traces?service=gateway&limit=500&lookback=1h")
		if err != nil {
			return false // it is not up yet
		}
		if strings.Contains(text, secret) {
			t.Fatal("a trace tells of a patient")
		}
		var answer struct{ Data []trace }
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			return false
		}
		sql, redis := false, false
		for _, one := range answer.Data {
			names := one.touched()
			if len(names) > len(seen) {
				seen = names
			}
			sql = sql || contains(names, "gateway", "patient", "postgresql")
			redis = redis || contains(names, "gateway", "redis")
		}
		return sql && redis
	})
	t.Logf("the widest trace: %v", seen)
}

func contains(all []string, some ...string) bool {
	for _, s := range some {
		if !slices.Contains(all, s) {
			return false
		}
	}
	return true
}

// prometheus is the address of one.
type prometheus string

// ask reads data of an answer into a value, and gives the answer's text.
func (p prometheus) ask(t *testing.T, path string, data any) (text string, err error) {
	t.Helper()
	if text, err = get(t.Context(), string(p)+path); err != nil {
		return text, err
	}
	answer := struct {
		Status, Error string
		Data          any
	}{Data: data}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return text, err
	}
	if answer.Status != "success" {
		return text, fmt.Errorf("%s", answer.Error)
	}
	return text, nil
}

func scraped(t *testing.T, p prometheus) {
	t.Helper()
	up := map[string]bool{}
	until(t, "all targets are up", func() bool {
		var targets struct {
			ActiveTargets []struct {
				Labels    map[string]string
				Health    string
				LastError string
			}
		}
		if _, err := p.ask(t, "/api/v1/targets", &targets); err != nil {
			return false
		}
		clear(up)
		for _, target := range targets.ActiveTargets {
			if target.Health != "up" {
				return false
			}
			up[target.Labels["job"]+" "+target.Labels["program"]] = true
		}
		return len(up) >= 7 // the six programs and the collector
	})
	for _, program := range []string{"gateway", "identity", "tenant", "patient", "attachment", "matching"} {
		if !up["mesh "+program] {
			t.Errorf("%s is not scraped: %v", program, up)
		}
	}
	until(t, "exemplars lead to traces", func() bool {
		var series []struct {
			Exemplars []struct{ Labels map[string]string }
		}
		text, err := p.ask(t, "/api/v1/query_exemplars?query=http_server_request_duration_seconds_bucket"+
			fmt.Sprintf("&start=%d&end=%d", time.Now().Add(-time.Hour).Unix(), time.Now().Unix()), &series)
		if strings.Contains(text, secret) {
			t.Fatal("an exemplar tells of a patient")
		}
		return err == nil && slices.ContainsFunc(series, func(s struct {
			Exemplars []struct{ Labels map[string]string }
		},
		) bool {
			return len(s.Exemplars) > 0 && s.Exemplars[0].Labels["trace_id"] != ""
		})
	})
	asked(t, p)
	var rules struct {
		Groups []struct {
			Rules []struct{ Name, State, Health, LastError string }
		}
	}
	until(t, "all rules were looked at", func() bool {
		if _, err := p.ask(t, "/api/v1/rules", &rules); err != nil || len(rules.Groups) == 0 {
			return false
		}
		for _, group := range rules.Groups {
			for _, rule := range group.Rules {
				if rule.Health == "unknown" {
					return false
				}
			}
		}
		return true
	})
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			if rule.Health != "ok" || rule.State == "firing" {
				t.Errorf("rule %s: %s %s %s", rule.Name, rule.Health, rule.State, rule.LastError)
			}
		}
	}
}

// asked puts the questions of rules and dashboards: all are understood, and all are answered but for those about what did not happen.
func asked(t *testing.T, p prometheus) {
	t.Helper()
	variables := strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h", "$__interval", "1m", "$program", ".*")
	waiting := expressions(t)
	t.Logf("%d questions", len(waiting))
	until(t, "questions have answers", func() bool {
		for question, where := range waiting {
			var found struct{ Result []any }
			if _, err := p.ask(t, "/api/v1/query?query="+url.QueryEscape(variables.Replace(question)), &found); err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			if len(found.Result) > 0 || quiet(where) {
				delete(waiting, question)
			}
		}
		return len(waiting) == 0
	}, func() { t.Log("no answer to:", slices.Sorted(maps.Values(waiting))) })
}

// quiet are alerts, and panels that are empty while all is well.
func quiet(where string) bool {
	name := where[strings.Index(where, " ")+1:]
	return strings.HasPrefix(where, "mesh.yml ") || strings.HasPrefix(name, "Mesh") || slices.Contains([]string{"Alerts that fire", "Errors (5xx)", "Refused and failed by route"}, name)
}
