package telemetry_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/patient-mesh/patient-mesh/libs/telemetry"
)

func TestLinesCarryTheTraceAndWarningsAreWrittenAtOnce(t *testing.T) {
	var out bytes.Buffer
	tel, err := telemetry.Start(t.Context(), "program", "v1", "demo", "info", &out)
	if err != nil {
		t.Fatal(err)
	}
	ctx, span := otel.Tracer("test").Start(t.Context(), "work")
	tel.Logger.InfoContext(ctx, "first")
	tel.Logger.With("k", "v").WarnContext(ctx, "second")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("written before the end: %q", lines)
	}
	for _, line := range lines {
		var got map[string]any
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		if got["trace_id"] != span.SpanContext().TraceID().String() || got["service"] != "program" || got["version"] != "v1" {
			t.Errorf("%s", line)
		}
	}
	tel.Logger.Info("third")
	tel.Logger.Debug("not at this level")
	if err := tel.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "third") || strings.Contains(text, "not at this level") {
		t.Errorf("after the end: %s", text)
	}
}

func TestMetricsCanBeScraped(t *testing.T) {
	tel, err := telemetry.Start(t.Context(), "program", "v1", "demo", "info", &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	defer tel.Close(t.Context())
	w := httptest.NewRecorder()
	tel.Metrics.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	for _, family := range []string{"go_goroutine", "process_cpu_seconds_total"} {
		if !strings.Contains(w.Body.String(), family) {
			t.Errorf("no %s: %s", family, w.Body)
		}
	}
}

func TestAWrongLevelIsToldByItsName(t *testing.T) {
	if _, err := telemetry.Start(t.Context(), "program", "v1", "demo", "loud", &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "LOG_LEVEL") {
		t.Errorf("%v", err)
	}
}

// The bucket that a request was counted in leads to its trace.
func TestScrapedHistogramsLeadToTraces(t *testing.T) {
	sink := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer sink.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", sink.URL)
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	tel, err := telemetry.Start(t.Context(), "program", "v1", "demo", "info", &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	defer tel.Close(t.Context())
	histogram, err := otel.Meter("test").Float64Histogram("took", metric.WithUnit("s"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, span := otel.Tracer("test").Start(t.Context(), "work")
	histogram.Record(ctx, 0.2)
	span.End()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	w := httptest.NewRecorder()
	tel.Metrics.ServeHTTP(w, r)
	if want := `trace_id="` + span.SpanContext().TraceID().String() + `"`; !strings.Contains(w.Body.String(), want) {
		t.Errorf("no exemplar with %s in\n%s", want, w.Body)
	}
}
