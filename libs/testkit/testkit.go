// Package testkit gives tests a real PostgreSQL database and a real Redis of their own. It is imported by tests only.
// The servers are there already, in TEST_DATABASE_URL and TEST_REDIS_URL: make test starts them.
package testkit

import (
	"net/url"
	"os"
	"testing"
)

// server is the address of a test server, from the environment.
func server(t testing.TB, variable string) *url.URL {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		t.Fatalf("%s is not set: run the tests by make test, or by bin/mesh env -- go test ./…", variable)
	}
	u, err := url.Parse(text)
	if err != nil {
		t.Fatalf("%s is no URL", variable)
	}
	return u
}
