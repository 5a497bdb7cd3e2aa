package run

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealthyAsksForReadiness(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			w.WriteHeader(status)
		} else {
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	for _, addr := range []string{"127.0.0.1:" + port, ":" + port, "0.0.0.0:" + port, "[::]:" + port} {
		if err := healthy(t.Context(), addr); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
	status = http.StatusServiceUnavailable
	if err := healthy(t.Context(), ":"+port); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("not ready: %v", err)
	}
	server.Close()
	for _, addr := range []string{":" + port, "", "nowhere"} {
		if err := healthy(t.Context(), addr); err == nil {
			t.Errorf("%q is healthy", addr)
		}
	}
}
