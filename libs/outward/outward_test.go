package outward

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

func TestPublic(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"1.1.1.1": true, "93.184.216.34": true, "172.15.255.255": true, "172.32.0.1": true, "100.63.255.255": true, "100.128.0.1": true,
		"2606:4700:4700::1111": true, "2a00:1450::1": true, "::ffff:1.1.1.1": true, "64:ff9b::1.1.1.1": true,
		"0.0.0.0": false, "0.1.2.3": false, "127.0.0.1": false, "127.255.255.254": false, "10.0.0.1": false, "172.16.0.1": false,
		"172.31.255.255": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false, "100.100.100.200": false,
		"168.63.129.16": false, "192.0.0.192": false, "192.0.2.1": false, "198.19.0.1": false, "198.51.100.7": false, "203.0.113.9": false,
		"224.0.0.1": false, "239.255.255.255": false, "240.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fec0::1": false, "fc00::1": false, "fd00:ec2::254": false, "ff02::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::ffff:169.254.169.254": false, "::ffff:0.0.0.0": false,
		"::127.0.0.1": false, "64:ff9b::10.0.0.1": false, "64:ff9b::127.0.0.1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b:1::1.1.1.1": false,
		"2002:7f00:1::": false, "2001::1": false, "2001:db8::1": false, "3fff::1": false, "100::1": false, "5f00::1": false,
	} {
		if got := Public(netip.MustParseAddr(text)); got != want {
			t.Errorf("Public(%s) = %v", text, got)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("no address is public")
	}
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"http://127.0.0.1:8080": true, "http://localhost": true, "http://[::1]:80/x": true,
		"https://127.0.0.1": false, "http://example.org": false, "http://localhost.example.org": false, "http://127.0.0.1.example.org": false, "": false, "://": false,
	} {
		if got := Loopback(text); got != want {
			t.Errorf("Loopback(%q) = %v", text, got)
		}
	}
}

// counted is a server on the loopback that must not be reached, or must.
func counted(t *testing.T, start func(http.Handler) *httptest.Server, h http.HandlerFunc) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var calls atomic.Int64
	srv := start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		h(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv, &calls
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

// get gives the body, or the error of any part of the exchange.
func get(t *testing.T, c *http.Client, url string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	return string(raw), err
}

// trusting makes a client believe a test server's certificate.
func trusting(c *http.Client, srv *httptest.Server) *http.Client {
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	c.Transport.(*guard).secure.TLSClientConfig.RootCAs = pool
	return c
}

// Every way to write an address of our own network, by name or number, is refused when it is dialed.
func TestForbidden(t *testing.T) {
	t.Parallel()
	srv, calls := counted(t, httptest.NewTLSServer, hello)
	port := srv.URL[strings.LastIndex(srv.URL, ":"):]
	c := trusting(Client(Options{Timeout: time.Second}), srv)
	for _, host := range []string{
		"127.0.0.1", "localhost", "127.1.2.3", "0.0.0.0", "[::]", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]",
		"10.0.0.1", "169.254.169.254", "[::ffff:169.254.169.254]", "[fd00:ec2::254]", "[fe80::1%25lo]", "192.168.0.1", "100.64.0.1", "224.0.0.1",
	} {
		if _, err := get(t, c, "https://"+host+port); !errors.Is(err, ErrForbidden) {
			t.Errorf("%s: %v", host, err)
		}
	}
	// Some resolvers read these as numbers. Whether they do or not, they lead nowhere.
	for _, host := range []string{"2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0"} {
		if _, err := get(t, c, "https://"+host+port); err == nil {
			t.Errorf("%s was called", host)
		}
	}
	if n := calls.Load(); n != 0 {
		t.Errorf("%d calls arrived", n)
	}
}

// The name's owner answers with whatever they like, whenever they are asked: what counts is where the socket goes.
func TestRebinding(t *testing.T) {
	t.Parallel()
	srv, calls := counted(t, httptest.NewTLSServer, hello)
	port := srv.URL[strings.LastIndex(srv.URL, ":"):]
	for name, answers := range map[string][]string{
		"loopback": {"127.0.0.1"}, "private": {"10.1.2.3"}, "both": {"192.168.0.1", "127.0.0.1"}, "metadata": {"169.254.169.254"},
	} {
		c := trusting(Client(Options{Timeout: 2 * time.Second}), srv)
		resolver, asked := nameserver(t, answers)
		dialer := &net.Dialer{Resolver: resolver, ControlContext: control(Public)}
		c.Transport.(*guard).secure.DialContext = dialer.DialContext
		if _, err := get(t, c, "https://provider.example"+port); !errors.Is(err, ErrForbidden) {
			t.Errorf("%s: %v", name, err)
		}
		if asked.Load() == 0 {
			t.Errorf("%s: the name was not resolved", name)
		}
	}
	if n := calls.Load(); n != 0 {
		t.Errorf("%d calls arrived", n)
	}
}

// nameserver answers every question for IPv4 with the addresses.
func nameserver(t *testing.T, answers []string) (*net.Resolver, *atomic.Int64) {
	t.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	var asked atomic.Int64
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			asked.Add(1)
			m.Response, m.Authoritative, m.Additionals = true, true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				for _, a := range answers {
					m.Answers = append(m.Answers, dnsmessage.Resource{
						Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
						Body:   &dnsmessage.AResource{A: netip.MustParseAddr(a).As4()},
					})
				}
			}
			if raw, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(raw, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}, &asked
}

func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	srv, calls := counted(t, httptest.NewServer, hello)
	if _, err := get(t, Client(Options{}), srv.URL); !errors.Is(err, ErrScheme) {
		t.Errorf("plain http: %v", err)
	}
	if calls.Load() != 0 {
		t.Error("plain http was called")
	}
	open := Client(Options{AllowLoopback: true})
	if text, err := get(t, open, srv.URL); err != nil || text != "hello" {
		t.Errorf("loopback where it is allowed: %q, %v", text, err)
	}
	for _, url := range []string{"http://10.0.0.1", "http://1.1.1.1", "https://10.0.0.1", "http://169.254.169.254/latest/meta-data"} {
		if _, err := get(t, open, url); !errors.Is(err, ErrForbidden) {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{"ftp://1.1.1.1", "file:///etc/passwd", "gopher://1.1.1.1"} {
		if _, err := get(t, open, url); !errors.Is(err, ErrScheme) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	other, elsewhere := counted(t, httptest.NewServer, hello)
	srv, _ := counted(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		switch {
		case r.URL.Path == "/away":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case n > 0:
			http.Redirect(w, r, "/?n="+strconv.Itoa(n-1), http.StatusFound)
		default:
			hello(w, r)
		}
	})
	c := Client(Options{AllowLoopback: true})
	if text, err := get(t, c, srv.URL+"/?n=3"); err != nil || text != "hello" {
		t.Errorf("within the server: %q, %v", text, err)
	}
	if _, err := get(t, c, srv.URL+"/?n=4"); !errors.Is(err, ErrRedirect) {
		t.Errorf("too often: %v", err)
	}
	if _, err := get(t, c, srv.URL+"/away"); !errors.Is(err, ErrRedirect) || elsewhere.Load() != 0 {
		t.Errorf("to another server: %v, %d calls", err, elsewhere.Load())
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	srv, _ := counted(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		if r.URL.Query().Has("chunked") {
			w.(http.Flusher).Flush()
		}
		_, _ = io.WriteString(w, strings.Repeat("x", n))
	})
	c := Client(Options{AllowLoopback: true, MaxBytes: 1000})
	for query, fits := range map[string]bool{"n=1000": true, "n=1001": false, "n=1000&chunked": true, "n=1001&chunked": false, "n=100000&chunked": false} {
		text, err := get(t, c, srv.URL+"/?"+query)
		if fits != (err == nil && len(text) == 1000) || (!fits && !errors.Is(err, ErrTooLong)) {
			t.Errorf("%s: %d bytes, %v", query, len(text), err)
		}
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	srv, _ := counted(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			w.(http.Flusher).Flush()
		}
		select {
		case <-left:
		case <-r.Context().Done():
		}
	})
	defer close(left)
	c := Client(Options{AllowLoopback: true, Timeout: 50 * time.Millisecond})
	for _, path := range []string{"/head", "/body"} {
		var late net.Error
		if _, err := get(t, c, srv.URL+path); !errors.As(err, &late) || !late.Timeout() {
			t.Errorf("%s: %v", path, err)
		}
	}
}
