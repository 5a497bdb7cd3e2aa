package web

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// A connection that closes over an unread body lingers: closed at once it would be reset, and a client that is still
// sending would never see the answer (RFC 9112 §9.6).
const (
	lingerTime  = 10 * time.Second
	lingerPause = 2 * time.Second
	lingerLimit = 256 << 20
)

// line is a client's connection. It knows three things that fasthttp does not tell: whether the client has ever sent
// anything, whether it has ended or reset the connection, and whether it may still be sending when that closes.
type line struct {
	net.Conn
	idle    time.Duration // the longest pause of a stream
	begun   atomic.Bool
	ended   atomic.Bool
	lingers atomic.Bool
}

func (l *line) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if n > 0 && !l.begun.Load() {
		l.begun.Store(true)
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) { // after which there is more to read
		l.ended.Store(true)
	}
	return n, err
}

// Close closes the connection; where it lingers, not before the client has had the time to read what was answered.
func (l *line) Close() error {
	if l.lingers.Load() {
		l.linger()
	}
	return l.Conn.Close()
}

func (l *line) linger() {
	half, ok := l.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	end := time.Now().Add(lingerTime)
	buffer := acquireBuffer()
	defer releaseBuffer(buffer)
	for read := 0; read < lingerLimit; {
		_ = l.SetReadDeadline(earlier(time.Now().Add(lingerPause), end))
		n, err := l.Conn.Read(*buffer)
		if err != nil {
			return
		}
		read += n
	}
}

// asked gives an answer to what could not be read as a request; none where nothing came at all: a client that opened a
// connection for later would take it for the answer to what it is just sending.
func asked(answer func(*fasthttp.RequestCtx, error)) func(*fasthttp.RequestCtx, error) {
	return func(c *fasthttp.RequestCtx, err error) {
		if l, ok := c.Conn().(*line); ok && !l.begun.Load() {
			_ = l.Close()
			return
		}
		answer(c, err)
	}
}

// earlier of two times, of which the second may be none.
func earlier(a, b time.Time) time.Time {
	if !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// lines makes lines of the connections that a listener accepts.
type lines struct {
	net.Listener
	idle time.Duration
}

func (l lines) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &line{Conn: conn, idle: l.idle}, nil
}

// What is left of a body that nobody wanted is read, this much at most and for so long, so that the connection can go on.
const (
	leftoverLimit = 256 << 10
	leftoverTime  = time.Second
)

// settle sees to it that what is left of a body is not taken for the next request: a little is read, otherwise the
// connection closes after the answer, once the client has had the time to read it.
func settle(c *fasthttp.RequestCtx) {
	if !c.Request.IsBodyStream() {
		return
	}
	left, in := int64(c.Request.Header.ContentLength()), incomingOf(c)
	if in != nil {
		if in.whole.Load() {
			return
		}
		left = in.leave(c.Response.BodyStream())
	}
	if left >= 0 && left <= leftoverLimit && !c.Response.ConnectionClose() {
		_ = c.Conn().SetReadDeadline(time.Now().Add(leftoverTime))
		if n, err := io.CopyN(io.Discard, c.Request.BodyStream(), left); err == nil && n == left {
			return
		}
	}
	c.Response.SetConnectionClose()
	if l, ok := c.Conn().(*line); ok {
		l.lingers.Store(true)
	}
}

// Listen serves at an address until it is shut down.
func (a *App) Listen(addr string) error {
	ln, err := net.Listen(a.Config().Network, addr) //nolint:noctx // it listens for as long as the program lives
	if err != nil {
		return err
	}
	return a.Listener(ln)
}

// Listener serves what a listener accepts until it is shut down.
func (a *App) Listener(ln net.Listener) error { return a.App.Listener(lines{ln, a.options.Idle}) }
