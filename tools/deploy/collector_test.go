package deploy

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/patient-mesh/patient-mesh/libs/web"
)

// handover is how long a program may keep a span that has ended (OTEL_BSP_SCHEDULE_DELAY's default).
const handover = 5 * time.Second

// A trace is judged when all of it is there: that of a request that ran out of time as well.
func TestCollectorWaits(t *testing.T) {
	t.Parallel()
	var file struct {
		Processors struct {
			Tail struct {
				Wait      time.Duration `yaml:"decision_wait"`
				AfterRoot time.Duration `yaml:"decision_wait_after_root_received"`
			} `yaml:"tail_sampling"`
		}
	}
	if err := yaml.Unmarshal([]byte(collectorFile(t)), &file); err != nil {
		t.Fatal(err)
	}
	tail := file.Processors.Tail
	if least := web.DefaultTimeout + handover; tail.Wait < least {
		t.Errorf("a trace is judged after %s: a request and the way of its spans take %s", tail.Wait, least)
	}
	if tail.AfterRoot < handover || tail.AfterRoot > tail.Wait {
		t.Errorf("a trace is judged %s after its root, spans of others take %s", tail.AfterRoot, handover)
	}
}

// Rules and dashboards ask the collector for what it was seen to tell.
func TestCollectorNames(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "collector.metrics"))
	if err != nil {
		t.Fatal(err)
	}
	seen := strings.Fields(string(raw))
	asked := askedOfCollector(t)
	if len(asked) < 5 {
		t.Errorf("only %v are asked for", asked)
	}
	for name, where := range asked {
		if !slices.Contains(seen, name) {
			t.Errorf("%s asks for %s, which the collector does not have", where, name)
		}
	}
}

// The real one takes our file, and tells what it is asked for while it cannot send anything.
func TestCollector(t *testing.T) {
	t.Parallel()
	collector, err := exec.LookPath("otelcol-contrib")
	if err != nil {
		t.Skip("otelcol-contrib is not on this machine: the collector's file was not tried")
	}
	spans, metrics := free(t), free(t)
	path := filepath.Join(t.TempDir(), "collector.yaml")
	text := strings.NewReplacer("0.0.0.0:4318", fmt.Sprintf("127.0.0.1:%d", spans), "0.0.0.0:4317", fmt.Sprintf("127.0.0.1:%d", free(t)),
		"host: 0.0.0.0, port: 8888", fmt.Sprintf("host: 127.0.0.1, port: %d", metrics), "jaeger:4317", fmt.Sprintf("127.0.0.1:%d", free(t))).Replace(collectorFile(t))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	command := exec.CommandContext(ctx, collector, "--config", path,
		"--config", "yaml:processors::tail_sampling::decision_wait: 1s",
		"--config", "yaml:processors::tail_sampling::decision_wait_after_root_received: 0s",
		"--config", "yaml:exporters::otlp_grpc::sending_queue: {queue_size: 1, num_consumers: 1}",
		"--config", "yaml:exporters::otlp_grpc::retry_on_failure: {initial_interval: 1s, max_interval: 1s, max_elapsed_time: 2s}")
	var said strings.Builder
	command.Stdout, command.Stderr = &said, &said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	defer func() {
		stop()
		<-ended
		if t.Failed() {
			t.Log(said.String())
		}
	}()
	until(t, "the collector tells all that it is asked for", func() bool {
		send(ctx, spans)
		text, err := get(ctx, fmt.Sprintf("http://127.0.0.1:%d/metrics", metrics))
		if err != nil {
			return false
		}
		for name := range askedOfCollector(t) {
			if !strings.Contains(text, "\n"+name+"{") && !strings.Contains(text, "\n"+name+" ") {
				return false
			}
		}
		return true
	})
}

func collectorFile(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root(t), "compose", "collector.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// askedOfCollector are the names of its metrics in rules and dashboards, by where they stand.
func askedOfCollector(t *testing.T) map[string]string {
	t.Helper()
	asked := map[string]string{}
	for expression, where := range expressions(t) {
		for _, name := range names.FindAllString(selectors.ReplaceAllString(expression, ""), -1) {
			if strings.HasPrefix(name, "otelcol_") {
				asked[name] = where
			}
		}
	}
	return asked
}

// send hands over a trace of one span that failed. Whether it arrives is seen in the metrics.
func send(ctx context.Context, port int) {
	id := make([]byte, 16)
	_, _ = rand.Read(id)
	now := time.Now().UnixNano()
	body := fmt.Sprintf(`{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": %q, "spanId": %q, "name": "x", "kind": 2,
		"startTimeUnixNano": "%d", "endTimeUnixNano": "%d", "status": {"code": 2}}]}]}]}`, hex.EncodeToString(id), hex.EncodeToString(id[:8]), now, now+1)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/v1/traces", port), strings.NewReader(body))
	if err != nil {
		return
	}
	request.Header.Set("Content-Type", "application/json")
	if answer, err := http.DefaultClient.Do(request); err == nil {
		answer.Body.Close()
	}
}
