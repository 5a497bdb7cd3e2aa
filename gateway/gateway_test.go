package gateway

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/gateway/route"
	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/secret"
	"github.com/patient-mesh/patient-mesh/libs/web"
)

func TestForwardsWithAnAssertion(t *testing.T) {
	w := start(t)
	w.know("good", everyone())
	w.answer = func(c *fasthttp.RequestCtx) {
		c.Response.Header.Set("Mesh-Thing", "x")
		c.Response.Header.Set("Keep-Alive", "x")
		c.Response.Header.Set("Server", "x")
		c.Response.Header.Set("ETag", `"3"`)
		c.Response.SetConnectionClose()
		c.SetBodyString("{}")
	}
	a := w.do("POST", "/v3/patient?x=1", headers{
		"Authorization": "bearer good", "Content-Type": "application/json", "Mesh-Assertion": "forged", "mesh-timeout": "1", "Mesh_Assertion": "forged",
		"X-Forwarded-For": "6.6.6.6", "Forwarded": "for=6.6.6.6", "X-Real-IP": "6.6.6.6", "Te": "trailers", "X-Drop": "x",
		"Connection": "X-Drop, Content-Type, keep-alive", "Idempotency-Key": "k", "Cookie": "a=b",
	}, `{"a":1}`)
	if a.status != 200 || a.header.Get("Mesh-Thing")+a.header.Get("Keep-Alive")+a.header.Get("Server") != "" || a.header.Get("ETag") != `"3"` {
		t.Fatal(a)
	}
	if len(a.header.Get("Trace-Id")) != 32 || a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Cache-Control") != "no-store" {
		t.Error(a)
	}
	if a.header.Get("Connection") == "close" {
		t.Error("the service's connection closed the caller's")
	}
	s := w.got()
	if s.verified != nil || s.principal.UserID != "u1" || s.target != "/v3/patient?x=1" || s.body != `{"a":1}` {
		t.Errorf("%+v", s)
	}
	for name, value := range s.header {
		if strings.Contains(value, "forged") || strings.Contains(value, "6.6.6.6") || strings.Contains(value, "good") {
			t.Errorf("the service got %s: %s", name, value)
		}
	}
	for _, name := range []string{"Authorization", "Te", "X-Drop", "Connection", "Cookie", "Mesh_assertion", "Forwarded"} {
		if s.header[name] != "" {
			t.Errorf("the service got %s: %s", name, s.header[name])
		}
	}
	if s.header["Content-Type"] != "application/json" || s.header["Mesh-Timeout"] == "1" || s.header["X-Forwarded-For"] != "127.0.0.1" || s.header["Traceparent"] == "" {
		t.Errorf("%+v", s.header)
	}
}

func key(t *testing.T, environment string) string {
	t.Helper()
	k, err := secret.NewAPIKey(strings.NewReader(strings.Repeat("r", 64)), environment, uuid.UUID{1})
	if err != nil {
		t.Fatal(err)
	}
	return k.String()
}

// pointer is how a challenge tells where to read about the authorization server (RFC 9728 §5.1).
const pointer = `resource_metadata="https://records.example/.well-known/oauth-protected-resource"`

func TestResourceMetadata(t *testing.T) {
	w := start(t)
	a := w.do("GET", "/.well-known/oauth-protected-resource", nil, "")
	var document struct {
		Resource string
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported"`
	}
	if err := json.Unmarshal([]byte(a.body), &document); err != nil || a.status != 200 {
		t.Fatal(a, err)
	}
	if document.Resource != "https://records.example" || !slices.Equal(document.Servers, []string{document.Resource}) || !slices.Contains(document.Scopes, "patient:read") {
		t.Errorf("%+v", document)
	}
	if a := w.do("POST", "/.well-known/oauth-protected-resource", nil, ""); a.status != 405 {
		t.Error(a)
	}
}

func TestCredentials(t *testing.T) {
	w := start(t)
	w.know("good", everyone())
	demo, prod := key(t, "demo"), key(t, "production")
	w.know(demo, everyone())
	w.know(prod, everyone())
	expired := everyone()
	expired.ExpiresAt = time.Now().Add(-time.Second)
	w.know("expired", expired)
	other := everyone()
	other.Environment = "production"
	w.know("other", other)
	mistyped := demo[:len(demo)-2] + "~" + demo[len(demo)-1:]
	w.know(mistyped, everyone())
	tests := []struct {
		name, target string
		h            headers
		status       int
		challenge    string
	}{
		{"token", "/v2/tenant", headers{"Authorization": "Bearer good"}, 200, ""},
		{"scheme in any case", "/v2/tenant", headers{"Authorization": "bEARER good"}, 200, ""},
		{"key as bearer", "/v2/tenant", headers{"Authorization": "Bearer " + demo}, 200, ""},
		{"key header on v3", "/v3/patient", headers{"X-Api-Key": demo}, 200, ""},
		{"key header on v2", "/v2/tenant", headers{"X-Api-Key": demo}, 401, "Bearer"},
		{"token in the key header", "/v3/patient", headers{"X-Api-Key": "good"}, 401, `Bearer error="invalid_token"`},
		{"none", "/v3/patient", nil, 401, "Bearer"},
		{"other scheme", "/v3/patient", headers{"Authorization": "Basic Z29vZA=="}, 401, "Bearer"},
		{"empty", "/v3/patient", headers{"Authorization": "Bearer "}, 401, "Bearer"},
		{"unknown", "/v3/patient", headers{"Authorization": "Bearer bad"}, 401, `Bearer error="invalid_token"`},
		{"expired", "/v3/patient", headers{"Authorization": "Bearer expired"}, 401, `Bearer error="invalid_token"`},
		{"another environment's token", "/v3/patient", headers{"Authorization": "Bearer other"}, 401, `Bearer error="invalid_token"`},
		{"another environment's key", "/v3/patient", headers{"X-Api-Key": prod}, 401, `Bearer error="invalid_token"`},
		{"mistyped key", "/v3/patient", headers{"X-Api-Key": mistyped}, 401, `Bearer error="invalid_token"`},
		{"too long", "/v3/patient", headers{"Authorization": "Bearer " + strings.Repeat("x", 4097)}, 401, `Bearer error="invalid_token"`},
		{"both", "/v3/patient", headers{"Authorization": "Bearer good", "X-Api-Key": demo}, 400, ""},
		{"both, both bad, v2", "/v2/tenant", headers{"Authorization": "Basic x", "X-Api-Key": "y"}, 400, ""},
		{"in the query", "/v3/patient?access_token=good", nil, 401, "Bearer"},
		{"unknown path without credential", "/v3/nothing", nil, 401, "Bearer"},
		{"unknown path", "/v3/nothing", headers{"Authorization": "Bearer good"}, 404, ""},
		{"internal path", "/internal/credential", headers{"Authorization": "Bearer good"}, 404, ""},
		{"internal path, hidden", "/v3/%2e%2e/internal/credential", headers{"Authorization": "Bearer good"}, 404, ""},
		{"public", "/oauth2/jwks", nil, 200, ""},
		{"public with a bad credential", "/oauth2/jwks", headers{"Authorization": "Basic x"}, 200, ""},
	}
	for _, test := range tests {
		a := w.do("GET", test.target, test.h, "")
		challenge := test.challenge
		switch {
		case challenge == "Bearer":
			challenge += " " + pointer
		case challenge != "":
			challenge += ", " + pointer
		}
		if a.status != test.status || a.header.Get("WWW-Authenticate") != challenge {
			t.Errorf("%s: %v", test.name, a)
		}
		if a.status >= 400 && (a.header.Get("Content-Type") != "application/problem+json" || len(a.header.Get("Trace-Id")) != 32 || a.code == "") {
			t.Errorf("%s: no proper problem: %v", test.name, a)
		}
	}
	asked := w.asked.Load()
	w.do("GET", "/v3/patient", headers{"X-Api-Key": mistyped}, "")
	w.do("GET", "/v3/patient", headers{"X-Api-Key": prod}, "")
	if w.asked.Load() != asked {
		t.Error("identity was asked about a key that shows itself to be none")
	}
	two := "Authorization: Bearer good\r\nAuthorization: Bearer good\r\n"
	if a, _ := w.raw("GET /v3/patient HTTP/1.1\r\nHost: h\r\n" + two + "\r\n"); a.status != 400 || a.code != "two_credentials" {
		t.Errorf("two Authorization headers: %v", a)
	}
	if a, _ := w.raw("POST /oauth2/token HTTP/1.1\r\nHost: h\r\n" + two + "Content-Length: 0\r\n\r\n"); a.status != 400 {
		t.Errorf("two Authorization headers, public: %v", a)
	}
	w.do("POST", "/oauth2/token", headers{"Authorization": "Basic Y2xpZW50"}, "grant_type=x")
	if s := w.got(); s.header["Authorization"] != "Basic Y2xpZW50" || s.verified != nil || s.principal.Kind != "" || s.body != "grant_type=x" {
		t.Errorf("public: %+v", s)
	}
}

func TestPermissionMethodAgreement(t *testing.T) {
	w := start(t, func(_ *Settings, p *Parts) { p.Environment = "production" })
	p := everyone()
	p.Environment, p.Permissions = "production", principal.PatientRead
	w.know("reader", p)
	p.AgreementAccepted = true
	w.know("accepted", p)
	tests := []struct {
		method, target, token string
		status                int
		code                  string
	}{
		{"GET", "/v3/patient", "accepted", 200, ""},
		{"HEAD", "/v3/patient/1", "accepted", 200, ""},
		{"POST", "/v3/patient", "accepted", 403, "permission_denied"},
		{"DELETE", "/v3/patient/1", "accepted", 403, "permission_denied"},
		{"GET", "/v3/patient", "reader", 403, "agreement_required"},
		{"GET", "/v2/tenant", "reader", 200, ""},
		{"PUT", "/v3/patient", "accepted", 405, "method_not_allowed"},
		{"PUT", "/v3/patient", "bad", 401, "invalid_token"},
		{"FOO", "/v3/patient", "accepted", 405, "method_not_allowed"},
		{"FOO", "/v3/patient", "bad", 401, "invalid_token"},
		{"OPTIONS", "/v3/patient", "accepted", 405, "method_not_allowed"},
	}
	for _, test := range tests {
		a := w.do(test.method, test.target, headers{"Authorization": "Bearer " + test.token}, "")
		if a.status != test.status || a.code != test.code && test.method != "HEAD" {
			t.Errorf("%+v: %v", test, a)
		}
		if a.status == 405 && a.header.Get("Allow") != "GET, HEAD, POST" {
			t.Errorf("Allow: %q", a.header.Get("Allow"))
		}
	}
}

func TestBodies(t *testing.T) {
	w := start(t)
	w.know("good", everyone())
	auth := headers{"Authorization": "Bearer good"}
	big := strings.Repeat("x", 1<<20)
	if a := w.do("POST", "/v3/patient", auth, big); a.status != 200 || len(w.got().body) != 1<<20 {
		t.Errorf("at the limit: %v", a)
	}
	calls := w.calls.Load()
	head := "POST /v3/patient HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer good\r\n"
	a, closed := w.raw(head + "Content-Length: 1048577\r\n\r\n" + big[:8<<10]) // no more comes: it must be refused at once
	if a.status != 413 {
		t.Errorf("declared over the limit: %v", a)
	}
	if !closed {
		t.Error("the connection stays open with a body unread")
	}
	chunk := "10000\r\n" + strings.Repeat("x", 0x10000) + "\r\n"
	a, closed = w.raw(head + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat(chunk, 17))
	if a.status != 413 || !closed {
		t.Errorf("chunked over the limit: %v", a)
	}
	a, _ = w.raw(head + "Content-Length: 3\r\nContent-Encoding: gzip\r\n\r\nabc")
	if a.status != 415 {
		t.Errorf("coded: %v", a)
	}
	a, closed = w.raw(head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n")
	if a.status != 400 || !closed {
		t.Errorf("malformed chunk: %v", a)
	}
	if w.calls.Load() != calls {
		t.Error("the service got a body that was refused")
	}
	a, _ = w.raw(head + "Transfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n")
	if s := w.got(); a.status != 200 || s.body != "abc" || s.header["Content-Length"] != "3" || s.header["Trailer"] != "" {
		t.Errorf("chunked: %v %+v", a, s)
	}
	a, _ = w.raw("GET /v3/patient HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer good\r\nContent-Length: 3\r\n\r\nabc")
	if s := w.got(); a.status != 200 || s.body != "" {
		t.Errorf("GET with a body: %v %+v", a, s)
	}
}

func TestPathsAreRoutedAsForwarded(t *testing.T) {
	w := start(t)
	w.know("good", everyone())
	for target, want := range map[string]string{
		"/v3//patient/./1?a=%20b":            "/v3/patient/1?a=%20b",
		"/v3/patient/x/../7":                 "/v3/patient/7",
		"/v3/patient/%37":                    "/v3/patient/7",
		"/v3/patient/a%2fb":                  "/v3/patient/a%2Fb",
		"/v3/patient/7?":                     "/v3/patient/7",
		"/v3/patient/7?x=/../y&z":            "/v3/patient/7?x=/../y&z",
		"http://other.example/v3/patient/7":  "/v3/patient/7",
		"http://u:p@other.ex/v3/patient/8?q": "/v3/patient/8?q",
	} {
		a, _ := w.raw("GET " + target + " HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer good\r\n\r\n")
		if s := w.got(); a.status != 200 || s.target != want || s.verified != nil || s.header["Authorization"] != "" {
			t.Errorf("%s: %v %+v", target, a, s)
		}
	}
	for _, target := range []string{"/v3/patient/%zz", "/v3/patient/%00", `/v3/patient\..\x`} {
		a, _ := w.raw("GET " + target + " HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer good\r\n\r\n")
		if a.status != 400 {
			t.Errorf("%s: %v", target, a)
		}
	}
}

func TestSmuggling(t *testing.T) {
	w := start(t)
	w.know("good", everyone())
	head := "POST /v3/patient HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer good\r\n"
	tests := map[string]string{
		"length and coding":       head + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"coding and length":       head + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
		"two lengths":             head + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
		"two equal lengths":       head + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
		"two codings":             head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
		"the same coding twice":   head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"a coding said twice":     head + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
		"no coding":               head + "Transfer-Encoding:\r\n\r\n",
		"coding on a folded line": head + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
		"a list of lengths":       head + "Content-Length: 3, 3\r\n\r\nabc",
		"hexadecimal length":      head + "Content-Length: 0x3\r\n\r\nabc",
		"signed chunk":            head + "Transfer-Encoding: chunked\r\n\r\n+3\r\nabc\r\n0\r\n\r\n",
		"chunk longer than told":  head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
		"unknown coding":          head + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		"list of codings":         head + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"signed length":           head + "Content-Length: +3\r\n\r\nabc",
		"negative length":         head + "Content-Length: -3\r\n\r\nabc",
		"huge length":             head + "Content-Length: 99999999999999999999\r\n\r\nabc",
		"two hosts":               "GET /v3/patient HTTP/1.1\r\nHost: a\r\nHost: b\r\nAuthorization: Bearer good\r\n\r\n",
		"the same host twice":     "GET /v3/patient HTTP/1.1\r\nHost: h\r\nHost: h\r\nAuthorization: Bearer good\r\n\r\n",
		"no host":                 "GET /v3/patient HTTP/1.1\r\nAuthorization: Bearer good\r\n\r\n",
		"two credentials":         "GET /v3/patient HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer good\r\nAuthorization : Bearer good\r\n\r\n",
		"coding in HTTP/1.0":      "POST /v3/patient HTTP/1.0\r\nHost: h\r\nAuthorization: Bearer good\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"space before the colon":  head + "Content-Length : 3\r\n\r\nabc",
		"line feed in chunk size": head + "Transfer-Encoding: chunked\r\n\r\n3;a\nb\r\nabc\r\n0\r\n\r\n",
		"space before the first":  "POST /v3/patient HTTP/1.1\r\n Content-Length: 3\r\nHost: h\r\nAuthorization: Bearer good\r\n\r\nabc",
		"NUL in a header":         head + "X-A: a\x00b\r\n\r\n",
	}
	for name, text := range tests {
		calls := w.calls.Load()
		a, closed := w.raw(text)
		if a.status < 400 || a.status > 499 || !closed || w.calls.Load() != calls {
			t.Errorf("%s: %v, closed %v, forwarded %v", name, a, closed, w.calls.Load() != calls)
		}
	}
}

// A body that was refused unread must not be taken for the next request.
func TestRefusedBodyIsNoRequest(t *testing.T) {
	w := start(t)
	w.know("good", everyone())
	inner := "GET /v3/patient/13 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer good\r\n\r\n"
	calls := w.calls.Load()
	a, closed := w.raw("POST /v3/patient HTTP/1.1\r\nHost: h\r\nContent-Length: " + itoa(len(inner)) + "\r\n\r\n" + inner)
	if a.status != 401 || closed {
		t.Errorf("%v, closed %v", a, closed)
	}
	a, closed = w.raw("POST /v3/patient HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + inner)
	if a.status != 401 || !closed {
		t.Errorf("chunked: %v, closed %v", a, closed)
	}
	if w.calls.Load() != calls {
		t.Error("the body was taken for a request")
	}
}

func itoa(n int) string { return string(fasthttp.AppendUint(nil, n)) }

func TestCORS(t *testing.T) {
	w := start(t, func(s *Settings, _ *Parts) { s.CORSOrigins = "https://app.example, *"; s.HSTS = "max-age=1" })
	w.know("good", everyone())
	for origin, want := range map[string]string{
		"https://app.example": "https://app.example", "https://app.example.evil": "", "http://app.example": "", "null": "", "*": "",
	} {
		a := w.do("GET", "/v3/patient", headers{"Authorization": "Bearer good", "Origin": origin}, "")
		if a.status != 200 || a.header.Get("Access-Control-Allow-Origin") != want || a.header.Get("Strict-Transport-Security") == "" {
			t.Errorf("%s: %v", origin, a)
		}
		a = w.do("OPTIONS", "/v3/patient", headers{"Origin": origin, "Access-Control-Request-Method": "POST"}, "")
		if (a.status == 204) != (want != "") || a.header.Get("Access-Control-Allow-Origin") != want {
			t.Errorf("preflight %s: %v", origin, a)
		}
	}
	off := start(t)
	if a := off.do("OPTIONS", "/v3/patient", headers{"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}, ""); a.status != 401 {
		t.Errorf("off: %v", a)
	}
}

func TestReadiness(t *testing.T) {
	w := start(t)
	w.unready.Store(true)
	w.until("services unready", func() bool {
		a := w.do("GET", "/readyz", nil, "")
		return a.status == 503 && strings.Contains(a.body, "patient") && !strings.Contains(a.body, w.backend)
	})
	if a := w.do("GET", "/livez", nil, ""); a.status != 200 {
		t.Error(a)
	}
	w.unready.Store(false)
	w.until("services ready", func() bool { return w.do("GET", "/readyz", nil, "").status == 200 })
	if err := w.redis.ShutdownNoSave(t.Context()).Err(); err != nil && !strings.Contains(err.Error(), "EOF") {
		t.Log(err)
	}
	w.until("redis away", func() bool {
		a := w.do("GET", "/readyz", nil, "")
		return a.status == 503 && strings.Contains(a.body, "redis") && strings.Contains(a.body, "revocations")
	})
}

// A gateway that starts waits for what it cannot do without, and not for the services.
func TestStart(t *testing.T) {
	w := start(t)
	w.unready.Store(true)
	w.until("services unready", func() bool { return w.do("GET", "/readyz", nil, "").status == 503 })
	if a := w.do("GET", "/startedz", nil, ""); a.status != 200 {
		t.Error(a)
	}
	if a := w.do("POST", "/startedz", nil, ""); a.status != 405 {
		t.Error(a)
	}
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1}) // where nobody listens
	defer client.Close()
	peers, err := mesh.New(mesh.Static{}, mesh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer peers.Close()
	log := slog.New(slog.DiscardHandler)
	app, _, err := Assemble(web.Options{Name: "gateway", Logger: log}, Settings{PublicURL: "https://records.example/"},
		Parts{Environment: "demo", Redis: client, Peers: peers, Keys: w.keys, Logger: log, Table: route.Table(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := app.Test(httptest.NewRequest("GET", "/startedz", nil), -1)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 503 || !strings.Contains(string(body), "Not started: redis, revocations.") {
		t.Errorf("without Redis: %d %s %v", answer.StatusCode, body, err)
	}
}

func TestReference(t *testing.T) {
	w := start(t)
	a := w.do("GET", "/docs", nil, "")
	if a.status != 200 || strings.Contains(a.body, "<script>") || !strings.Contains(a.header.Get("Content-Security-Policy"), "script-src 'self';") {
		t.Error(a)
	}
	for _, path := range []string{"/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css", "/docs/start.js", "/openapi.json"} {
		if a := w.do("GET", path, headers{"Accept-Encoding": "identity"}, ""); a.status != 200 || len(a.body) < 50 {
			t.Errorf("%s: %d, %d bytes", path, a.status, len(a.body))
		}
	}
}
