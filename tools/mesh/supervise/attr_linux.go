package supervise

import "syscall"

// attributes puts the child into a process group of its own, so that the terminal's Ctrl-C reaches only this process,
// which then stops the children in their order; and has the kernel end the child if this process is killed.
func attributes(p Program) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: p.DeathSignal, Credential: p.Account}
}
