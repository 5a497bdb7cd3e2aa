package cache

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
)

// What the library says comes as lines of the program's own, and only to who asked for details.
func TestLogTo(t *testing.T) {
	for level, want := range map[slog.Level]bool{slog.LevelInfo: false, slog.LevelDebug: true} {
		out := &bytes.Buffer{}
		LogTo(slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: level})))
		client, err := Open("redis://127.0.0.1:1", Telemetry{}) // nothing listens there
		if err != nil {
			t.Fatal(err)
		}
		if client.Ping(t.Context()).Err() == nil {
			t.Fatal("something listens at port 1")
		}
		_ = client.Close()
		if got := out.Len() > 0; got != want {
			t.Errorf("at %v: %s", level, out)
		}
		for line := range bytes.Lines(out.Bytes()) {
			if !json.Valid(line) {
				t.Errorf("%s", line)
			}
		}
	}
}
