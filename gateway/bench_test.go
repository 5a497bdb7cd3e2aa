package gateway

import (
	"testing"

	"github.com/valyala/fasthttp"
)

// BenchmarkProxy is a request through the whole gateway with a remembered session, over loopback, with client and
// backend in the same process.
func BenchmarkProxy(b *testing.B) {
	w := start(b, func(s *Settings, _ *Parts) {
		s.CredentialRate, s.AddressRate = 10_000_000, 10_000_000
		s.CredentialBurst, s.AddressBurst = 1e6, 1e6
	})
	w.know("good", everyone())
	benchmark(b, w.addr)
}

// BenchmarkBackend is the same request to the backend itself: the difference is the gateway's share.
func BenchmarkBackend(b *testing.B) {
	w := start(b)
	benchmark(b, w.backend)
}

func benchmark(b *testing.B, addr string) {
	b.Helper()
	client := &fasthttp.HostClient{Addr: addr, MaxConns: 64}
	b.ReportAllocs()
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		req, resp := &fasthttp.Request{}, &fasthttp.Response{}
		req.SetRequestURI("http://" + addr + "/v3/patient/524288123")
		req.Header.Set("Authorization", "Bearer good")
		for pb.Next() {
			if err := client.Do(req, resp); err != nil || resp.StatusCode() != 200 {
				b.Error(err, resp.StatusCode())
				return
			}
		}
	})
}
