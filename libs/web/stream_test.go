package web_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/libs/web"
)

const limit = 1 << 20

// serve runs an app whose one handler answers every request, and gives its address.
func serve(t testing.TB, o web.Options, handler fiber.Handler) string {
	t.Helper()
	o.Name, o.Stream = "test", true
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	a, err := web.New(o)
	if err != nil {
		t.Fatal(err)
	}
	a.All("/*", handler)
	return listen(t, a)
}

func listen(t testing.TB, a *web.App) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = a.Listener(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := a.ShutdownWithContext(ctx); err != nil {
			t.Error("a connection does not end: ", err)
		}
		_ = ln.Close()
		<-done
	})
	return ln.Addr().String()
}

// relay runs an app that passes every request on to an address.
func relay(t testing.TB, o web.Options, limit int64, next string) string {
	t.Helper()
	client, err := mesh.New(mesh.Static{"next": {next}}, mesh.Options{Idle: o.Idle})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	peer := client.Peer("next")
	return serve(t, o, func(c *fiber.Ctx) error { return web.Relay(c, limit, peer.Stream) })
}

// chain is an app behind two that relay.
func chain(t testing.TB, o web.Options, handler fiber.Handler) string {
	t.Helper()
	leaks(t)
	return relay(t, o, limit, relay(t, o, limit, serve(t, o, handler)))
}

// leaks fails the test when connections are still served or kept after everything has been closed.
func leaks(t testing.TB) {
	t.Helper()
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		until(t, "every connection ends", func() bool {
			stacks := make([]byte, 1<<20)
			all := string(stacks[:runtime.Stack(stacks, true)])
			return !strings.Contains(all, "(*persistConn)") && !strings.Contains(all, "(*Server).serveConn") && !strings.Contains(all, "libs/web.(")
		})
	})
}

func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !is(); {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("in vain: %s\n%s", what, stacks[:runtime.Stack(stacks, true)])
		}
		<-time.After(time.Millisecond) // only to leave the processor to others
	}
}

// echo answers with what it is sent and tells how the length of it was stated.
func echo(c *fiber.Ctx) error {
	body, err := io.ReadAll(web.Incoming(c, limit))
	if err != nil {
		return err
	}
	length := int64(len(body))
	if c.Query("chunked") != "" {
		length = -1
	}
	return web.Answer(c, 201, http.Header{
		"X-A": {"1", "2"}, "X-Length": {fmt.Sprint(c.Request().Header.ContentLength())}, "X-Method": {c.Method()}, "X-Target": {c.OriginalURL()},
		"Mesh-Secret": {"s"}, "Keep-Alive": {"x"}, "X-Sent": {c.Get("X-Sent"), c.Get("Te") + c.Get("Mesh-B") + c.Get("X-Dropped") + c.Get("Cookie")}, "X-Agent": {c.Get("User-Agent")},
	}, io.NopCloser(bytes.NewReader(body)), length)
}

func TestRelayBothWays(t *testing.T) {
	addr := chain(t, web.Options{}, echo)
	for _, size := range []int{0, 1, 8 << 10, 8<<10 + 1, 300_000, limit} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			for _, chunked := range []bool{false, true} {
				name := fmt.Sprintf("%s %d chunked=%v", method, size, chunked)
				target := "/a%2Fb//c;d?e=%20&f&"
				if chunked {
					target += "chunked=1"
				}
				sent := bytes.Repeat([]byte("x1"), size)[:size]
				r, _ := http.NewRequest(method, "http://"+addr, bytes.NewReader(sent))
				r.URL.Opaque = target
				r.Header = http.Header{"X-Sent": {"me"}, "Te": {"x"}, "Mesh-B": {"x"}, "Connection": {"X-Dropped, X-Sent2"}, "X-Dropped": {"x"}, "Cookie": {"a=b"}, "User-Agent": {""}}
				if chunked {
					r.ContentLength = -1
					r.Body = io.NopCloser(bytes.NewReader(sent))
				}
				resp, err := http.DefaultTransport.RoundTrip(r)
				if err != nil {
					t.Fatal(name, err)
				}
				got, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || !bytes.Equal(got, sent) || resp.StatusCode != 201 {
					t.Errorf("%s: %v %d, %d bytes", name, err, resp.StatusCode, len(got))
				}
				h, length := resp.Header, int64(size)
				if chunked {
					length = -1
				}
				if resp.ContentLength != length || size > 0 && h.Get("X-Length") != fmt.Sprint(length) {
					t.Errorf("%s: lengths %d, %s", name, resp.ContentLength, h.Get("X-Length"))
				}
				if h.Get("X-Method") != method || h.Get("X-Target") != target || strings.Join(h["X-Sent"], "|") != "me|a=b" || h.Get("X-Agent") != "" ||
					len(h["X-A"]) != 2 || h.Get("Mesh-Secret")+h.Get("Keep-Alive") != "" || len(h["Date"]) != 1 || len(h["Trace-Id"]) != 1 {
					t.Errorf("%s: %v", name, h)
				}
				if resp.Close {
					t.Errorf("%s: the connection closes", name)
				}
			}
		}
	}
}

// A body that has been read into memory is relayed like one that has not.
func TestRelayOfABodyInMemory(t *testing.T) {
	leaks(t)
	last := serve(t, web.Options{}, echo)
	client, err := mesh.New(mesh.Static{"next": {last}}, mesh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	addr := serve(t, web.Options{BodyLimit: limit}, func(c *fiber.Ctx) error {
		return web.JSONOnly(c, func(c *fiber.Ctx) error { return web.Relay(c, limit, client.Peer("next").Stream) })
	})
	for _, size := range []int{0, 10, 100_000} {
		resp, err := http.Post("http://"+addr, "application/json", strings.NewReader(strings.Repeat("1", size)))
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, resp); len(got) != size || resp.StatusCode != 201 {
			t.Errorf("%d of %d bytes, %d", len(got), size, resp.StatusCode)
		}
		resp.Body.Close()
	}
}

// exchange writes text and reads answers, one for each method.
func exchange(t *testing.T, addr, text string, methods ...string) []*http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second)) // a hang fails the test
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	in, list := bufio.NewReader(conn), []*http.Response{}
	for n, method := range methods {
		resp, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			t.Fatal(n, method, err)
		}
		whole, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(method, err)
		}
		resp.Body = io.NopCloser(bytes.NewReader(whole))
		list = append(list, resp)
	}
	return list
}

func text(t *testing.T, resp *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Answers without a body must not leave one on the line, nor lose their length.
func TestRelayOfAnswersWithoutABody(t *testing.T) {
	addr := chain(t, web.Options{}, func(c *fiber.Ctx) error {
		status, length := c.QueryInt("status", 200), int64(c.QueryInt("length", 5))
		return web.Answer(c, status, http.Header{"Content-Type": {"a/b"}, "Etag": {`"e"`}}, io.NopCloser(strings.NewReader("12345"[:max(0, length)])), length)
	})
	request := func(method, query string) string { return method + " /?" + query + " HTTP/1.1\r\nHost: h\r\n\r\n" }
	list := exchange(t, addr, request("HEAD", "")+request("HEAD", "length=-1")+request("GET", "status=204")+request("GET", "status=304")+request("GET", "length=0")+
		"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"+request("GET", ""),
		"HEAD", "HEAD", "GET", "GET", "GET", "GET", "GET")
	for n, want := range []struct {
		status int
		length string
		body   string
	}{{200, "5", ""}, {200, "", ""}, {204, "", ""}, {304, "", ""}, {200, "0", ""}, {200, "5", "12345"}, {200, "5", "12345"}} {
		got := list[n]
		if got.StatusCode != want.status || got.Header.Get("Content-Length") != want.length || text(t, got) != want.body || got.Header.Get("Etag") != `"e"` || len(got.TransferEncoding) > 0 {
			t.Errorf("%d: %d %v %v", n, got.StatusCode, got.Header, got.TransferEncoding)
		}
	}
}

func TestExpectContinue(t *testing.T) {
	addr := chain(t, web.Options{}, echo)
	list := exchange(t, addr, "PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc", "PUT", "PUT")
	if list[0].StatusCode != 100 || list[1].StatusCode != 201 || text(t, list[1]) != "abc" {
		t.Error(list[0].StatusCode, list[1].StatusCode)
	}
}

// An answer that comes while the client is still sending must reach it through every hop: neither a client that sends all
// before it reads, nor one that goes on for ever, sees a reset.
func TestEarlyAnswers(t *testing.T) {
	refuse := func(f *fault.Error, after int64) fiber.Handler {
		return func(c *fiber.Ctx) error {
			if _, err := io.CopyN(io.Discard, web.Incoming(c, 1<<40), after); err != nil {
				return err
			}
			return f
		}
	}
	handlers := map[string]fiber.Handler{
		"404": refuse(fault.New(fault.NotFound, "nothing", "Nothing."), 0),
		"409": refuse(fault.New(fault.Conflict, "conflict", "Conflict."), 3<<20),
		"413": func(c *fiber.Ctx) error {
			_, err := io.Copy(io.Discard, web.Incoming(c, 2<<20))
			return err
		},
		"200": func(c *fiber.Ctx) error {
			return web.Answer(c, 200, nil, io.NopCloser(strings.NewReader(strings.Repeat("y", 100_000))), 100_000)
		},
	}
	leaks(t)
	for status, handler := range handlers {
		last := serve(t, web.Options{}, handler)
		for hops := range 3 {
			addr := last
			for range hops {
				addr = relay(t, web.Options{}, 1<<40, addr)
			}
			for _, framing := range []string{"Content-Length: 1000000000000", "Transfer-Encoding: chunked"} {
				for _, most := range []int64{8 << 20, 1 << 40} {
					name := fmt.Sprintf("%s, %d hops, %s, sends up to %d", status, hops, framing, most)
					if got := upload(t, addr, framing, most); got != status {
						t.Errorf("%s: %s", name, got)
					}
				}
			}
		}
	}
}

// upload sends most bytes of a larger body, reading at the same time only where they are many, and gives the status.
func upload(t *testing.T, addr, framing string, most int64) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second)) // a hang fails the test
	fmt.Fprintf(conn, "PUT / HTTP/1.1\r\nHost: h\r\n%s\r\n\r\n", framing)
	piece := make([]byte, 1<<16)
	if strings.HasPrefix(framing, "Transfer") {
		piece = []byte("10000\r\n" + strings.Repeat("x", 1<<16) + "\r\n")
	}
	var sending sync.WaitGroup
	stop := make(chan struct{})
	sending.Go(func() {
		for n := int64(0); n < most; n += int64(len(piece)) {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := conn.Write(piece); err != nil {
				return
			}
		}
	})
	if most < 1<<30 {
		sending.Wait()
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err.Error()
	}
	_, err = io.Copy(io.Discard, resp.Body)
	close(stop)
	sending.Wait()
	if err != nil || !resp.Close {
		return fmt.Sprintf("%d, closes %v, %v", resp.StatusCode, resp.Close, err)
	}
	return fmt.Sprint(resp.StatusCode)
}

// A body over the limit of a hop is refused there, whether its length is declared or not.
func TestRelayLimit(t *testing.T) {
	var reached atomic.Int64
	addr := chain(t, web.Options{}, func(c *fiber.Ctx) error {
		reached.Add(1)
		_, err := io.Copy(io.Discard, web.Incoming(c, 1<<40))
		return err
	})
	for framing, hops := range map[string]int64{"Content-Length: 1048577": 0, "Transfer-Encoding: chunked": 1} {
		reached.Store(0)
		if got := upload(t, addr, framing, 4<<20); got != "413" {
			t.Errorf("%s: %s", framing, got)
		}
		until(t, "the last hop was reached so often", func() bool { return reached.Load() == hops })
	}
}

// A small body that is refused leaves the connection as it was.
func TestRefusedSmallBody(t *testing.T) {
	addr := chain(t, web.Options{}, func(*fiber.Ctx) error { return fault.New(fault.NotFound, "nothing", "Nothing.") })
	put := "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("x", 100_000)
	for _, resp := range exchange(t, addr, put+put, "PUT", "PUT") {
		if resp.StatusCode != 404 || resp.Close {
			t.Errorf("%d, closes: %v", resp.StatusCode, resp.Close)
		}
	}
}

// A client that breaks off must not look like one that is done, at any hop.
func TestBrokenUpload(t *testing.T) {
	type result struct {
		n   int64
		err error
	}
	results := make(chan result, 1)
	handler := func(c *fiber.Ctx) error {
		n, err := io.Copy(io.Discard, web.Incoming(c, limit))
		results <- result{n, err}
		return err
	}
	leaks(t)
	last := serve(t, web.Options{}, handler)
	one := relay(t, web.Options{}, limit, last)
	two := relay(t, web.Options{}, limit, one)
	chunk := "8000\r\n" + strings.Repeat("x", 0x8000) + "\r\n"
	cases := map[string]string{
		"fixed length":               "Content-Length: 100000\r\n\r\n" + strings.Repeat("x", 50_000),
		"fixed, last byte":           "Content-Length: 100000\r\n\r\n" + strings.Repeat("x", 99_999),
		"between chunks":             "Transfer-Encoding: chunked\r\n\r\n" + chunk + chunk,
		"within a chunk":             "Transfer-Encoding: chunked\r\n\r\n" + chunk + chunk[:1000],
		"within the size of a chunk": "Transfer-Encoding: chunked\r\n\r\n" + chunk + "80",
		"within the last chunk":      "Transfer-Encoding: chunked\r\n\r\n" + chunk + "0",
		"without the last line":      "Transfer-Encoding: chunked\r\n\r\n" + chunk + "0\r\n",
		"malformed chunk":            "Transfer-Encoding: chunked\r\n\r\n" + chunk + "zz\r\n\r\n",
	}
	for name, body := range cases {
		for hops, addr := range []string{last, one, two} {
			for _, half := range []bool{true, false} {
				conn, err := net.Dial("tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				_ = conn.SetDeadline(time.Now().Add(10 * time.Second)) // a hang fails the test
				io.WriteString(conn, "PUT / HTTP/1.1\r\nHost: h\r\n"+body)
				if half {
					_ = conn.(*net.TCPConn).CloseWrite()
					resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
					if err != nil || resp.StatusCode != 400 {
						t.Errorf("%s, %d hops: %v %v", name, hops, err, resp)
					}
				}
				conn.Close()
				if got := <-results; !fault.Is(got.err, fault.Invalid) {
					t.Errorf("%s, %d hops: the upload ended with %v after %d bytes", name, hops, got.err, got.n)
				}
			}
		}
	}
}

// Everything has come but the very last line, and then nothing does: the client has gone, or is silent.
func TestUploadWithoutItsLastLine(t *testing.T) {
	var received atomic.Int64
	results := make(chan error, 1)
	handler := func(c *fiber.Ctx) error {
		_, err := io.Copy(io.Discard, io.TeeReader(web.Incoming(c, limit), counter{&received}))
		results <- err
		return err
	}
	for _, end := range []string{"", "0", "0\r\n"} {
		for name, leave := range map[string]func(*net.TCPConn) error{
			"resets": func(conn *net.TCPConn) error { return errors.Join(conn.SetLinger(0), conn.Close()) }, "is silent": func(*net.TCPConn) error { return nil },
		} {
			received.Store(0)
			conn, err := net.Dial("tcp", serve(t, web.Options{Idle: 100 * time.Millisecond}, handler))
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(conn, "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"+end)
			until(t, "the handler has read", func() bool { return received.Load() == 5 })
			if err := leave(conn.(*net.TCPConn)); err != nil {
				t.Error(err)
			}
			if err := <-results; !fault.Is(err, fault.Invalid) {
				t.Errorf("%q, and the client %s: the upload ended with %v", end, name, err)
			}
			conn.Close()
		}
	}
}

// counter counts what is written to it.
type counter struct{ n *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

// An upstream that breaks off must not look like one that is done.
func TestBrokenDownload(t *testing.T) {
	var log syncBuffer
	o := web.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	addr := chain(t, o, func(c *fiber.Ctx) error {
		length := int64(c.QueryInt("length"))
		return web.Answer(c, 200, nil, io.NopCloser(io.MultiReader(io.LimitReader(endless{}, int64(c.QueryInt("n"))), failing{})), length)
	})
	for _, query := range []string{"length=500000&n=300000", "length=500000&n=500000", "length=-1&n=300000", "length=-1&n=1", "length=100&n=100", "length=-1&n=0"} {
		resp, err := http.Get("http://" + addr + "/?" + query)
		var n int64
		if err == nil {
			n, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		if err == nil && resp.StatusCode != 503 { // nothing was sent yet
			t.Errorf("%s: taken for whole with %d bytes", query, n)
		}
	}
	if !strings.Contains(log.String(), "answer broke off") {
		t.Error("nothing was logged")
	}
	for _, query := range []string{"length=600&n=500", "length=400&n=500"} { // of another length than stated
		resp, err := http.Get("http://" + addr + "/other?" + query)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		if err == nil && resp.StatusCode != 503 {
			t.Errorf("%s: taken for whole", query)
		}
	}
}

// A small answer that breaks off while the client is still to send more is no answer, and no fault of the client's.
func TestBrokenAnswerToASilentClient(t *testing.T) {
	leaks(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = http.ReadRequest(bufio.NewReader(conn))
			io.WriteString(conn, "HTTP/1.1 404 Not Found\r\nContent-Length: 10\r\n\r\nabc")
			conn.Close()
		}
	}()
	addr := relay(t, web.Options{}, limit, ln.Addr().String())
	for _, framing := range []string{"Content-Length: 100000\r\n\r\n" + strings.Repeat("x", 10_000), "Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n"} {
		resp := exchange(t, addr, "PUT / HTTP/1.1\r\nHost: h\r\n"+framing, "PUT")[0]
		if body := text(t, resp); resp.StatusCode != 503 || !resp.Close {
			t.Errorf("%d %s, closes %v", resp.StatusCode, body, resp.Close)
		}
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

// A client may be as slow as it likes, but not pause for longer than the bound.
func TestSlowUpload(t *testing.T) {
	const idle = 600 * time.Millisecond
	addr := chain(t, web.Options{Idle: idle}, echo)
	for _, framing := range []string{"Content-Length: 100000", "Transfer-Encoding: chunked"} {
		for steady, want := range map[bool]int{true: 201, false: 400} {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.SetDeadline(time.Now().Add(10 * time.Second)) // a hang fails the test
			fmt.Fprintf(conn, "PUT / HTTP/1.1\r\nHost: h\r\n%s\r\n\r\n", framing)
			for n := range 10 {
				if strings.HasPrefix(framing, "Content") {
					io.WriteString(conn, strings.Repeat("x", 10_000))
				} else {
					io.WriteString(conn, "2710\r\n"+strings.Repeat("x", 10_000)+"\r\n")
				}
				if n == 4 && !steady {
					break
				}
				<-time.After(idle / 6) // the pace of the client is what is tested
			}
			if steady && strings.HasPrefix(framing, "Transfer") {
				io.WriteString(conn, "0\r\n\r\n")
			}
			started := time.Now()
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || resp.StatusCode != want || !steady && time.Since(started) < idle/2 {
				t.Errorf("%s, steady %v: %v %v", framing, steady, err, resp)
			} else if body := text(t, resp); !steady && !strings.Contains(body, "request_timeout") || steady && len(body) != 100_000 {
				t.Errorf("%s, steady %v: %.200s", framing, steady, body)
			}
			conn.Close()
		}
	}
}

// watched is an endless body that tells when it is closed.
type watched struct {
	endless
	pause  func()
	closed chan struct{}
}

func (w watched) Read(p []byte) (int, error) {
	if w.pause != nil {
		w.pause()
	}
	return w.endless.Read(p)
}

func (w watched) Close() error {
	close(w.closed)
	return nil
}

// A client that stops reading is left after the pause, and one that leaves at once; the source is closed at the far end.
func TestSlowDownload(t *testing.T) {
	const idle = 200 * time.Millisecond
	for _, leave := range []bool{true, false} {
		t.Run(fmt.Sprint(leave), func(t *testing.T) {
			closed := make(chan struct{})
			addr := chain(t, web.Options{Idle: idle}, func(c *fiber.Ctx) error {
				return web.Answer(c, 200, nil, watched{closed: closed}, 1<<40)
			})
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(conn, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
			if _, err := io.ReadFull(conn, make([]byte, 1<<20)); err != nil {
				t.Fatal(err)
			}
			if leave {
				conn.Close()
			}
			select {
			case <-closed:
			case <-time.After(20 * idle):
				t.Error("the source is still read")
			}
			conn.Close()
		})
	}
}

// A source that pauses for too long, and the end of the request's time, cut an answer.
func TestDownloadThatStalls(t *testing.T) {
	for name, budget := range map[string]time.Duration{"pause": time.Minute, "time": 300 * time.Millisecond} {
		closed := make(chan struct{})
		release := make(chan struct{})
		o := web.Options{}
		if name == "pause" {
			o.Idle = 200 * time.Millisecond
		}
		var once sync.Once
		last := serve(t, web.Options{}, func(c *fiber.Ctx) error {
			n := 0
			return web.Answer(c, 200, nil, watched{closed: closed, pause: func() {
				if n++; n > 3 {
					<-release
				}
			}}, 1<<40)
		})
		t.Cleanup(func() { once.Do(func() { close(release) }) })
		client, err := mesh.New(mesh.Static{"next": {last}}, mesh.Options{Idle: o.Idle})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		addr := serve(t, web.Options{}, func(c *fiber.Ctx) error {
			web.Budget(c, budget)
			return web.Relay(c, limit, client.Peer("next").Stream)
		})
		resp, err := http.Get("http://" + addr)
		if err != nil {
			t.Fatal(name, err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if err == nil || n == 0 {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
		resp.Body.Close()
		once.Do(func() { close(release) })
		<-closed
	}
}

// The request's time may pass while the client sends.
func TestUploadBeyondItsTime(t *testing.T) {
	last := serve(t, web.Options{}, echo)
	client, err := mesh.New(mesh.Static{"next": {last}}, mesh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	addr := serve(t, web.Options{}, func(c *fiber.Ctx) error {
		web.Budget(c, 200*time.Millisecond)
		return web.Relay(c, limit, client.Peer("next").Stream)
	})
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second)) // a hang fails the test
	io.WriteString(conn, "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n"+strings.Repeat("x", 10_000))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != 400 && resp.StatusCode != 503 { // which of the two hops is first to say so
		t.Errorf("%v %v", err, resp)
	}
}

// A request counts as under way, and its context lives, until its answer's last byte.
func TestAnswerIsUnderWayUntilItIsSent(t *testing.T) {
	leaks(t)
	release, closed := make(chan struct{}), make(chan struct{})
	var ctx context.Context
	addr := serve(t, web.Options{MaxInFlight: 1}, func(c *fiber.Ctx) error {
		if c.Path() == "/second" {
			return nil
		}
		ctx = c.UserContext()
		return web.Answer(c, 200, nil, struct {
			io.Reader
			io.Closer
		}{io.MultiReader(strings.NewReader(strings.Repeat("x", 1<<20)), blocked(release)), watched{closed: closed}}, 1<<20+1)
	})
	resp, err := http.Get("http://" + addr + "/first")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, 1<<19)); err != nil {
		t.Fatal(err)
	}
	status := func() int {
		resp, err := http.Get("http://" + addr + "/second")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := status(); got != 503 || ctx.Err() != nil {
		t.Errorf("while the first is being answered: %d, %v", got, ctx.Err())
	}
	close(release)
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Error(err)
	}
	resp.Body.Close()
	<-closed
	until(t, "the first is over", func() bool { return status() == 200 && ctx.Err() != nil })
}

// blocked gives one byte once its channel is closed.
type blocked chan struct{}

func (b blocked) Read(p []byte) (int, error) {
	<-b
	p[0] = 'x'
	return 1, io.EOF
}

func TestDrainingAsksToClose(t *testing.T) {
	for name, handler := range map[string]fiber.Handler{
		"a stream": echo, "in memory": func(c *fiber.Ctx) error { return c.Send(c.Body()) },
		"a refusal": func(*fiber.Ctx) error { return fiber.ErrTeapot },
	} {
		a, err := web.New(web.Options{Name: "test", Logger: slog.New(slog.DiscardHandler), Stream: name == "a stream"})
		if err != nil {
			t.Fatal(err)
		}
		a.All("/*", handler)
		addr := listen(t, a)
		for _, draining := range []bool{false, true} {
			if draining {
				a.Drain()
			}
			resp, err := http.Post("http://"+addr, "text/plain", strings.NewReader("x"))
			if err != nil {
				t.Fatal(err)
			}
			if got := text(t, resp); name != "a refusal" && got != "x" || resp.Close != draining {
				t.Errorf("%s, draining %v: %q, closes %v", name, draining, got, resp.Close)
			}
			resp.Body.Close()
		}
	}
}

// An answer may begin before the request has ended, and both go on together.
func TestBothDirectionsAtOnce(t *testing.T) {
	addr := chain(t, web.Options{}, func(c *fiber.Ctx) error {
		return web.Answer(c, 200, nil, io.NopCloser(upper{web.Incoming(c, limit)}), -1)
	})
	reader, writer := io.Pipe()
	r, _ := http.NewRequest("POST", "http://"+addr, reader)
	r.ContentLength = -1
	go io.WriteString(writer, "line 0\n")
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for n := range 20 {
		line, err := lines.ReadString('\n')
		if err != nil || line != fmt.Sprintf("LINE %d\n", n) {
			t.Fatal(line, err)
		}
		fmt.Fprintf(writer, "line %d\n", n+1)
	}
	writer.Close()
	if rest, err := io.ReadAll(lines); err != nil || string(rest) != "LINE 20\n" {
		t.Errorf("%q %v", rest, err)
	}
}

type upper struct{ io.Reader }

func (u upper) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	copy(p, bytes.ToUpper(p[:n]))
	return n, err
}

func TestJSONOnlyOfAStream(t *testing.T) {
	a, err := web.New(web.Options{Name: "test", Logger: slog.New(slog.DiscardHandler), Stream: true, BodyLimit: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	a.All("/*", func(c *fiber.Ctx) error {
		return web.JSONOnly(c, func(c *fiber.Ctx) error { return c.SendString(fmt.Sprint(len(c.Body()))) })
	})
	addr := listen(t, a)
	head := "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
	for name, want := range map[string]struct {
		body   string
		status int
		length string
	}{
		"none":         {"Content-Length: 0\r\n\r\n", 200, "0"},
		"small":        {"Content-Length: 5\r\n\r\n12345", 200, "5"},
		"at the limit": {"Content-Length: 100000\r\n\r\n" + strings.Repeat("1", 100_000), 200, "100000"},
		"chunked":      {"Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n5\r\n12345\r\n0\r\n\r\n", 200, "10"},
		"over":         {"Content-Length: 100001\r\n\r\n" + strings.Repeat("1", 100_001), 413, ""},
		"chunked over": {"Transfer-Encoding: chunked\r\n\r\n186a1\r\n" + strings.Repeat("1", 100_001) + "\r\n0\r\n\r\n", 413, ""},
	} {
		resp := exchange(t, addr, head+want.body, "POST")[0]
		if resp.StatusCode != want.status || want.length != "" && text(t, resp) != want.length {
			t.Errorf("%s: %d", name, resp.StatusCode)
		}
	}
	for name, body := range map[string]string{"fixed": "Content-Length: 90000\r\n\r\n" + strings.Repeat("1", 80_000), "chunked": "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n"} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, head+body)
		_ = conn.(*net.TCPConn).CloseWrite()
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != 400 {
			t.Errorf("broken off, %s: %v %v", name, err, resp)
		}
		conn.Close()
	}
}
