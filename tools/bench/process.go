package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/patient-mesh/patient-mesh/tools/bench/traffic"
)

// pinning puts the proxy on one core and everybody else on another. Where there is no taskset, or one core only, it
// does nothing.
type pinning struct{ taskset string }

func findPinning() pinning {
	path, err := exec.LookPath("taskset")
	if err != nil || runtime.NumCPU() < 2 {
		return pinning{}
	}
	return pinning{taskset: path}
}

const (
	proxyCore = "0"
	otherCore = "1"
)

// command is a command on a core; no core is any.
func (p pinning) command(ctx context.Context, core, name string, args ...string) *exec.Cmd {
	if core == "" || p.taskset == "" {
		return exec.CommandContext(ctx, name, args...)
	}
	return exec.CommandContext(ctx, p.taskset, append([]string{"-c", core, name}, args...)...)
}

// traffic runs a plan in a process of its own, so that what it costs is not mixed with what anything else does here.
func (b *Bench) traffic(ctx context.Context, p traffic.Plan, core string) (traffic.Result, error) {
	var r traffic.Result
	plan, err := json.Marshal(p)
	if err != nil {
		return r, err
	}
	cmd := b.pin.command(ctx, core, b.self, "traffic")
	var out, faults bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(plan), &out, &faults
	if err := cmd.Run(); err != nil {
		return r, fmt.Errorf("traffic: %w: %s", err, strings.TrimSpace(faults.String()))
	}
	return r, json.Unmarshal(out.Bytes(), &r)
}

// running is a program that was started for a measurement.
type running struct {
	cmd *exec.Cmd
	log *os.File
}

// launch starts a program that logs to a file in the scratch folder, and dies with us.
func (b *Bench) launch(name string, cmd *exec.Cmd) (*running, error) {
	log, err := os.Create(filepath.Join(b.scratch, name+".log"))
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), log.Close())
	}
	return &running{cmd: cmd, log: log}, nil
}

// pid is the program's: taskset becomes what it starts.
func (r *running) pid() int { return r.cmd.Process.Pid }

func (r *running) stop() {
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	_ = r.cmd.Wait() // it was told to end; how it did is of no interest
	_ = r.log.Close()
}

// listening waits until something accepts connections, or tells the end of the program's log.
func (r *running) listening(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			_, _ = r.log.Seek(0, io.SeekStart)
			raw, _ := io.ReadAll(r.log)
			return fmt.Errorf("nothing listens on %s: %s", address, bytes.TrimSpace(raw))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// tick is the unit of times in /proc: USER_HZ, which Linux fixes at 100 for all programs.
const tick = 10 * time.Millisecond

// cpuOf is the processor time that a process and its children have used, those that have ended among them.
func cpuOf(pid int) (time.Duration, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	used, err := cpuIn(string(raw))
	if err != nil {
		return 0, err
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0, err
	}
	for child := range strings.FieldsSeq(string(children)) {
		number, err := strconv.Atoi(child)
		if err != nil {
			return 0, err
		}
		more, err := cpuOf(number)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // it ended meanwhile
		}
		if err != nil {
			return 0, err
		}
		used += more
	}
	return used, nil
}

// cpuIn reads utime, stime, cutime and cstime, the 14th to 17th fields of proc_pid_stat(5). The second is the name, which
// may hold spaces and brackets.
func cpuIn(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 15 {
		return 0, errors.New("/proc/…/stat is not as expected")
	}
	var sum int64
	for _, field := range fields[11:15] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += ticks
	}
	return time.Duration(sum) * tick, nil
}

// residentOf is the memory of a process that is in RAM, in bytes.
func residentOf(pid int) (int64, error) { return memoryOf(pid, "VmRSS:") }

// peakOf is the most memory that a process has had in RAM since forgetPeak, in bytes.
func peakOf(pid int) (int64, error) { return memoryOf(pid, "VmHWM:") }

// forgetPeak begins a new peak at what a process holds now (proc_pid_clear_refs(5)).
func forgetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o600)
}

func memoryOf(pid int, name string) (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(line, name); ok {
			kilobytes, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			return kilobytes << 10, err
		}
	}
	return 0, errors.New("/proc/…/status has no " + name)
}
