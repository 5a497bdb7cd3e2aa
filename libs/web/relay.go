package web

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/net/http/httpguts"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Relay passes a request on by send, and answers with what that answers: body, status and headers, both ways as they
// come, without holding more than a buffer of them; an answer that fits into one is waited for, so that it comes whole or
// not at all. The request that send gets has the method, the target and the headers
// of the one that came, but for those of one connection and those that only the mesh says to itself. Its body fails as
// Incoming says, beyond limit bytes too; the answer is that fault then, whatever send makes of it. An answer that ends while
// the client still sends ends the upload.
func Relay(c *fiber.Ctx, limit int64, send func(context.Context, *http.Request) (*http.Response, error)) error {
	StripRequest(&c.Request().Header)
	r, err := outbound(c)
	if err != nil {
		return err
	}
	in := newIncoming(c, limit, contentTooLarge())
	switch {
	case in.whole.Load():
	case r.Method == fiber.MethodGet, r.Method == fiber.MethodHead: // a body means nothing there (RFC 9110 §9.3.1)
		in.stop()
	case in.declared > limit:
		return contentTooLarge()
	default:
		r.Body, r.ContentLength = io.NopCloser(in), in.declared
	}
	resp, err := send(c.UserContext(), r)
	if err != nil {
		return in.instead(err)
	}
	stripAnswer(resp.Header)
	if length := resp.ContentLength; length <= 0 || length > bufferSize || r.Method == fiber.MethodHead {
		return Answer(c, resp.StatusCode, resp.Header, resp.Body, length)
	}
	small := make([]byte, resp.ContentLength)
	_, err = io.ReadFull(resp.Body, small)
	_ = resp.Body.Close()
	if err != nil {
		return in.instead(fault.Away(err, "The answer broke off."))
	}
	head(c, resp.StatusCode, resp.Header)
	c.Response().SetBodyRaw(small)
	return nil
}

// instead ends the upload and is what to answer where there is no answer: what is wrong with the body, if anything is.
func (in *incoming) instead(err error) error {
	in.stop()
	if broken := in.fault(); broken != nil {
		return broken
	}
	return err
}

// outbound is a request like the one that came, without its body.
func outbound(c *fiber.Ctx) (*http.Request, error) {
	h := &c.Request().Header
	target := string(h.RequestURI())
	at, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, fiber.ErrBadRequest
	}
	r := &http.Request{
		Method: string(h.Method()), URL: at, RequestURI: target, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{},
	}
	for name, value := range h.All() {
		if framing(string(name)) {
			continue
		}
		// net/http sends no such header, and its refusal would be held against the service that is called.
		if !httpguts.ValidHeaderFieldName(string(name)) || !httpguts.ValidHeaderFieldValue(string(value)) {
			return nil, fiber.ErrBadRequest
		}
		r.Header.Add(string(name), string(value))
	}
	return r.WithContext(c.UserContext()), nil
}
