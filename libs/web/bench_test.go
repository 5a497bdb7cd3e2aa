package web_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/patient-mesh/patient-mesh/libs/web"
)

// zeros is a body of so many zero bytes.
type zeros struct{ io.Reader }

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func (zeros) Close() error { return nil }

func newZeros(n int64) zeros { return zeros{io.LimitReader(endless{}, n)} }

// store is an app that counts what is put into it, and gives as much as is asked for.
func store(t testing.TB, limit int64) string {
	t.Helper()
	return serve(t, web.Options{}, func(c *fiber.Ctx) error {
		if c.Method() == fiber.MethodPut {
			n, err := io.Copy(io.Discard, web.Incoming(c, limit))
			if err != nil {
				return err
			}
			return c.SendString(fmt.Sprint(n))
		}
		n := int64(c.QueryInt("n"))
		length := n
		if c.Query("chunked") != "" {
			length = -1
		}
		return web.Answer(c, 200, nil, newZeros(n), length)
	})
}

// relayed is the store behind two hops.
func relayed(t testing.TB, limit int64) string {
	t.Helper()
	leaks(t)
	return relay(t, web.Options{}, limit, relay(t, web.Options{}, limit, store(t, limit)))
}

func BenchmarkRelay(b *testing.B) {
	const size = 100 << 20
	last := store(b, size)
	one := relay(b, web.Options{}, size, last)
	two := relay(b, web.Options{}, size, one)
	client := &http.Client{Transport: &http.Transport{WriteBufferSize: 64 << 10, ReadBufferSize: 64 << 10}}
	for hops, addr := range []string{last, one, two} {
		for _, length := range []int64{size, -1} {
			b.Run(fmt.Sprintf("up/hops=%d/chunked=%v", hops, length < 0), func(b *testing.B) {
				b.SetBytes(size)
				b.ReportAllocs()
				for b.Loop() {
					r, _ := http.NewRequestWithContext(b.Context(), "PUT", "http://"+addr+"/", newZeros(size))
					r.ContentLength = length
					resp, err := client.Do(r)
					if err != nil {
						b.Fatal(err)
					}
					got, _ := io.ReadAll(resp.Body)
					resp.Body.Close()
					if string(got) != fmt.Sprint(size) {
						b.Fatal(string(got))
					}
				}
			})
			b.Run(fmt.Sprintf("down/hops=%d/chunked=%v", hops, length < 0), func(b *testing.B) {
				b.SetBytes(size)
				b.ReportAllocs()
				target := fmt.Sprintf("http://%s/?n=%d", addr, size)
				if length < 0 {
					target += "&chunked=1"
				}
				buffer := make([]byte, 256<<10)
				for b.Loop() {
					resp, err := client.Get(target)
					if err != nil {
						b.Fatal(err)
					}
					n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, resp.Body, buffer)
					resp.Body.Close()
					if n != size || err != nil {
						b.Fatal(n, err)
					}
				}
			})
		}
	}
}
