package web

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"
)

// Answer answers with a body that is sent as it comes, of length bytes, or of a length that nobody knows yet (-1). The
// client may take as long as it goes on reading and the request's time is not up; so long the request counts as under way,
// its context lives, and Incoming can be read. A body that fails, or is not as long as was said, breaks the connection, so
// that nobody takes it for whole. The body is closed in any case.
func Answer(c *fiber.Ctx, status int, header http.Header, body io.ReadCloser, length int64) error {
	resp := c.Response()
	head(c, status, header)
	switch {
	case c.Method() == fiber.MethodHead && length >= 0:
		resp.SkipBody = true
		resp.Header.SetContentLength(int(length))
		return body.Close()
	case c.Method() == fiber.MethodHead, length == 0, status == fiber.StatusNoContent, status == fiber.StatusNotModified:
		return body.Close()
	}
	conn := c.Context().Conn()
	out := &outgoing{body: body, length: length, conn: conn, idle: idleOf(conn), upload: incomingOf(c.Context())}
	out.deadline, _ = c.UserContext().Deadline()
	resp.SetBodyStream(out, int(length))
	resp.ImmediateHeaderFlush = length < 0 // what comes may be long in coming, or wait for more of the request
	return nil
}

// head writes what stands before an answer's body, of which there is none yet.
func head(c *fiber.Ctx, status int, header http.Header) {
	resp := c.Response()
	resp.ResetBody()
	resp.SetStatusCode(status)
	for name := range header { // first, since fasthttp mixes up the order of the others when it deletes
		resp.Header.Del(name)
	}
	for name, values := range header {
		if name == fiber.HeaderContentLength || name == fiber.HeaderDate {
			continue // fasthttp writes them
		}
		for _, value := range values {
			resp.Header.Add(name, value)
		}
	}
}

// outgoing is the body of an answer that is sent after its handler has returned.
type outgoing struct {
	body     io.ReadCloser
	length   int64 // -1: not known
	conn     net.Conn
	idle     time.Duration
	deadline time.Time
	upload   *incoming // what may still be read of the request while it is answered
	failure  error     // of the body
	after    func(failure error)
	closed   bool
}

var (
	errShort = errors.New("the body is shorter than its length")
	errLong  = errors.New("the body is longer than its length")
)

// Read is what fasthttp calls for a body of unknown length. What is read is written before the next call.
func (o *outgoing) Read(p []byte) (int, error) {
	n, err := o.body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		o.failure = err
	}
	o.arm()
	return n, err
}

// WriteTo is what fasthttp calls for a body of known length.
func (o *outgoing) WriteTo(w io.Writer) (written int64, err error) {
	buffer := acquireBuffer()
	defer releaseBuffer(buffer)
	for written < o.length {
		n, err := o.piece((*buffer)[:min(int64(len(*buffer)), o.length-written)], o.length-written)
		if err != nil {
			o.failure = err
			return written, err
		}
		o.arm()
		m, err := w.Write((*buffer)[:n])
		written += int64(m)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// piece reads the next of what is left. It gives the last one only once the body has ended there, without a fault.
func (o *outgoing) piece(p []byte, left int64) (int, error) {
	n, err := o.body.Read(p)
	for int64(n) == left && err == nil {
		var m int
		var more [1]byte
		if m, err = o.body.Read(more[:]); m > 0 {
			return n, errLong
		}
	}
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return n, err
	case err != nil && int64(n) < left:
		return n, errShort
	}
	return n, nil
}

// arm gives the client time for the next piece.
func (o *outgoing) arm() {
	_ = o.conn.SetWriteDeadline(earlier(time.Now().Add(o.idle), o.deadline))
}

// Close ends the answer, sent or not, and with it what was still read of the request.
func (o *outgoing) Close() error {
	if o.closed {
		return nil
	}
	o.closed = true
	err := o.body.Close()
	if o.upload != nil {
		o.upload.stop()
	}
	if o.after != nil {
		o.after(o.failure)
	}
	return err
}

const budgetKey = "mesh.budget"

// Budget gives a request another time than the one it came with, from now on. The context ends with the request.
func Budget(c *fiber.Ctx, d time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.UserContext()), d)
	c.SetUserContext(ctx)
	c.Locals(budgetKey, cancel)
}
