package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/gateway/route"
	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web"
)

// seen is what the service behind the gateway got.
type seen struct {
	method, target, body string
	header               map[string]string
	principal            principal.Principal
	verified             error
}

// world is a gateway with one backend that plays all services, and a Redis of its own.
type world struct {
	t       testing.TB
	addr    string
	redis   *redis.Client
	backend string
	keys    *principal.Keyring

	mu      sync.Mutex
	tokens  map[string]principal.Principal
	last    seen
	answer  func(*fasthttp.RequestCtx)
	asking  func() // runs while identity is being asked
	calls   atomic.Int64
	asked   atomic.Int64
	unready atomic.Bool
	away    atomic.Bool // identity answers 503
}

type option func(*Settings, *Parts)

func start(t testing.TB, options ...option) *world {
	t.Helper()
	keys, err := principal.ParseKeyring("a:" + strings.Repeat("QUFB", 16))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, keys: keys, tokens: map[string]principal.Principal{}, redis: privateRedis(t)}
	w.backend = w.listen(&fasthttp.Server{Handler: w.serve})
	peers := mesh.Static{}
	for _, name := range services() {
		peers[name] = []string{w.backend}
	}
	client, err := mesh.New(peers, mesh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	log := slog.New(slog.DiscardHandler)
	s := Settings{PublicURL: "https://records.example/", ContentLimit: contentLimit, ImportLimit: contentLimit}
	p := Parts{Environment: "demo", Redis: w.redis, Peers: client, Keys: keys, Logger: log, Table: route.Table(), Now: time.Now}
	for _, o := range options {
		o(&s, &p)
	}
	app, loop, err := Assemble(web.Options{Name: "gateway", Logger: log}, s, p)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = loop(ctx) }()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() { defer close(served); _ = app.Listener(ln) }()
	w.addr = ln.Addr().String()
	t.Cleanup(func() {
		cancel()
		end, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		_ = app.ShutdownWithContext(end)
		<-done
		<-served
	})
	w.until("the gateway is ready", func() bool { return w.do("GET", "/readyz", nil, "").status == 200 })
	return w
}

func (w *world) listen(s *fasthttp.Server) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	s.CloseOnShutdown = true
	go func() { _ = s.Serve(ln) }()
	w.t.Cleanup(func() {
		end, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		_ = s.ShutdownWithContext(end)
	})
	return ln.Addr().String()
}

// serve plays identity's look-up, readiness, and any other operation of any service.
func (w *world) serve(c *fasthttp.RequestCtx) {
	switch string(c.Path()) {
	case "/readyz":
		if w.unready.Load() {
			c.SetStatusCode(503)
		}
		return
	case "/internal/credential":
		w.credential(c)
		return
	}
	w.calls.Add(1)
	s := seen{
		method: string(c.Method()), target: string(c.Request.Header.RequestURI()), body: string(c.Request.Body()), header: map[string]string{},
	}
	for k, v := range c.Request.Header.All() {
		s.header[string(k)] += string(v)
	}
	s.principal, s.verified = w.keys.Verify(s.header[principal.AssertionHeader], s.method, s.target, time.Now())
	w.mu.Lock()
	w.last = s
	answer := w.answer
	w.mu.Unlock()
	if answer != nil {
		answer(c)
		return
	}
	c.SetContentType("application/json")
	c.SetBodyString(`{"ok":true}`)
}

func (w *world) credential(c *fasthttp.RequestCtx) {
	w.asked.Add(1)
	var q struct{ Token string }
	_ = json.Unmarshal(c.Request.Body(), &q)
	w.mu.Lock()
	p, ok := w.tokens[q.Token]
	asking := w.asking
	w.mu.Unlock()
	if asking != nil {
		asking()
	}
	switch {
	case w.away.Load():
		c.SetStatusCode(503)
	case !ok:
		c.SetStatusCode(404)
		c.SetBodyString(`{"code":"credential_not_found"}`)
	default:
		raw, _ := json.Marshal(p)
		c.SetBody(raw)
	}
}

// everyone is a principal that may do anything.
func everyone() principal.Principal {
	return principal.Principal{
		TenantID: "t1", UserID: "u1", CredentialID: "c1", Kind: principal.Session, Permissions: principal.All, Environment: "demo",
	}
}

func (w *world) know(token string, p principal.Principal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tokens[token] = p
}

func (w *world) forget(token string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.tokens, token)
}

func (w *world) got() seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// until waits for something that comes about by itself.
func (w *world) until(what string, is func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !is(); {
		if time.Now().After(deadline) {
			w.t.Fatal("in vain: ", what)
		}
		<-time.After(2 * time.Millisecond) // only to leave the processor to others
	}
}

type answer struct {
	status int
	header http.Header
	body   string
	code   string // of a problem
}

type headers map[string]string

func (w *world) do(method, target string, h headers, body string) answer {
	w.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, "http://"+w.addr, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.URL.Opaque = target
	if body == "" {
		r.Body = http.NoBody
	}
	for k, v := range h {
		r.Header[k] = []string{v}
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	return read(w.t, resp)
}

func read(t testing.TB, resp *http.Response) answer {
	t.Helper()
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: resp.StatusCode, header: resp.Header, body: string(raw)}
	var problem struct{ Code string }
	_ = json.Unmarshal(raw, &problem)
	a.code = problem.Code
	return a
}

func (w *world) get(target, token string) answer {
	return w.do("GET", target, headers{"Authorization": "Bearer " + token}, "")
}

// raw sends bytes as they are and gives the first answer, and whether the connection was closed after it.
func (w *world) raw(text string) (a answer, closed bool) {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second)) // a hang fails the test
	if _, err := io.WriteString(conn, text); err != nil {
		w.t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	a = read(w.t, resp)
	return a, resp.Close
}

func privateRedis(t testing.TB) *redis.Client {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("redis-server is needed, and make test installs it where it may")
	}
	dir, err := os.MkdirTemp("", "redis")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	server := exec.CommandContext(context.Background(), program, "--port", "0", "--unixsocket", socket, "--save", "", "--dir", dir)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: socket, MaxRetries: -1, DialerRetries: 1, ReadTimeout: 250 * time.Millisecond})
	t.Cleanup(func() {
		_ = client.Close()
		_ = server.Process.Kill()
		_ = server.Wait()
		_ = os.RemoveAll(dir)
	})
	for n := 0; n < 5000; n++ {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		<-time.After(time.Millisecond) // there is nothing to wait on but the file
	}
	for n := 0; client.Ping(context.Background()).Err() != nil; n++ {
		if n > 5000 {
			t.Fatal("redis does not start")
		}
		<-time.After(time.Millisecond) // there is nothing to wait on but the socket itself
	}
	return client
}

func (a answer) String() string {
	return fmt.Sprintf("%d %s %v %s", a.status, a.code, a.header, a.body)
}
