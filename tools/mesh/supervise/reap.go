package supervise

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Reap ends programs that an earlier mesh left behind when it was killed, by the pid files of a folder. A process
// counts as ours only when it is still called what the file is called. Those named in spare are left alone.
func Reap(ctx context.Context, pidFolder string, spare ...string) {
	files, _ := filepath.Glob(filepath.Join(pidFolder, "*.pid"))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".pid")
		if slices.Contains(spare, name) {
			continue
		}
		text, _ := os.ReadFile(file)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err == nil && filepath.Base(CommandOf(ctx, pid)) == name {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			Gone(ctx, pid, 5*time.Second)
		}
		_ = os.Remove(file)
	}
}

// CommandOf is the first word of a process's command line; "" when there is no such process.
func CommandOf(ctx context.Context, pid int) string {
	if pid <= 1 {
		return ""
	}
	if raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline"); err == nil {
		first, _, _ := bytes.Cut(raw, []byte{0})
		return string(first)
	}
	out, err := exec.CommandContext(ctx, "ps", "-o", "comm=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// Gone waits until a process that is no child of ours has ended, and reports whether it did in time.
func Gone(ctx context.Context, pid int, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for CommandOf(ctx, pid) != "" {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}
