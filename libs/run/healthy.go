package run

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// probeLimit is the longest wait for an answer.
const probeLimit = 3 * time.Second

// healthy asks the program that listens at addr on this machine whether it can serve: a container's probe, where the
// image holds nothing but the program.
func healthy(ctx context.Context, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("LISTEN_ADDR: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", nil) //nolint:gosec // the operator says where it listens
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request) //nolint:gosec // as above
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
		return fmt.Errorf("%s: %s", answer.Status, said) //nolint:err113 // told, not decided upon
	}
	return nil
}
