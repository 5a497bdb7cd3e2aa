package web_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/patient-mesh/patient-mesh/libs/web"
)

// stored counts how often it is closed, and what is read of it.
type stored struct {
	*strings.Reader
	closed, read *atomic.Int64
}

func (s stored) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.read.Add(int64(n))
	return n, err
}

func (s stored) Close() error { s.closed.Add(1); return nil }

func TestContent(t *testing.T) {
	const tag = `"abc"`
	whole := strings.Repeat("0123456789", 30_000)
	modified := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var closed, read atomic.Int64
	addr := chain(t, web.Options{}, func(c *fiber.Ctx) error {
		header := http.Header{"Content-Type": {"application/pdf"}, "Etag": {tag}, "Content-Disposition": {"attachment"}}
		content := whole
		if c.Query("empty") != "" {
			content = ""
		}
		return web.Content(c, header, modified, stored{strings.NewReader(content), &closed, &read})
	})
	tests := []struct {
		name, method, target string
		header               map[string]string
		status               int
		body, contentRange   string
		most                 int64 // bytes read of the source
	}{
		{"whole", "GET", "/", nil, 200, whole, "", 300_000},
		{"head", "HEAD", "/", nil, 200, "", "", 0},
		{"empty", "GET", "/?empty=1", nil, 200, "", "", 0},
		{"empty, range", "GET", "/?empty=1", map[string]string{"Range": "bytes=0-1"}, 200, "", "", 0},
		{"range", "GET", "/", map[string]string{"Range": "bytes=3-7"}, 206, "34567", "bytes 3-7/300000", 5},
		{"range to the end", "GET", "/", map[string]string{"Range": "bytes=299998-"}, 206, "89", "bytes 299998-299999/300000", 2},
		{"range from the end", "GET", "/", map[string]string{"Range": "bytes=-3"}, 206, "789", "bytes 299997-299999/300000", 3},
		{"range, head", "HEAD", "/", map[string]string{"Range": "bytes=3-7"}, 206, "", "bytes 3-7/300000", 0},
		{"range beyond", "GET", "/", map[string]string{"Range": "bytes=300000-"}, 416, "", "bytes */300000", 0},
		{"range of no bytes", "GET", "/", map[string]string{"Range": "bytes=-0"}, 416, "", "bytes */300000", 0},
		{"empty, range from the end", "GET", "/?empty=1", map[string]string{"Range": "bytes=-1"}, 416, "", "bytes */0", 0},
		{"no range", "GET", "/", map[string]string{"Range": "bytes=7-3"}, 416, "", "", 0},
		{"another unit", "GET", "/", map[string]string{"Range": "lines=1-2"}, 200, whole, "", 300_000},
		{"two ranges", "GET", "/", map[string]string{"Range": "bytes=0-1,3-4"}, 200, whole, "", 300_000},
		{"if-range holds", "GET", "/", map[string]string{"Range": "bytes=0-0", "If-Range": tag}, 206, "0", "bytes 0-0/300000", 1},
		{"if-range does not", "GET", "/", map[string]string{"Range": "bytes=0-0", "If-Range": `"x"`}, 200, whole, "", 300_000},
		{"if-none-match", "GET", "/", map[string]string{"If-None-Match": `"x", ` + tag}, 304, "", "", 0},
		{"if-none-match, another", "GET", "/", map[string]string{"If-None-Match": `"x"`}, 200, whole, "", 300_000},
		{"if-match", "GET", "/", map[string]string{"If-Match": tag}, 200, whole, "", 300_000},
		{"if-match, another", "GET", "/", map[string]string{"If-Match": `"x"`}, 412, "", "", 0},
		{"if-modified-since", "GET", "/", map[string]string{"If-Modified-Since": modified.Format(http.TimeFormat)}, 304, "", "", 0},
	}
	for _, test := range tests {
		closed.Store(0)
		read.Store(0)
		r, _ := http.NewRequest(test.method, "http://"+addr+test.target, nil)
		for name, value := range test.header {
			r.Header.Set(name, value)
		}
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(test.name, err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != test.status || resp.Header.Get("Content-Range") != test.contentRange {
			t.Errorf("%s: %v %d %v", test.name, err, resp.StatusCode, resp.Header)
		}
		h := resp.Header
		if test.status >= 400 {
			if h.Get("Content-Type") != web.ProblemType || !bytes.Contains(got, []byte(`"status":4`)) || h.Get("Etag") != "" {
				t.Errorf("%s: no problem: %v %s", test.name, h, got)
			}
		} else if string(got) != test.body || h.Get("Etag") != tag || h.Get("Content-Disposition") != "attachment" {
			t.Errorf("%s: %d bytes, %v", test.name, len(got), h)
		}
		if test.status < 300 && (h.Get("Content-Type") != "application/pdf" || h.Get("Accept-Ranges") != "bytes" || h.Get("Last-Modified") == "" || resp.ContentLength < 0) {
			t.Errorf("%s: %v %d", test.name, h, resp.ContentLength)
		}
		if test.name == "head" && resp.ContentLength != 300_000 || test.name == "range, head" && resp.ContentLength != 5 {
			t.Errorf("%s: length %d", test.name, resp.ContentLength)
		}
		until(t, "the content is closed", func() bool { return closed.Load() == 1 })
		if read.Load() > test.most {
			t.Errorf("%s: %d bytes were read", test.name, read.Load())
		}
	}
}
