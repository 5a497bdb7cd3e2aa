package train

import "testing"

// Calm leaves a test to the run without the race detector: it learns from many records, all in one goroutine, where the
// detector sees nothing and makes it take five times as long.
func Calm(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("one goroutine: it runs without the race detector")
	}
}
