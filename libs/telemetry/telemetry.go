// Package telemetry sets up a program's logs, traces and metrics. Traces and metrics are pushed over OTLP when the
// standard OTEL_EXPORTER_OTLP_ENDPOINT is set, each unless OTEL_TRACES_EXPORTER or OTEL_METRICS_EXPORTER is none; metrics
// can be scraped as well, with the trace of a request as each bucket's exemplar. Nothing here sees a patient's data, and
// whoever adds an attribute must keep it so.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/contrib/instrumentation/runtime"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	oteltrace "go.opentelemetry.io/otel/trace"
)

// Telemetry is what a program logs, traces and counts with.
type Telemetry struct {
	Logger  *slog.Logger
	Metrics http.Handler // what Prometheus scrapes
	closers []func(context.Context) error
}

// Start sets telemetry up for a program and installs the providers that libraries look up. Close it last.
func Start(ctx context.Context, program, version, environment, level string, out io.Writer) (*Telemetry, error) {
	about, err := resource.Merge(resource.Default(), resource.NewSchemaless(
		semconv.ServiceName(program), semconv.ServiceVersion(version), semconv.DeploymentEnvironmentName(environment)))
	if err != nil {
		return nil, fmt.Errorf("describe the program: %w", err)
	}
	t := &Telemetry{}
	lines := newOutput(out)
	t.closers = append(t.closers, lines.close)
	if t.Logger, err = logger(program, version, level, lines); err != nil {
		return nil, err
	}
	if err := errors.Join(t.traces(ctx, about, pushed("OTEL_TRACES_EXPORTER")), t.metrics(ctx, about, pushed("OTEL_METRICS_EXPORTER"))); err != nil {
		return nil, err
	}
	otel.SetTextMapPropagator(propagation.TraceContext{})
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { t.Logger.Warn("telemetry", "error", err.Error()) }))
	return t, nil
}

// pushed tells whether there is a collector, and the variable does not keep this signal from it.
func pushed(exporter string) bool {
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" && os.Getenv(exporter) != "none"
}

func (t *Telemetry) traces(ctx context.Context, about *resource.Resource, push bool) error {
	// Without a collector nothing is recorded, but every request still has a trace id to be found by in the logs.
	options := []trace.TracerProviderOption{trace.WithResource(about)}
	if push {
		out, err := otlptracehttp.New(ctx)
		if err != nil {
			return fmt.Errorf("trace exporter: %w", err)
		}
		options = append(options, trace.WithBatcher(out))
	} else {
		options = append(options, trace.WithSampler(trace.NeverSample()))
	}
	provider := trace.NewTracerProvider(options...)
	otel.SetTracerProvider(provider)
	t.closers = append(t.closers, provider.Shutdown)
	return nil
}

func (t *Telemetry) metrics(ctx context.Context, about *resource.Resource, push bool) error {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})) // processor, memory, files
	scrape, err := exporter.New(exporter.WithRegisterer(registry))
	if err != nil {
		return fmt.Errorf("metric exporter: %w", err)
	}
	options := []metric.Option{metric.WithResource(about), metric.WithReader(scrape)}
	if push {
		out, err := otlpmetrichttp.New(ctx)
		if err != nil {
			return fmt.Errorf("metric exporter: %w", err)
		}
		options = append(options, metric.WithReader(metric.NewPeriodicReader(out)))
	}
	provider := metric.NewMeterProvider(options...)
	otel.SetMeterProvider(provider)
	// Exemplars exist in OpenMetrics only. Series of the moment of creation would double what is scraped, for nobody.
	t.Metrics = promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
	t.closers = append(t.closers, provider.Shutdown)
	if err := runtime.Start(); err != nil {
		return fmt.Errorf("runtime metrics: %w", err)
	}
	return nil
}

// Close flushes what has not been sent yet, the log last.
func (t *Telemetry) Close(ctx context.Context) error {
	var faults []error
	for _, c := range slices.Backward(t.closers) {
		faults = append(faults, c(ctx))
	}
	return errors.Join(faults...)
}

func logger(program, version, level string, out *output) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("LOG_LEVEL: %w", err)
	}
	handler := slog.NewJSONHandler(out, &slog.HandlerOptions{Level: l})
	return slog.New(traced{handler, out}).With("service", program, "version", version), nil
}

// traced adds the ids of the trace under way to every line.
type traced struct {
	slog.Handler
	out *output
}

func (h traced) Handle(ctx context.Context, r slog.Record) error {
	if span := oteltrace.SpanContextFromContext(ctx); span.IsValid() {
		r.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	err := h.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		h.out.flush()
	}
	return err
}

func (h traced) WithAttrs(attrs []slog.Attr) slog.Handler {
	return traced{h.Handler.WithAttrs(attrs), h.out}
}

func (h traced) WithGroup(name string) slog.Handler { return traced{h.Handler.WithGroup(name), h.out} }
