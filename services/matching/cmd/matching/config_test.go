package main

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestASizeIsReadAsGOMEMLIMITIs(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "512MiB": 512 << 20, "4GiB": 4 << 30, "100B": 100, "1KiB": 1024, "2TiB": 2 << 40} {
		var s size
		if err := s.UnmarshalText([]byte(text)); err != nil || int64(s) != want {
			t.Errorf("%q: %d, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "x", "1GB", "1.5GiB", "9000000TiB", "GiB"} {
		var s size
		if err := s.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: %d", text, s)
		}
	}
}

func TestTheIndexesLeaveRoomForTheRest(t *testing.T) {
	limit := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(limit)
	if got := (settings{}).indexMemory(); got != 4<<30 || debug.SetMemoryLimit(-1) < 5<<30 {
		t.Errorf("nobody said: %d of %d", got, debug.SetMemoryLimit(-1))
	}
	debug.SetMemoryLimit(8 << 30)
	if got := (settings{}).indexMemory(); got != 6<<30 || debug.SetMemoryLimit(-1) != 8<<30 {
		t.Errorf("a limit for the process: %d of %d", got, debug.SetMemoryLimit(-1))
	}
	if got := (settings{IndexMemory: 1 << 30}).indexMemory(); got != 1<<30 || debug.SetMemoryLimit(-1) != 8<<30 {
		t.Errorf("both: %d of %d", got, debug.SetMemoryLimit(-1))
	}
}
