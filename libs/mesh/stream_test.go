package mesh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

func request(method, target, body string) *http.Request {
	r := &http.Request{Method: method, RequestURI: target, Header: http.Header{}}
	if body != "" {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}
	return r
}

func TestStreamSendsWhatItIsGiven(t *testing.T) {
	var target, host, timeout, agent, length, body string
	b := serve(t, func(c *fasthttp.RequestCtx) {
		h := &c.Request.Header
		target, host, timeout = string(h.RequestURI()), string(c.Host()), string(h.Peek(TimeoutHeader))
		agent, length, body = string(h.UserAgent()), string(h.Peek("Content-Length")), string(c.Request.Body())
		c.SetStatusCode(409)
		c.SetBodyString("no")
	})
	p := peerOf(t, Options{}, b.address)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for _, want := range []string{"/v3/patient/%41/..;x?b=%20&a=1&", "/a?", "/a|b"} {
		r := request("PUT", want, "body")
		resp, err := p.Stream(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(got) != "no" || resp.StatusCode != 409 {
			t.Errorf("%v %q %d", err, got, resp.StatusCode)
		}
		if target != want || host != "patient" || agent != "" || length != "4" || body != "body" {
			t.Errorf("%s: target %q, host %q, agent %q, length %q, body %q", want, target, host, agent, length, body)
		}
		if ms, err := strconv.Atoi(timeout); err != nil || ms <= 0 || ms > 5000 {
			t.Errorf("%s: %q", TimeoutHeader, timeout)
		}
		if len(r.Header) != 0 {
			t.Errorf("the caller's headers were written to: %v", r.Header)
		}
	}
}

func TestPassSigns(t *testing.T) {
	keys := keyring(t)
	var got principal.Principal
	var verified error
	caller := callerOf(t, func(c *fasthttp.RequestCtx) {
		got, verified = keys.Verify(string(c.Request.Header.Peek(principal.AssertionHeader)), string(c.Method()), string(c.Request.Header.RequestURI()), time.Now())
	})
	ctx := principal.With(t.Context(), principal.Principal{TenantID: "t", Kind: principal.APIKey})
	r := request("PUT", "/v2/x%2Fy?a=1", "body")
	r.Header.Set("Mesh-Patient", "live")
	resp, err := caller.Pass(ctx, r)
	if err != nil || verified != nil || got.TenantID != "t" {
		t.Fatalf("%v, %v, %+v", err, verified, got)
	}
	resp.Body.Close()
	if _, err := caller.Pass(t.Context(), r); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("without a principal: %v", err)
	}
}

func TestStreamGoesToAnotherInstance(t *testing.T) {
	unhandled := func(c *fasthttp.RequestCtx) {
		c.SetStatusCode(503)
		c.Response.Header.Set(UnhandledHeader, "1")
	}
	vanish := func(c *fasthttp.RequestCtx) {
		if c.Request.IsBodyStream() {
			_, _ = io.CopyN(io.Discard, c.RequestBodyStream(), 1)
		}
		c.Conn().Close()
		c.HijackSetNoResponse(true)
		c.Hijack(func(net.Conn) {})
	}
	for _, test := range []struct {
		name   string
		first  fasthttp.RequestHandler // nil: nothing listens
		method string
		body   string
		want   bool
	}{
		{"GET, no connection", nil, "GET", "", true},
		{"PUT, no connection: nothing was sent", nil, "PUT", "body", true},
		{"GET, refused unhandled", unhandled, "GET", "", true},
		{"DELETE, refused unhandled", unhandled, "DELETE", "", true},
		{"PUT, refused unhandled: the body is on its way", unhandled, "PUT", "body", false},
		{"GET, connection lost", vanish, "GET", "", true},
		{"PUT, connection lost", vanish, "PUT", "body", false},
		{"PUT without a body, connection lost", vanish, "PUT", "", false},
		{"POST, connection lost", vanish, "POST", "body", false},
		{"DELETE, connection lost", vanish, "DELETE", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			address := closed(t)
			if test.first != nil {
				address = serve(t, test.first).address
			}
			good := serve(t, func(c *fasthttp.RequestCtx) { c.SetBody(c.Request.Body()) })
			p := peerOf(t, Options{}, address, good.address)
			list := *p.instances.Load()
			list[slices.IndexFunc(list, func(i *instance) bool { return i.address == good.address })].outstanding.Store(100)
			resp, err := p.Stream(t.Context(), request(test.method, "/", test.body))
			got := err == nil && resp.StatusCode == 200
			if strings.Contains(test.name, "unhandled") && (err != nil || !got && resp.StatusCode != 503) {
				t.Errorf("the refusal was lost: %v", err)
			}
			if got != test.want {
				t.Errorf("reached the other: %v, want %v (%v)", got, test.want, err)
			}
			if err != nil && !fault.Is(err, fault.Unavailable) {
				t.Errorf("not a fault of kind Unavailable: %v", err)
			}
			if err == nil {
				if body, err := io.ReadAll(resp.Body); got && (err != nil || string(body) != test.body) {
					t.Errorf("%q %v", body, err)
				}
				resp.Body.Close()
			}
			for _, i := range list {
				if busy := i.outstanding.Load() % 100; busy != 0 {
					t.Errorf("%d calls are outstanding", busy)
				}
			}
		})
	}
}

func TestStreamSurvivesARestart(t *testing.T) {
	b := serve(t, ok)
	p := peerOf(t, Options{}, b.address)
	ask := func() error {
		resp, err := p.Stream(t.Context(), request("GET", "/", ""))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	b.stop()
	ln, err := net.Listen("tcp", b.address)
	if err != nil {
		t.Skip("the port was taken:", err)
	}
	server := &fasthttp.Server{Handler: ok}
	go func() { _ = server.Serve(ln) }()
	defer server.Shutdown()
	if err := ask(); err != nil {
		t.Errorf("after the restart: %v", err)
	}
}

// breaking is a body that fails after so many bytes.
func breaking(n int, err error) io.ReadCloser {
	return io.NopCloser(io.MultiReader(strings.NewReader(strings.Repeat("x", n)), failure{err}))
}

type failure struct{ err error }

func (f failure) Read([]byte) (int, error) { return 0, f.err }

// A caller whose body breaks off gets its own error back, and no instance is thought the worse of.
func TestStreamBlamesNobodyForTheCallersBody(t *testing.T) {
	whole := make(chan error, 100)
	b := serve(t, func(c *fasthttp.RequestCtx) {
		n, err := io.Copy(io.Discard, c.RequestBodyStream())
		if err == nil && c.Request.Header.ContentLength() >= 0 && n < int64(c.Request.Header.ContentLength()) {
			err = io.ErrUnexpectedEOF
		}
		whole <- err
	})
	p := peerOf(t, Options{}, b.address)
	mine := fault.New(fault.Invalid, "malformed_body", "It broke off.")
	for n := range 40 {
		r := request("PUT", "/", "")
		r.Body, r.ContentLength = breaking(n*1000, mine), 1<<20
		if n%2 == 1 {
			r.ContentLength = -1
		}
		if resp, err := p.Stream(t.Context(), r); !errors.Is(err, mine) {
			t.Fatalf("%v, %v", resp, err)
		}
	}
	i := (*p.instances.Load())[0]
	if breakerState(i) != 0 || i.outstanding.Load() != 0 {
		t.Errorf("breaker %d, outstanding %d", breakerState(i), i.outstanding.Load())
	}
}

func TestStreamOpensTheBreaker(t *testing.T) {
	p := peerOf(t, Options{BreakerOpen: time.Hour}, closed(t))
	for range 10 {
		if _, err := p.Stream(t.Context(), request("PUT", "/", "body")); !fault.Is(err, fault.Unavailable) {
			t.Fatal(err)
		}
	}
	if state := breakerState((*p.instances.Load())[0]); state != 2 {
		t.Errorf("breaker %d", state)
	}
	if _, err := p.Stream(t.Context(), request("GET", "/", "")); !errors.Is(err, errNoInstance) {
		t.Error(err)
	}
}

// An instance is busy, and the call goes on, until the answer's body is closed.
func TestStreamEndsWithItsAnswer(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	b := serve(t, func(c *fasthttp.RequestCtx) {
		c.SetStatusCode(c.QueryArgs().GetUintOrZero("status"))
		c.SetBodyString(strings.Repeat("x", 1<<20))
	})
	p := peerOf(t, Options{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))}, b.address)
	i := (*p.instances.Load())[0]
	for n, status := range []int{200, 404, 500, 503} {
		resp, err := p.Stream(t.Context(), request("GET", fmt.Sprintf("/?status=%d", status), ""))
		if err != nil || resp.StatusCode != status || i.outstanding.Load() != 1 {
			t.Fatalf("%v %d", err, i.outstanding.Load())
		}
		if n == 0 {
			_, _ = io.Copy(io.Discard, resp.Body)
		}
		if count(t, reader) != n {
			t.Errorf("%d calls were counted before the end of the call after %d", count(t, reader), n)
		}
		resp.Body.Close()
		resp.Body.Close()
		if i.outstanding.Load() != 0 || count(t, reader) != n+1 {
			t.Errorf("afterwards %d outstanding, %d counted", i.outstanding.Load(), count(t, reader))
		}
	}
	if got := outcomes(t, reader); got != "answered 2 failed 2" {
		t.Error(got)
	}
}

func points(t *testing.T, reader *sdkmetric.ManualReader) []metricdata.HistogramDataPoint[float64] {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if h, ok := m.Data.(metricdata.Histogram[float64]); ok && m.Name == "mesh.call.duration" {
				return h.DataPoints
			}
		}
	}
	return nil
}

func count(t *testing.T, reader *sdkmetric.ManualReader) int {
	t.Helper()
	n := 0
	for _, p := range points(t, reader) {
		n += int(p.Count)
	}
	return n
}

func outcomes(t *testing.T, reader *sdkmetric.ManualReader) string {
	t.Helper()
	list := []string{}
	for _, p := range points(t, reader) {
		value, _ := p.Attributes.Value(attribute.Key("outcome"))
		list = append(list, fmt.Sprint(value.AsString(), " ", p.Count))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// The context bounds the wait for an answer, and the instance that made us wait is blamed; not so when the caller was
// still sending.
func TestStreamDeadline(t *testing.T) {
	release := make(chan struct{})
	b := serve(t, func(c *fasthttp.RequestCtx) {
		_, _ = io.Copy(io.Discard, c.RequestBodyStream())
		<-release
	})
	defer close(release)
	p := peerOf(t, Options{BreakerOpen: time.Hour}, b.address)
	i := (*p.instances.Load())[0]
	for _, mine := range []bool{true, false} {
		for range tripInARow {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			r := request("PUT", "/", "body")
			if mine {
				r.ContentLength = 5 // of which the last byte comes too late
				r.Body = io.NopCloser(io.MultiReader(strings.NewReader("body"), late{ctx}))
			}
			_, err := p.Stream(ctx, r)
			cancel()
			if f := fault.Of(err); f.Kind != fault.Unavailable || !mine && !strings.Contains(f.Detail, "in time") {
				t.Errorf("mine %v: %v", mine, err)
			}
		}
		if open := breakerState(i) == 2; open == mine {
			t.Errorf("mine %v: breaker open %v", mine, open)
		}
	}
	if i.outstanding.Load() != 0 {
		t.Errorf("%d outstanding", i.outstanding.Load())
	}
}

type late struct{ ctx context.Context }

func (l late) Read(p []byte) (int, error) {
	<-l.ctx.Done()
	p[0] = '!'
	return 1, io.EOF
}

// An instance that stops taking, or sending, is given up after the pause.
func TestStreamStalls(t *testing.T) {
	release := make(chan struct{})
	b := serve(t, func(c *fasthttp.RequestCtx) {
		if c.IsPut() {
			<-release
			return
		}
		c.SetBodyStream(io.MultiReader(strings.NewReader(strings.Repeat("x", 100_000)), wait(release)), 1<<20)
	})
	defer close(release)
	p := peerOf(t, Options{Idle: 100 * time.Millisecond, Timeout: time.Minute}, b.address)
	started := time.Now()
	r := request("PUT", "/", "")
	r.Body, r.ContentLength = io.NopCloser(endless{}), 1<<40
	if _, err := p.Stream(t.Context(), r); !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.Of(err).Detail, "in time") {
		t.Errorf("taking: %v", err)
	}
	resp, err := p.Stream(t.Context(), request("GET", "/", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); n < 90_000 || err == nil {
		t.Errorf("sending: %d bytes, %v", n, err)
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

type wait chan struct{}

func (w wait) Read([]byte) (int, error) {
	<-w
	return 0, io.EOF
}
