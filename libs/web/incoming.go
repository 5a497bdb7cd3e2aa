package web

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// incomingKey is the local that holds the stream of a request's body, once somebody has asked for it.
const incomingKey = "mesh.incoming"

// Incoming is the body of a request as it arrives. Reading it fails with a fault: TooLarge beyond the limit, in bytes,
// before the first byte where the length is declared; Invalid where the client breaks off, makes a pause that is too long,
// or is not done when the request's time is up. A body that ends with io.EOF is whole. It is empty where there is none, and
// the same one, with the limit that was given first, however often it is asked for.
func Incoming(c *fiber.Ctx, limit int64) io.Reader {
	if in := incomingOf(c.Context()); in != nil {
		return in
	}
	return newIncoming(c, limit, contentTooLarge())
}

func contentTooLarge() error {
	return fault.New(fault.TooLarge, "content_too_large", "The content is over the limit.")
}

func bodyTooLarge() error {
	return fault.New(fault.TooLarge, "body_too_large", "The body is over the limit.")
}

// incoming counts, keeps to the pauses, and can be stopped while somebody reads.
type incoming struct {
	stream   io.Reader
	conn     net.Conn
	declared int64 // -1: not known beforehand
	limit    int64
	over     error // what to say beyond the limit
	idle     time.Duration
	deadline time.Time
	whole    atomic.Bool // all of it has been read

	reading sync.Mutex // held by who reads
	read    int64
	failure error
	lost    bool // the client broke off or went silent

	state   sync.Mutex // guards what follows, and the connection's read deadline with it
	stopped bool
}

func incomingOf(c *fasthttp.RequestCtx) *incoming {
	in, _ := c.UserValue(incomingKey).(*incoming)
	return in
}

func newIncoming(c *fiber.Ctx, limit int64, over error) *incoming {
	req, conn := c.Request(), c.Context().Conn()
	in := &incoming{
		stream: req.BodyStream(), declared: int64(req.Header.ContentLength()), limit: limit, over: over, conn: conn, idle: idleOf(conn),
	}
	in.deadline, _ = c.UserContext().Deadline()
	if in.stream == nil { // it has been read already, and may be forgotten before it is sent on
		body := bytes.Clone(req.Body())
		in.stream, in.declared = bytes.NewReader(body), int64(len(body))
	}
	in.whole.Store(in.declared == 0)
	c.Context().SetUserValue(incomingKey, in)
	return in
}

func idleOf(conn net.Conn) time.Duration {
	if l, ok := conn.(*line); ok {
		return l.idle
	}
	return DefaultIdle
}

var errStopped = errors.New("the rest of the body is not wanted")

func (in *incoming) Read(p []byte) (int, error) {
	in.reading.Lock()
	defer in.reading.Unlock()
	switch {
	case in.failure != nil:
		return 0, in.failure
	case in.whole.Load():
		return 0, io.EOF
	case in.declared > in.limit:
		return 0, in.fail(in.over)
	case !in.arm():
		return 0, in.fail(errStopped)
	}
	n, err := in.stream.Read(p)
	in.read += int64(n)
	switch {
	case in.read > in.limit:
		n -= int(in.read - in.limit)
		return n, in.fail(in.over)
	case in.declared >= 0 && in.read == in.declared:
		in.whole.Store(true)
		return n, io.EOF
	case errors.Is(err, io.EOF):
		// fasthttp ends a body that was cut off like one that was not
		if l, ok := in.conn.(*line); in.declared >= 0 || ok && l.ended.Load() {
			return n, in.lose(io.ErrUnexpectedEOF)
		}
		in.whole.Store(true)
		return n, io.EOF
	case err != nil && in.isStopped():
		return n, in.fail(errStopped)
	case err != nil:
		return n, in.lose(err)
	}
	return n, nil
}

func (in *incoming) fail(err error) error {
	in.failure = err
	return err
}

// lose is fail for what the client has done.
func (in *incoming) lose(err error) error {
	in.lost = true
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return in.fail(fault.Because(err, fault.Invalid, "request_timeout", "The body took too long to arrive."))
	}
	return in.fail(fault.Because(err, fault.Invalid, "malformed_body", "The body broke off or is malformed."))
}

// arm gives the client time for the next piece; false when nobody wants it.
func (in *incoming) arm() bool {
	in.state.Lock()
	defer in.state.Unlock()
	if !in.stopped {
		_ = in.conn.SetReadDeadline(earlier(time.Now().Add(in.idle), in.deadline))
	}
	return !in.stopped
}

// stop ends the reading for good: when it returns, nobody reads from the connection any more.
func (in *incoming) stop() {
	in.state.Lock()
	in.stopped = true
	_ = in.conn.SetReadDeadline(time.Unix(1, 0)) // wakes who waits
	in.state.Unlock()
	in.reading.Lock()
	defer in.reading.Unlock()
	if in.failure == nil {
		in.failure = errStopped
	}
}

// leave is called when the handler is done, with the body that it answers with. It tells how much is left to read in order
// to come to the next request, or -1 where that is not known, or is read while the answer is sent.
func (in *incoming) leave(answer io.Reader) int64 {
	if _, ok := answer.(*outgoing); ok && !in.isStopped() {
		return -1
	}
	in.stop()
	if in.lost || in.declared < 0 {
		return -1
	}
	return in.declared - in.read
}

func (in *incoming) isStopped() bool {
	in.state.Lock()
	defer in.state.Unlock()
	return in.stopped
}

// fault is why the body could not be read whole; nil where nothing is wrong with it.
func (in *incoming) fault() error {
	in.reading.Lock()
	defer in.reading.Unlock()
	if errors.Is(in.failure, errStopped) {
		return nil
	}
	return in.failure
}
