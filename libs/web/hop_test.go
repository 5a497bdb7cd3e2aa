package web_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/libs/web"
)

// What speaks of one connection ends with it, whether RFC 9110 §7.6.1 names it or the message's own Connection does.
const ofOneConnection = "Connection: Keep-Alive, x-named\r\nCONNECTION: X-Also ,,Upgrade\r\nKeep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\n" +
	"Proxy-Authenticate: Basic\r\nProxy-Authorization: Basic eA==\r\nTE: trailers\r\nTrailer: X-Later\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n" +
	"X-Named: 1\r\nx-named: 2\r\nX-ALSO: 3\r\nMesh-Secret: 4\r\nX_Under: 5\r\n"

func TestStripRequest(t *testing.T) {
	var h fasthttp.RequestHeader
	text := "POST / HTTP/1.1\r\nHost: h\r\n" + ofOneConnection +
		"Connection: Content-Type, Host, Content-Length, If-Match, Idempotency-Key\r\nContent-Type: a/b\r\nContent-Length: 0\r\nIf-Match: \"1\"\r\nIdempotency-Key: k\r\nX-Kept: 6\r\n\r\n"
	if err := h.Read(bufio.NewReader(strings.NewReader(text))); err != nil {
		t.Fatal(err)
	}
	web.StripRequest(&h)
	want := map[string]string{"Host": "h", "Content-Type": "a/b", "Content-Length": "0", "If-Match": `"1"`, "Idempotency-Key": "k", "X-Kept": "6"}
	for name, value := range h.All() {
		if want[string(name)] != string(value) {
			t.Errorf("passed on: %s: %s", name, value)
		}
		delete(want, string(name))
	}
	delete(want, "Content-Length") // fasthttp counts the body itself
	if len(want) > 0 {
		t.Errorf("lost: %v", want)
	}
}

func TestStripResponse(t *testing.T) {
	var h fasthttp.ResponseHeader
	text := "HTTP/1.1 200 OK\r\n" + ofOneConnection + "Connection: Content-Type, ETag\r\nContent-Type: a/b\r\nETag: \"1\"\r\nX-Kept: 6\r\nContent-Length: 0\r\n\r\n"
	if err := h.Read(bufio.NewReader(strings.NewReader(text))); err != nil {
		t.Fatal(err)
	}
	web.StripResponse(&h)
	for name, value := range h.All() {
		switch string(name) {
		case "Content-Type", "Etag", "X-Kept", "Content-Length":
		default:
			t.Errorf("passed on: %s: %s", name, value)
		}
	}
	if string(h.ContentType()) != "a/b" || string(h.Peek("ETag")) != `"1"` || string(h.Peek("X-Kept")) != "6" {
		t.Errorf("lost: %s", h.String())
	}
}

// The same of an answer that is relayed as a stream.
func TestRelayedAnswerIsStripped(t *testing.T) {
	last := serve(t, web.Options{}, func(c *fiber.Ctx) error {
		c.Set("Connection", "X-Named")
		c.Set("X-Named", "1")
		c.Set("Keep-Alive", "timeout=5")
		c.Set("X-Kept", "6")
		return c.SendString("x")
	})
	resp, err := http.Get("http://" + relay(t, web.Options{}, limit, last))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header; got.Get("X-Named")+got.Get("Keep-Alive")+got.Get("Connection") != "" || got.Get("X-Kept") != "6" {
		t.Errorf("%v", got)
	}
}
