package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// machine notes what everything ran on.
func (b *Bench) machine(ctx context.Context) error {
	note := func(format string, args ...any) {
		b.report.machine = append(b.report.machine, fmt.Sprintf(format, args...))
	}
	model := valueOf("/proc/cpuinfo", "model name")
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease") // elsewhere than on Linux there is none
	note("%s, %d cores, %s of memory, Linux %s", model, runtime.NumCPU(), valueOf("/proc/meminfo", "MemTotal"), strings.TrimSpace(string(kernel)))
	conn, err := pgx.Connect(ctx, b.mesh.Database("patient").URL)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	settings := map[string]string{}
	for _, name := range []string{"server_version", "fsync", "synchronous_commit", "full_page_writes", "wal_sync_method", "shared_buffers"} {
		var value string
		if err := conn.QueryRow(ctx, "SHOW "+name).Scan(&value); err != nil {
			return err
		}
		settings[name] = value
	}
	note("PostgreSQL %s: fsync %s (%s), synchronous_commit %s, full_page_writes %s, shared_buffers %s, otherwise as it comes",
		settings["server_version"], settings["fsync"], settings["wal_sync_method"], settings["synchronous_commit"],
		settings["full_page_writes"], settings["shared_buffers"])
	if settings["fsync"] != "on" || settings["synchronous_commit"] != "on" {
		b.report.note("This database does not wait for its disk: the writes measured here would not survive a crash.")
	}
	note("%s; %s; %s", runtime.Version(), firstLine(ctx, "nginx", "-v"), firstLine(ctx, "redis-server", "--version"))
	if b.pin.taskset != "" {
		note("In the comparison of proxies each proxy runs on core %s alone, backend and client on core %s", proxyCore, otherCore)
	}
	note("%d rounds of %s for each subject", b.options.Rounds, b.options.Duration)
	return nil
}

// quiet looks whether something else is at work, and says so beside the figures.
func (b *Bench) quiet() {
	if load, busy := Busy(); busy {
		text := "The machine was busy with other things when this began (load average " + load + "): figures are low and unsteady."
		b.say(text)
		b.report.note(text)
	}
}

// Busy tells whether the machine has other things to do than to be measured, and its load average.
func Busy() (load string, busy bool) {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "", false
	}
	load, _, _ = strings.Cut(string(raw), " ")
	average, err := strconv.ParseFloat(load, 64)
	return load, err == nil && average > quietLoad
}

// Processor is what the machine's is called.
func Processor() string { return valueOf("/proc/cpuinfo", "model name") }

// quietLoad is a load average at which nothing else disturbs.
const quietLoad = 0.5

// valueOf reads "name : value" from a file of the kernel's.
func valueOf(file, name string) string {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(raw)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func firstLine(ctx context.Context, tool string, args ...string) string {
	path, err := find(tool)
	if err != nil {
		return "no " + tool
	}
	out, _ := exec.CommandContext(ctx, path, args...).CombinedOutput()
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}
