package mesh

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// streamBuffer is how much of a request's body is held at a time.
const streamBuffer = 64 << 10

// newTransport makes the client side of streams: HTTP/1.1 in both directions at once, which fasthttp's client cannot do.
func newTransport(o Options) *http.Transport {
	dialer := &net.Dialer{Timeout: o.DialTimeout}
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, &dialError{err}
			}
			return &streamConn{Conn: conn, idle: o.Idle}, nil
		},
		DisableCompression:     true,
		IdleConnTimeout:        o.MaxIdle,
		MaxIdleConnsPerHost:    64,
		MaxResponseHeaderBytes: 64 << 10,
		ReadBufferSize:         16 << 10, // larger reads go past it
		WriteBufferSize:        16 << 10, // as do larger writes
	}
}

// streamConn ends a write that nobody takes.
type streamConn struct {
	net.Conn
	idle time.Duration
}

func (c *streamConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

var streamBuffers = sync.Pool{New: func() any { b := make([]byte, streamBuffer); return &b }} //nolint:gochecknoglobals // memory, which has no owner

// ReadFrom is what net/http sends a body of known length by.
func (c *streamConn) ReadFrom(r io.Reader) (n int64, err error) {
	buffer := streamBuffers.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	defer streamBuffers.Put(buffer)
	return io.CopyBuffer(struct{ io.Writer }{c}, r, *buffer)
}
