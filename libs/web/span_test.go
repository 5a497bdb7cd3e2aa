package web_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/web"
)

// A span says what was asked for by pattern alone, whatever the path and the query hold, and that a handler failed.
func TestSpansHoldNoQueryAndKnowOfFailures(t *testing.T) {
	spans, before := tracetest.NewSpanRecorder(), otel.GetTracerProvider()
	otel.SetTracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(spans)))
	t.Cleanup(func() { otel.SetTracerProvider(before) })
	for name, test := range map[string]struct {
		failure error
		want    codes.Code
	}{
		"answered":     {nil, codes.Unset},
		"refused":      {fault.New(fault.Invalid, "bad", "Qxzdetail"), codes.Unset},
		"failed":       {errors.New("Qxzcause"), codes.Error}, //nolint:err113 // any
		"away":         {fault.Away(nil, "away"), codes.Error},
		"Fiber's kind": {fiber.ErrBadGateway, codes.Error},
	} {
		a, _ := app(t, web.Options{}, func(*fiber.Ctx) error { return test.failure })
		r := httptest.NewRequest(http.MethodGet, "/x/Qxzpath?lastName=Qxzname", nil)
		r.Header.Set("Referer", "http://h/?Qxzreferer")
		if _, err := a.Test(r, -1); err != nil {
			t.Fatal(err)
		}
		ended := spans.Ended()
		span := ended[len(ended)-1]
		if span.Name() != "GET /x/:id" || span.Status().Code != test.want {
			t.Errorf("%s: %q, %+v", name, span.Name(), span.Status())
		}
		for _, a := range span.Attributes() {
			if text := a.Value.String(); strings.ContainsAny(text, "?=") || strings.Contains(text, "Qxz") {
				t.Errorf("%s: %s = %s", name, a.Key, text)
			}
		}
		if strings.Contains(span.Status().Description, "Qxz") || len(span.Events()) > 0 {
			t.Errorf("%s: %+v %+v", name, span.Status(), span.Events())
		}
	}
}
