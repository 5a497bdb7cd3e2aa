// Package outward calls HTTP servers whose address somebody outside chose: a tenant's OpenID Connect provider, the
// jwks_uri of a client. Such a call must not become a way into our own network (OWASP API7:2023, server-side request
// forgery). It does not know what is asked of them.
package outward

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// Options say how far a client goes. The zero value is the strictest.
type Options struct {
	// AllowLoopback admits servers on this machine, and plain http to them alone: for a mesh that is itself at a
	// loopback address, where nobody but its developer asks.
	AllowLoopback bool
	Timeout       time.Duration // of a whole exchange, redirects and body included; 5 s unless told
	MaxBytes      int64         // of an answer's body, as it is read (decompressed); 1 MiB unless told
}

// What holds unless told otherwise, and what always does.
const (
	defaultTimeout  = 5 * time.Second
	defaultMaxBytes = 1 << 20
	mostRedirects   = 3
	mostHeaders     = 64 << 10
	mostConnections = 8 // to one host
	mostIdle        = 32
	idleFor         = 30 * time.Second
)

// What a call can be refused for. Errors of the client wrap these.
var (
	ErrForbidden = errors.New("outward: the address is not on the public internet")
	ErrScheme    = errors.New("outward: the address is not https")
	ErrRedirect  = errors.New("outward: redirected to another server, or too often")
	ErrTooLong   = errors.New("outward: the answer is too long")
)

// Client makes a client that is safe for concurrent use. Names are checked by what they were resolved to, when the
// connection is made: a name that answers differently each time gains nothing. No proxy is used, since then the proxy
// would do the resolving.
func Client(o Options) *http.Client {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	return &http.Client{Transport: newGuard(o), CheckRedirect: sameServer, Timeout: o.Timeout}
}

// Loopback reports whether an address of our own is one that only this machine can call, by plain http, which is when
// AllowLoopback is right.
func Loopback(publicURL string) bool {
	u, err := url.Parse(publicURL)
	if err != nil || u.Scheme != "http" {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.Unmap().IsLoopback()
}

// guard keeps a transport for each scheme, since they may go to different places.
type guard struct {
	secure, plain *http.Transport
	maxBytes      int64
}

func newGuard(o Options) *guard {
	g := &guard{maxBytes: o.MaxBytes, secure: transport(o.Timeout, func(ip netip.Addr) bool {
		return Public(ip) || (o.AllowLoopback && ip.Unmap().IsLoopback())
	})}
	if o.AllowLoopback {
		g.plain = transport(o.Timeout, func(ip netip.Addr) bool { return ip.Unmap().IsLoopback() })
	}
	return g
}

func transport(timeout time.Duration, admits func(netip.Addr) bool) *http.Transport {
	dialer := &net.Dialer{Timeout: timeout, ControlContext: control(admits)}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    timeout,
		ResponseHeaderTimeout:  timeout,
		MaxResponseHeaderBytes: mostHeaders,
		MaxConnsPerHost:        mostConnections,
		MaxIdleConns:           mostIdle,
		IdleConnTimeout:        idleFor,
	}
}

// control is asked with the very address that the socket is about to be connected to.
func control(admits func(netip.Addr) bool) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, network, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || (network != "tcp4" && network != "tcp6") || !admits(to.Addr()) {
			return ErrForbidden
		}
		return nil
	}
}

// RoundTrip is http.RoundTripper's.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	through := g.secure
	switch {
	case r.URL.Scheme == "http" && g.plain != nil:
		through = g.plain
	case r.URL.Scheme != "https":
		if r.Body != nil {
			_ = r.Body.Close() // as RoundTrip must
		}
		return nil, ErrScheme
	}
	resp, err := through.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.ContentLength > g.maxBytes {
		_ = resp.Body.Close()
		return nil, ErrTooLong
	}
	resp.Body = &bounded{from: resp.Body, left: g.maxBytes}
	return resp, nil
}

// CloseIdleConnections is what http.Client looks for.
func (g *guard) CloseIdleConnections() {
	g.secure.CloseIdleConnections()
	if g.plain != nil {
		g.plain.CloseIdleConnections()
	}
}

// bounded fails where the bound is passed: a cut answer must not look like a whole one.
type bounded struct {
	from io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.from.Read(p)
	if int64(n) > b.left {
		n, err = int(b.left), ErrTooLong
	}
	b.left -= int64(n)
	return n, err
}

func (b *bounded) Close() error { return b.from.Close() }

// sameServer follows redirects within one server: elsewhere is where nobody asked to go, perhaps with a secret.
func sameServer(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	if len(via) > mostRedirects || r.URL.Scheme != first.Scheme || r.URL.Host != first.Host {
		return fmt.Errorf("%w: from %s", ErrRedirect, first.Host)
	}
	return nil
}
