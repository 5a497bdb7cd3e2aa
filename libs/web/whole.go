package web

import (
	"io"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/bytebufferpool"
)

// small is a body that most likely came with its head.
const small = 8 << 10

// ReadBody reads the body of a request into memory, where handlers find it as if it had not been a stream, counting
// while it reads. The buffer it gives, which may be nil, belongs to the request until that has been dealt with; then Forget
// takes both apart. After an error the connection closes.
func ReadBody(c *fiber.Ctx, limit int64) (*bytebufferpool.ByteBuffer, error) {
	req := c.Request()
	if !req.IsBodyStream() {
		return nil, nil //nolint:nilnil // nothing to read, nothing wrong
	}
	buffer := bytebufferpool.Get()
	var err error
	if declared := req.Header.ContentLength(); 0 <= declared && declared <= small && int64(declared) <= limit {
		buffer.B = append(buffer.B[:0], make([]byte, declared)...) // the compiler makes no slice of it
		if _, err = io.ReadFull(req.BodyStream(), buffer.B); err != nil {
			err = newIncoming(c, limit, bodyTooLarge()).lose(err)
		}
	} else {
		_, err = buffer.ReadFrom(newIncoming(c, limit, bodyTooLarge()))
	}
	if err != nil {
		bytebufferpool.Put(buffer)
		c.Response().SetConnectionClose()
		return nil, err
	}
	c.Context().RemoveUserValue(incomingKey)
	if req.Header.IsGet() || req.Header.IsHead() {
		req.ResetBody() // it means nothing there (RFC 9110 §9.3.1)
		req.Header.SetContentLength(0)
	} else {
		req.SetBodyRaw(buffer.B)
		req.Header.SetContentLength(len(buffer.B))
	}
	return buffer, nil
}

// Forget gives a buffer of ReadBody back, and makes sure that the request does not know it any more.
func Forget(c *fiber.Ctx, buffer *bytebufferpool.ByteBuffer) {
	if buffer != nil {
		c.Request().ResetBody()
		bytebufferpool.Put(buffer)
	}
}
