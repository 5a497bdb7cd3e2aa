package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/gateway/route"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

const contentLimit = 3 << 20

// withContent adds routes that stream, and a service behind them that streams too.
func withContent(_ *Settings, p *Parts) {
	p.Table = append(p.Table,
		route.Route{Method: "PUT", Pattern: "/content/{id}", Service: "patient", Need: principal.DocumentWrite, Traits: route.Traits{Patient: true, Stream: true}},
		route.Route{Method: "GET", Pattern: "/content/{id}", Service: "patient", Need: principal.DocumentRead, Traits: route.Traits{Patient: true, Stream: true}},
		route.Route{Method: "PUT", Pattern: "/hasty", Service: "patient", Traits: route.Traits{Stream: true, Timeout: 300 * time.Millisecond}},
	)
}

func TestStreams(t *testing.T) {
	w := start(t, withContent)
	w.know("good", everyone())
	sent := bytes.Repeat([]byte("0123456789"), contentLimit/10)
	w.answer = func(c *fasthttp.RequestCtx) {
		c.SetStatusCode(201)
		for name, value := range map[string]string{"Mesh-Thing": "x", "Keep-Alive": "x", "Server": "x", "X-Powered-By": "x", "Etag": `"3"`, "Trace-Id": "forged"} {
			c.Response.Header.Set(name, value)
		}
		body := c.Request.Body()
		if c.IsGet() || c.IsHead() {
			body = sent
		}
		c.SetBody(body)
	}
	for _, method := range []string{"PUT", "GET", "HEAD"} {
		for _, chunked := range []bool{false, true} {
			r, err := http.NewRequestWithContext(t.Context(), method, "http://"+w.addr, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if method == "PUT" {
				r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(sent)), int64(len(sent))
				if chunked {
					r.ContentLength = -1
				}
			}
			r.URL.Opaque = "/content/../content/a%2fb?x=%20"
			r.Header = http.Header{
				"Authorization": {"Bearer good"}, "Cookie": {"a=b"}, "Mesh-Patient": {"live"}, "Mesh-Assertion": {"forged"}, "Mesh-Timeout": {"1"}, "X-Forwarded-For": {"6.6.6.6"},
				"Connection": {"X-Dropped, Content-Length"}, "X-Dropped": {"x"}, "Te": {"x"}, "Content-Type": {"a/b"}, "If-Match": {"*"},
			}
			resp, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			length := resp.ContentLength
			a := read(t, resp)
			if a.status != 201 || length != int64(len(sent)) || (method != "HEAD") != (a.body == string(sent)) {
				t.Fatalf("%s: %d, %d of %d bytes", method, a.status, len(a.body), length)
			}
			h := a.header
			if len(h.Get("Trace-Id")) != 32 || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" || h.Get("Etag") != `"3"` ||
				h.Get("Mesh-Thing")+h.Get("Keep-Alive")+h.Get("Server")+h.Get("X-Powered-By")+h.Get("Connection") != "" {
				t.Errorf("%s: %v", method, h)
			}
			s := w.got()
			if s.verified != nil || s.principal.UserID != "u1" || s.target != "/content/a%2Fb?x=%20" || s.method != method || method == "PUT" && s.body != string(sent) {
				t.Errorf("%s: %v %s %s, %d bytes", method, s.verified, s.method, s.target, len(s.body))
			}
			for _, name := range []string{"Authorization", "Cookie", "Mesh-Patient", "X-Dropped", "Te", "Connection"} {
				if s.header[name] != "" {
					t.Errorf("%s: the service got %s: %s", method, name, s.header[name])
				}
			}
			if s.header["X-Forwarded-For"] != "127.0.0.1" || s.header["Content-Type"] != "a/b" || s.header["If-Match"] != "*" || s.header["Traceparent"] == "" {
				t.Errorf("%s: %v", method, s.header)
			}
			if ms, err := strconv.Atoi(s.header["Mesh-Timeout"]); err != nil || ms < 890_000 || ms > 900_000 {
				t.Errorf("%s: time left %s", method, s.header["Mesh-Timeout"])
			}
			if want := method == "PUT" && !chunked; (s.header["Content-Length"] == fmt.Sprint(len(sent))) != want {
				t.Errorf("%s, chunked %v: length %q", method, chunked, s.header["Content-Length"])
			}
		}
	}
}

func TestStreamsAreRefused(t *testing.T) {
	w := start(t, withContent)
	w.know("good", everyone())
	reader := everyone()
	reader.Permissions = principal.DocumentRead
	w.know("reader", reader)
	calls := w.calls.Load()
	big := strings.Repeat("x", contentLimit+1)
	for name, test := range map[string]struct {
		token, framing, body string
		status               int
		code                 string
	}{
		"credential":      {"bad", "Content-Length: 3145729", big, 401, "invalid_token"},
		"permission":      {"reader", "Content-Length: 3145729", big, 403, "permission_denied"},
		"declared length": {"good", "Content-Length: 3145729", big[:8<<10], 413, "content_too_large"},
		"coding":          {"good", "Content-Encoding: gzip\r\nContent-Length: 3", "abc", 415, "unsupported_encoding"},
		"two framings":    {"good", "Content-Length: 3\r\nTransfer-Encoding: chunked", "0\r\n\r\n", 400, "ambiguous_length"},
	} {
		a, _ := w.raw("PUT /content/1 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + test.token + "\r\n" + test.framing + "\r\n\r\n" + test.body)
		if a.status != test.status || a.code != test.code || w.calls.Load() != calls {
			t.Errorf("%s: %v, %d calls", name, a, w.calls.Load()-calls)
		}
	}
	chunk := "100000\r\n" + strings.Repeat("x", 1<<20) + "\r\n"
	a, closed := w.raw("PUT /content/1 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer good\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat(chunk, 4))
	if a.status != 413 || a.code != "content_too_large" || !closed {
		t.Errorf("counted: %v, closed %v", a, closed)
	}
	a, _ = w.raw("PUT /hasty HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer good\r\nContent-Length: 20000\r\n\r\n" + strings.Repeat("x", 10_000))
	if a.status != 400 || a.code != "request_timeout" {
		t.Errorf("not there in time: %v", a)
	}
}

// A refusal of the service reaches a client that is still sending.
func TestStreamIsAnsweredEarly(t *testing.T) {
	w := start(t, withContent)
	w.know("good", everyone())
	for _, status := range []int{404, 409} {
		w.answer = func(c *fasthttp.RequestCtx) { c.SetStatusCode(status) }
		head := "PUT /content/1 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer good\r\nContent-Length: 3145728\r\n\r\n"
		if a, _ := w.raw(head + strings.Repeat("x", contentLimit)); a.status != status {
			t.Error(a)
		}
	}
}

func TestStreamBreaksOff(t *testing.T) {
	w := start(t, withContent)
	w.know("good", everyone())
	w.answer = func(c *fasthttp.RequestCtx) {
		c.SetBodyStream(io.MultiReader(strings.NewReader(strings.Repeat("x", 1<<20)), gone{}), 2<<20)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+w.addr+"/content/1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer good")
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Errorf("taken for whole with %d bytes", n)
	}
}

type gone struct{}

func (gone) Read([]byte) (int, error) { return 0, errors.New("gone") }

func TestStreamOfAServiceThatIsAway(t *testing.T) {
	w := start(t, withContent, func(_ *Settings, p *Parts) {
		p.Table = append(p.Table, route.Route{Method: "PUT", Pattern: "/away", Service: "matching", Traits: route.Traits{Stream: true}})
	})
	w.know("good", everyone())
	w.answer = func(c *fasthttp.RequestCtx) { c.Conn().Close() }
	a := w.do("PUT", "/away", headers{"Authorization": "Bearer good"}, "body")
	if a.status != 503 || a.code != "unavailable" || a.header.Get("Retry-After") == "" || len(a.header.Get("Trace-Id")) != 32 {
		t.Error(a)
	}
}

// fasthttp lets names through that net/http does not send: whoever sends them must not open the breaker for everybody.
func TestAMalformedHeaderIsTheCallersFault(t *testing.T) {
	w := start(t, withContent)
	w.know("good", everyone())
	w.answer = func(c *fasthttp.RequestCtx) { c.SetBodyString("x") }
	for range 25 {
		a, _ := w.raw("GET /content/7 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nX A: b\r\n\r\n")
		if a.status != 400 {
			t.Fatal(a)
		}
	}
	if a := w.get("/content/7", "good"); a.status != 200 {
		t.Errorf("afterwards the service is %v", a)
	}
}

// A trailer is read with the body, after the door has looked at the headers.
func TestATrailerForgesNothing(t *testing.T) {
	w := start(t, withContent)
	w.know("good", everyone())
	w.answer = func(c *fasthttp.RequestCtx) { c.SetBodyString("x") }
	for _, line := range []string{"PATCH /v3/patient/7", "PUT /content/7"} {
		a, _ := w.raw(line + " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\n" +
			"Transfer-Encoding: chunked\r\nTrailer: Mesh-Patient\r\n\r\n2\r\n{}\r\n0\r\nMesh-Patient: live\r\n\r\n")
		if a.status != 200 {
			t.Fatal(line, a)
		}
		if s := w.got(); s.body != "{}" || s.header["Mesh-Patient"] != "" {
			t.Errorf("%s: %v", line, s.header)
		}
	}
}

// Slow streams of one tenant leave places for the others, and their own come back.
func TestATenantHoldsSoManyStreams(t *testing.T) {
	w := start(t, withContent, func(s *Settings, _ *Parts) { s.TenantStreams = 2 })
	other := everyone()
	other.TenantID = "t2"
	w.know("good", everyone())
	w.know("other", other)
	begun, end, done := make(chan bool), make(chan bool), make(chan int)
	w.answer = func(c *fasthttp.RequestCtx) {
		if string(c.Path()) == "/content/slow" {
			begun <- true
			<-end
		}
	}
	for range 2 {
		go func() { done <- w.get("/content/slow", "good").status }()
		<-begun
	}
	if a := w.get("/content/7", "good"); a.status != 429 || a.header.Get("Retry-After") == "" {
		t.Errorf("a third: %v", a)
	}
	if a := w.get("/content/7", "other"); a.status != 200 {
		t.Errorf("another tenant: %v", a)
	}
	if a := w.get("/v3/patient/7", "good"); a.status != 200 {
		t.Errorf("a short request: %v", a)
	}
	close(end)
	for range 2 {
		if status := <-done; status != 200 {
			t.Error(status)
		}
	}
	w.until("the places are free", func() bool { return w.get("/content/7", "good").status == 200 })
}
