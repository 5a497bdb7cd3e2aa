//go:build unix && !linux

package supervise

import "syscall"

// attributes is as on Linux, but that nothing ends the child if this process is killed: the next start does (Reap).
func attributes(p Program) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: p.Account}
}
