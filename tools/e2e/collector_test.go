package e2e

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"sync"
)

// emitted is all that the mesh sent by OTLP.
var emitted *collector

// collector takes traces and metrics in and keeps them as they came, for a search for what must not be in them.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	batches map[string][][]byte // by path
}

func newCollector() *collector {
	c := &collector{batches: map[string][][]byte{}}
	c.Server = httptest.NewServer(http.HandlerFunc(c.take))
	return c
}

func (c *collector) take(w http.ResponseWriter, r *http.Request) {
	var in io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, "gzip", http.StatusBadRequest)
			return
		}
		in = unzipped
	}
	raw, err := io.ReadAll(in)
	if err != nil {
		http.Error(w, "body", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batches[r.URL.Path] = append(c.batches[r.URL.Path], raw)
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// contains reports whether what came to a path holds the bytes. The protobuf of OTLP keeps texts as they are; ids are
// kept as raw bytes.
func (c *collector) contains(path string, text []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.batches[path], func(batch []byte) bool { return bytes.Contains(batch, text) })
}

// matches reports whether what came to a path matches a pattern where a literal stands.
func (c *collector) matches(path, literal string, pattern *regexp.Regexp) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.batches[path], func(batch []byte) bool { return near(batch, literal, pattern) })
}

// each gives everything that came, by its path.
func (c *collector) each(look func(path string, batch []byte)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for path, batches := range c.batches {
		for _, batch := range batches {
			look(path, batch)
		}
	}
}

// spans reports whether a program sent a span of the trace. A program's spans arrive in batches that open with its name.
func (c *collector) spans(trace []byte, program string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, batch := range c.batches["/v1/traces"] {
		if bytes.Contains(batch, trace) && bytes.Contains(batch, []byte("service.name")) && bytes.Contains(batch, []byte(program)) {
			return true
		}
	}
	return false
}
