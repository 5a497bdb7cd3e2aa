package web_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"
)

// A hundred MiB each way through two hops take no more memory than a few buffers of each hop.
func TestMemoryDoesNotGrowWithTheBody(t *testing.T) {
	const size, most = 100 << 20, 4 << 20
	addr := relayed(t, size)
	watch := func(name string, f func() error) {
		runtime.GC()
		var before, now runtime.MemStats
		runtime.ReadMemStats(&before)
		done, peak := make(chan struct{}), uint64(0)
		var watching sync.WaitGroup
		watching.Go(func() {
			for {
				runtime.ReadMemStats(&now)
				peak = max(peak, now.HeapInuse)
				select {
				case <-done:
					return
				case <-time.After(2 * time.Millisecond): // between two looks
				}
			}
		})
		err := f()
		close(done)
		watching.Wait()
		grown := int64(peak) - int64(before.HeapInuse)
		t.Logf("%s: heap in use %d KiB more at its highest, %d KiB allocated in all, from the system %d KiB more",
			name, grown>>10, (now.TotalAlloc-before.TotalAlloc)>>10, (now.Sys-before.Sys)>>10)
		if err != nil || grown > most || now.Sys-before.Sys > most {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, length := range []int64{size, -1} {
		watch(fmt.Sprintf("up, length %d", length), func() error {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+addr, newZeros(size))
			if err != nil {
				return err
			}
			r.ContentLength = length
			return expect(r, func(body []byte) bool { return string(body) == fmt.Sprint(size) })
		})
		watch(fmt.Sprintf("down, length %d", length), func() error {
			target := fmt.Sprintf("http://%s/?n=%d", addr, size)
			if length < 0 {
				target += "&chunked=1"
			}
			resp, err := http.Get(target)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			n, err := io.Copy(io.Discard, resp.Body)
			if n != size {
				return fmt.Errorf("%d bytes: %w", n, err)
			}
			return err
		})
	}
}

func expect(r *http.Request, is func([]byte) bool) error {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && !is(body) {
		return fmt.Errorf("answered %d %s", resp.StatusCode, body)
	}
	return err
}
