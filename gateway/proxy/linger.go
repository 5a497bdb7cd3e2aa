package proxy

import (
	"bufio"
	"io"
	"net"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	// drainLimit is how much of a body that nobody wanted is read so that the connection can go on, in bytes.
	drainLimit = 256 << 10
	// A connection that closes over an unread body lingers: closed at once, it would be reset, and a client that is
	// still sending would never see the answer (RFC 9112 §9.6).
	lingerTime  = 10 * time.Second
	lingerIdle  = 2 * time.Second
	lingerLimit = 256 << 20
	// earlyLimit and earlyTime bound what is read before the answer to a client that asked to close after it.
	earlyLimit = 16 << 20
	earlyTime  = time.Second
	// answerTime is the longest that a client may take to receive the answer.
	answerTime = 5 * time.Second
)

// Drain sees to it that what is left of a body is not taken for the next request: a little is read, otherwise the
// connection closes after the answer, once the client has had the time to read it.
func Drain(c *fasthttp.RequestCtx) {
	if !c.Request.IsBodyStream() {
		return
	}
	length := c.Request.Header.ContentLength()
	if length >= 0 && length <= drainLimit && !c.Response.ConnectionClose() {
		n, err := io.Copy(io.Discard, c.Request.BodyStream())
		if err == nil && n <= int64(length) {
			return
		}
	}
	if c.Request.Header.ConnectionClose() || c.Response.IsBodyStream() {
		_ = c.Conn().SetReadDeadline(time.Now().Add(earlyTime))
		_, _ = io.CopyN(io.Discard, c.Request.BodyStream(), earlyLimit)
		c.Response.SetConnectionClose()
		return
	}
	answer := fasthttp.AcquireResponse()
	c.Response.CopyTo(answer)
	answer.SetConnectionClose()
	c.Response.Header.ResetConnectionClose() // or fasthttp closes before it hands the connection over
	c.HijackSetNoResponse(true)
	c.Hijack(func(conn net.Conn) {
		defer fasthttp.ReleaseResponse(answer)
		linger(conn, answer)
	})
}

// linger answers, says that nothing more will come, and reads on until the client has seen it.
func linger(conn net.Conn, answer *fasthttp.Response) {
	_ = conn.SetWriteDeadline(time.Now().Add(answerTime))
	out := bufio.NewWriter(conn)
	if answer.Write(out) != nil || out.Flush() != nil {
		return
	}
	if inner, ok := conn.(interface{ UnsafeConn() net.Conn }); ok {
		conn = inner.UnsafeConn()
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	end := time.Now().Add(lingerTime)
	buffer := make([]byte, 32<<10)
	for read := 0; read < lingerLimit; {
		idle := time.Now().Add(lingerIdle)
		if idle.After(end) {
			idle = end
		}
		_ = conn.SetReadDeadline(idle)
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		read += n
	}
}
