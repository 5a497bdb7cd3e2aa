package port

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// holderOf names the process that listens on the address's port, as "nginx (process 123)". It reads Linux's /proc and
// gives "" where there is none or where we may not look.
func holderOf(addr string) string {
	_, text, err := net.SplitHostPort(addr)
	if err != nil {
		return ""
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return ""
	}
	inodes := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		listening(table, port, inodes)
	}
	if len(inodes) == 0 {
		return ""
	}
	descriptors, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, path := range descriptors {
		target, err := os.Readlink(path)
		if err != nil || !inodes[target] {
			continue
		}
		pid := strings.Split(path, "/")[2]
		name, _ := os.ReadFile(filepath.Join("/proc", pid, "comm"))
		return fmt.Sprintf("%s (process %s)", strings.TrimSpace(string(name)), pid)
	}
	return ""
}

// listening adds the sockets of a /proc/net table that listen on the port, in the form in which /proc/*/fd names them.
func listening(table string, port uint64, into map[string]bool) {
	f, err := os.Open(table)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …; state 0A is LISTEN
		fields := strings.Fields(lines.Text())
		if len(fields) < 10 || fields[3] != "0A" {
			continue
		}
		_, hex, _ := strings.Cut(fields[1], ":")
		if p, err := strconv.ParseUint(hex, 16, 16); err == nil && p == port {
			into["socket:["+fields[9]+"]"] = true
		}
	}
}
