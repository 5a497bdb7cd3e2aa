package web_test

import (
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/patient-mesh/patient-mesh/libs/web"
)

// A client that opens a connection for later hears nothing on it before it asks; one that asks half a question does.
func TestAConnectionOnWhichNothingIsAsked(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for sent, answered := range map[string]bool{"": false, "G": true, "GET / HTTP/1.1\r\nHost: h\r\n": true} {
			a, err := web.New(web.Options{Name: "test", Logger: slog.New(slog.DiscardHandler), Stream: stream})
			if err != nil {
				t.Fatal(err)
			}
			a.Server().ReadTimeout = 50 * time.Millisecond
			a.All("/*", func(c *fiber.Ctx) error { return c.SendString("x") })
			conn, err := net.Dial("tcp", listen(t, a))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(10 * time.Second)) // a hang fails the test
			_, _ = io.WriteString(conn, sent)
			if heard, err := io.ReadAll(conn); err != nil || strings.HasPrefix(string(heard), "HTTP/1.1 400 ") != answered || (len(heard) > 0) != answered {
				t.Errorf("%q, stream %v: %v, %q", sent, stream, err, heard)
			}
		}
	}
}

// A handler is called with the first byte of a body, and need not wait for more in order to refuse it.
func TestABodysFirstByte(t *testing.T) {
	a, err := web.New(web.Options{Name: "test", Logger: slog.New(slog.DiscardHandler), Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	a.Post("/refused", func(*fiber.Ctx) error { return fiber.ErrNotFound })
	a.Post("/*", func(c *fiber.Ctx) error { return web.JSONOnly(c, func(c *fiber.Ctx) error { return c.Send(c.Body()) }) })
	addr := listen(t, a)
	for _, test := range []struct{ path, body, status string }{
		{"/refused", "x", "404"},
		{"/", "{}", "200"}, // the rest comes later
		{"/", "{", "400"},
	} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second)) // a hang fails the test
		_, _ = io.WriteString(conn, "POST "+test.path+" HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"+test.body[:1])
		if test.path != "/refused" {
			_, _ = io.WriteString(conn, test.body[1:])
			_ = conn.(*net.TCPConn).CloseWrite()
		}
		if heard, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(heard), "HTTP/1.1 "+test.status+" ") {
			t.Errorf("%s %q: %v, %q", test.path, test.body, err, heard)
		}
	}
}
