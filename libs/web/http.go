package web

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// Handler lets a handler of net/http answer. It gets the deadline, the trace and the principal of the request's context,
// every header as often as it was sent, and nothing that is written over once it has answered.
func Handler(h http.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		target := strings.Clone(string(c.Request().RequestURI()))
		at, err := url.ParseRequestURI(target)
		if err != nil {
			return fiber.ErrBadRequest
		}
		buffer, err := ReadBody(c, int64(c.App().Config().BodyLimit))
		if err != nil {
			return err
		}
		defer Forget(c, buffer)
		body := bytes.Clone(c.Body())
		r := &http.Request{
			Method: strings.Clone(c.Method()), URL: at, RequestURI: target, Host: string(c.Request().Host()), RemoteAddr: c.Context().RemoteAddr().String(),
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: http.NoBody, ContentLength: int64(len(body)),
		}
		if len(body) > 0 {
			r.Body = readCloser{bytes.NewReader(body)}
		}
		for name, value := range c.Request().Header.All() {
			r.Header.Add(string(name), string(value))
		}
		w := &recorder{header: http.Header{}, status: http.StatusOK}
		h.ServeHTTP(w, r.WithContext(c.UserContext()))
		for name, values := range w.header {
			c.Response().Header.Del(name)
			for _, value := range values {
				c.Response().Header.Add(name, value)
			}
		}
		c.Status(w.status)
		c.Response().SetBody(w.body.Bytes())
		return nil
	}
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

// recorder keeps what a handler writes.
type recorder struct {
	header  http.Header
	status  int
	written bool
	body    bytes.Buffer
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if !w.written {
		w.status, w.written = status, true
	}
}

func (w *recorder) Write(p []byte) (int, error) {
	w.written = true
	return w.body.Write(p)
}
