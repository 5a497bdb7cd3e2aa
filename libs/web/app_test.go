package web_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web"
)

// app is an app with a handler at /x that answers with an error, and what it logged.
func app(t *testing.T, options web.Options, handler fiber.Handler) (*web.App, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	options.Name, options.Logger = "test", slog.New(slog.NewJSONHandler(log, nil))
	a, err := web.New(options)
	if err != nil {
		t.Fatal(err)
	}
	a.All("/x/:id", handler)
	return a, log
}

func call(t *testing.T, a *web.App, req *http.Request) (*http.Response, map[string]any) {
	t.Helper()
	resp, err := a.Test(req, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
	}
	return resp, got
}

func TestEveryKindOfFaultHasItsStatus(t *testing.T) {
	for kind, want := range map[fault.Kind]int{
		fault.Unauthenticated: 401, fault.Denied: 403, fault.MethodNotAllowed: 405, fault.TooLarge: 413, fault.UnsupportedMedia: 415,
		fault.Invalid: 400, fault.NotFound: 404, fault.PlanLimit: 402, fault.PreconditionFailed: 412, fault.Conflict: 409,
		fault.IdempotencyMismatch: 422, fault.RateLimited: 429, fault.Unavailable: 503, fault.Internal: 500,
	} {
		a, _ := app(t, web.Options{}, func(*fiber.Ctx) error { return fault.New(kind, "some_code", "Some detail.") })
		resp, got := call(t, a, httptest.NewRequest(http.MethodGet, "/x/1", nil))
		if resp.StatusCode != want || resp.Header.Get("Content-Type") != web.ProblemType || got["code"] != "some_code" {
			t.Errorf("kind %d: %d %v", kind, resp.StatusCode, got)
		}
		if (want == 429 || want == 503) && resp.Header.Get("Retry-After") == "" {
			t.Errorf("%d without Retry-After", want)
		}
		if want == 401 && resp.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Error("401 without a challenge")
		}
	}
}

func TestWhatIsNoFaultIsLoggedAndShownAsNothing(t *testing.T) {
	secrets := map[string]fiber.Handler{
		"an error":     func(*fiber.Ctx) error { return errors.New("connect to 10.0.0.1: Qxz") },
		"a fiber text": func(*fiber.Ctx) error { return fiber.NewError(fiber.StatusBadRequest, "Qxz is no integer") },
		"a panic":      func(*fiber.Ctx) error { panic("Qxz") },
	}
	for name, handler := range secrets {
		a, log := app(t, web.Options{}, handler)
		resp, got := call(t, a, httptest.NewRequest(http.MethodGet, "/x/1", nil))
		if text, _ := json.Marshal(got); strings.Contains(string(text), "Qxz") || resp.Header.Get("Trace-Id") != got["traceId"] {
			t.Errorf("%s: answered %s", name, text)
		}
		if resp.StatusCode == 500 && log.Len() == 0 {
			t.Errorf("%s: not logged", name)
		}
		if name == "a panic" && strings.Contains(log.String(), "Qxz") {
			t.Errorf("the value of a panic is logged: %s", log)
		}
	}
}

func TestAssertionsAreRequired(t *testing.T) {
	keys, err := principal.ParseKeyring("k:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 32)))
	if err != nil {
		t.Fatal(err)
	}
	a, _ := app(t, web.Options{Keyring: keys}, func(c *fiber.Ctx) error {
		p, _ := principal.From(c.UserContext())
		return c.JSON(fiber.Map{"tenant": p.TenantID})
	})
	req := httptest.NewRequest(http.MethodGet, "/x/1?a=b", nil)
	if resp, _ := call(t, a, req); resp.StatusCode != 401 {
		t.Errorf("nobody got %d", resp.StatusCode)
	}
	sign := func(method, target string) string {
		return keys.Sign(principal.Encode(principal.Principal{TenantID: "t1"}), method, target, time.Now())
	}
	req.Header.Set(principal.AssertionHeader, sign(http.MethodGet, "/x/1?a=b"))
	if _, got := call(t, a, req); got["tenant"] != "t1" {
		t.Errorf("the principal did not arrive: %v", got)
	}
	req.Header.Set(principal.AssertionHeader, sign(http.MethodGet, "/x/2"))
	if resp, _ := call(t, a, req); resp.StatusCode != 401 {
		t.Error("an assertion for another target was taken")
	}
	for _, path := range []string{"/livez", "/readyz"} {
		if resp, _ := call(t, a, httptest.NewRequest(http.MethodGet, path, nil)); resp.StatusCode != 200 {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
}

func TestTooManyAtOnce(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	a, _ := app(t, web.Options{MaxInFlight: 1}, func(*fiber.Ctx) error {
		close(entered)
		<-leave
		return nil
	})
	done := make(chan int)
	go func() {
		resp, err := a.Test(httptest.NewRequest(http.MethodGet, "/x/1", nil), -1)
		if err != nil {
			done <- 0
			return
		}
		resp.Body.Close()
		done <- resp.StatusCode
	}()
	<-entered
	resp, got := call(t, a, httptest.NewRequest(http.MethodGet, "/x/2", nil))
	if resp.StatusCode != 503 || got["code"] != "overloaded" || resp.Header.Get("Retry-After") == "" {
		t.Errorf("the second got %d %v", resp.StatusCode, got)
	}
	close(leave)
	if code := <-done; code != 200 {
		t.Errorf("the first got %d", code)
	}
}

func TestReadinessNamesWhatIsMissing(t *testing.T) {
	broken := errors.New("dial 10.0.0.1: Qxz")
	a, _ := app(t, web.Options{Checks: []web.Check{
		{Name: "postgres", Probe: func(context.Context) error { return broken }}, {Name: "redis", Probe: func(context.Context) error { return nil }},
	}}, nothing)
	resp, got := call(t, a, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	if resp.StatusCode != 503 || got["detail"] != "Not ready: postgres." {
		t.Errorf("%d %v", resp.StatusCode, got)
	}
	broken = nil
	if resp, _ := call(t, a, httptest.NewRequest(http.MethodGet, "/readyz", nil)); resp.StatusCode != 200 {
		t.Errorf("ready: %d", resp.StatusCode)
	}
	a.Drain()
	if resp, _ := call(t, a, httptest.NewRequest(http.MethodGet, "/readyz", nil)); resp.StatusCode != 503 {
		t.Errorf("draining: %d", resp.StatusCode)
	}
	if resp, _ := call(t, a, httptest.NewRequest(http.MethodGet, "/livez", nil)); resp.StatusCode != 200 {
		t.Errorf("alive: %d", resp.StatusCode)
	}
}

// A program has started once, whatever goes away later; and who asks for that is no caller that is counted.
func TestStartIsOneWay(t *testing.T) {
	broken := errors.New("dial 10.0.0.1: Qxz")
	check := []web.Check{{Name: "redis", Probe: func(context.Context) error { return broken }}}
	a, log := app(t, web.Options{Checks: check, Start: check, AccessLog: true, MaxInFlight: -1}, nothing)
	ask := func() (int, any) {
		t.Helper()
		resp, got := call(t, a, httptest.NewRequest(http.MethodGet, "/startedz", nil))
		return resp.StatusCode, got["detail"]
	}
	if status, detail := ask(); status != 503 || detail != "Not started: redis." {
		t.Errorf("%d %v", status, detail)
	}
	broken = nil
	if status, _ := ask(); status != 200 {
		t.Errorf("started: %d", status)
	}
	broken = errors.New("away again")
	a.Drain()
	if status, _ := ask(); status != 200 {
		t.Errorf("afterwards: %d", status)
	}
	if log.Len() > 0 {
		t.Errorf("it said %s", log)
	}
}

func nothing(*fiber.Ctx) error { return nil }

func TestBudgetsTravel(t *testing.T) {
	var left time.Duration
	a, _ := app(t, web.Options{}, func(c *fiber.Ctx) error {
		deadline, _ := c.UserContext().Deadline()
		left = time.Until(deadline)
		return nil
	})
	for header, most := range map[string]time.Duration{"": web.DefaultTimeout, "500": 500 * time.Millisecond, "-1": web.DefaultTimeout, "x": web.DefaultTimeout, "999999999": web.MaxTimeout} {
		req := httptest.NewRequest(http.MethodGet, "/x/1", nil)
		req.Header.Set(web.TimeoutHeader, header)
		call(t, a, req)
		if left <= 0 || left > most || left < most-most/2 {
			t.Errorf("budget %q: %v left of %v", header, left, most)
		}
	}
}

func TestIfMatch(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, holds := range []*string{nil, text("*"), text(`"7"`), text(`"1", "7"`), text(` * `)} {
		if err := web.IfMatch(holds, 7); err != nil {
			t.Errorf("%v: %v", holds, err)
		}
	}
	for _, fails := range []string{`"8"`, `W/"7"`, `7`, `"77"`, `"1","2"`, ``} {
		if err := web.IfMatch(&fails, 7); !fault.Is(err, fault.PreconditionFailed) {
			t.Errorf("%s: %v", fails, err)
		}
	}
}

func TestJSONOnly(t *testing.T) {
	a, _ := app(t, web.Options{}, func(c *fiber.Ctx) error { return web.JSONOnly(c, nothing) })
	for contentType, want := range map[string]int{
		"application/json": 200, "Application/JSON; charset=utf-8": 200, "application/merge-patch+json": 415, "application/json; charset=latin1": 415,
		"text/plain": 415, "": 415, "application/jsonp": 415, "text/json": 415,
	} {
		req := httptest.NewRequest(http.MethodPost, "/x/1", strings.NewReader("{}"))
		req.Header.Set("Content-Type", contentType)
		if resp, _ := call(t, a, req); resp.StatusCode != want {
			t.Errorf("%q: %d, want %d", contentType, resp.StatusCode, want)
		}
	}
	if resp, _ := call(t, a, httptest.NewRequest(http.MethodPost, "/x/1", nil)); resp.StatusCode != 200 {
		t.Errorf("no body: %d", resp.StatusCode)
	}
}
