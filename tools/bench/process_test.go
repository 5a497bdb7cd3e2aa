package bench

import (
	"os"
	"testing"
	"time"
)

func TestCPUIsReadBehindTheName(t *testing.T) {
	got, err := cpuIn("42 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 120 40 30 10 20 0 1 0 5 6 7")
	if err != nil || got != 2*time.Second {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := cpuIn("42 (x) S 1"); err == nil {
		t.Error("too short a line is accepted")
	}
}

func TestThisProcessCanBeMeasured(t *testing.T) {
	if _, err := cpuOf(os.Getpid()); err != nil {
		t.Error(err)
	}
	if bytes, err := residentOf(os.Getpid()); err != nil || bytes < 1<<20 {
		t.Errorf("%d bytes, %v", bytes, err)
	}
}
