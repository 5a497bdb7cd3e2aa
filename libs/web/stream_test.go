package web_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/libs/web"
)

// serve runs an app whose one handler answers every request, and gives its address.
func serve(t testing.TB, o web.Options, handler fiber.Handler) string {
	t.Helper()
	o.Name, o.Stream = "test", true
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	a, err := web.New(o)
	if err != nil {
		t.Fatal(err)
	}
	a.All("/*", handler)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = a.Listener(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := a.ShutdownWithContext(ctx); err != nil {
			t.Error("a connection does not end: ", err)
		}
		_ = ln.Close()
		<-done
	})
	return ln.Addr().String()
}

// relay runs an app that passes every request on to the address.
func relay(t testing.TB, o web.Options, limit int64, next string) string {
	t.Helper()
	client, err := mesh.New(mesh.Static{"next": {next}}, mesh.Options{Idle: o.Idle})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	peer := client.Peer("next")
	return serve(t, o, func(c *fiber.Ctx) error {
		return web.Relay(c, limit, peer.Stream)
	})
}

func TestRelayBothWays(t *testing.T) {
	last := serve(t, web.Options{}, func(c *fiber.Ctx) error {
		body, err := io.ReadAll(web.Incoming(c, 1<<20))
		if err != nil {
			return err
		}
		c.Set("X-Length", c.Get("Content-Length"))
		return web.Answer(c, 201, http.Header{"X-A": {"1", "2"}}, io.NopCloser(strings.NewReader(string(body)+"!")), int64(len(body)+1))
	})
	first := relay(t, web.Options{}, 1<<20, relay(t, web.Options{}, 1<<20, last))
	resp, err := http.Post("http://"+first+"/a/b?c=d", "text/plain", strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || string(got) != "hello!" || resp.StatusCode != 201 || resp.ContentLength != 6 || resp.Header.Get("X-Length") != "5" || len(resp.Header.Values("X-A")) != 2 {
		t.Errorf("%v %d %q %v", err, resp.StatusCode, got, resp.Header)
	}
}
