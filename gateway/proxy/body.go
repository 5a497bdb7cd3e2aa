package proxy

import (
	"bytes"
	"errors"
	"io"
	"net"

	"github.com/valyala/bytebufferpool"
	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// CheckBody refuses what can be refused before a byte of the body is read: a coding, and a declared length over the
// limit.
func CheckBody(h *fasthttp.RequestHeader, limit int64) error {
	if len(h.ContentEncoding()) > 0 && !bytes.EqualFold(h.ContentEncoding(), []byte("identity")) {
		return fault.New(fault.UnsupportedMedia, "unsupported_encoding", "Bodies are taken without Content-Encoding.")
	}
	if int64(h.ContentLength()) > limit {
		return tooLarge()
	}
	return nil
}

func tooLarge() error {
	return fault.New(fault.TooLarge, "body_too_large", "The body is over the limit.")
}

// ReadBody reads the body of a request into memory, so that it can be sent twice, counting while it reads. The buffer
// it gives, which may be nil, belongs to the request until it has been sent; then it goes back to the pool. After an error
// the connection has to be closed.
func ReadBody(req *fasthttp.Request, limit int64) (*bytebufferpool.ByteBuffer, error) {
	if !req.IsBodyStream() {
		return nil, nil //nolint:nilnil // nothing to read, nothing wrong
	}
	buffer := bytebufferpool.Get()
	n, err := buffer.ReadFrom(io.LimitReader(req.BodyStream(), limit+1))
	switch declared := int64(req.Header.ContentLength()); {
	case err != nil:
		err = broken(err)
	case n > limit:
		err = tooLarge()
	case declared >= 0 && n != declared:
		err = broken(io.ErrUnexpectedEOF)
	}
	if err != nil {
		bytebufferpool.Put(buffer)
		return nil, err
	}
	if req.Header.IsGet() || req.Header.IsHead() {
		req.ResetBody() // it means nothing there (RFC 9110 §9.3.1)
		req.Header.SetContentLength(0)
	} else {
		req.SetBodyRaw(buffer.B)
		req.Header.SetContentLength(len(buffer.B))
	}
	return buffer, nil
}

func broken(err error) error {
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return fault.Because(err, fault.Invalid, "request_timeout", "The body took too long to arrive.")
	}
	return fault.Because(err, fault.Invalid, "malformed_body", "The body broke off or is malformed.")
}
