// Package supervise keeps child processes running: it starts them, writes down what they say, starts them again when
// they die and stops them in good order. It does not know what the programs do.
package supervise

import (
	"context"
	"syscall"
	"time"
)

// Program is what is run.
type Program struct {
	Name string
	Path string
	Args []string
	Env  []string // the whole environment
	Dir  string   // working directory; empty: this process's own

	// Account is the user to run as; nil is this process's own.
	Account *syscall.Credential

	// StopSignal asks the program to end in good order. DeathSignal is what the kernel sends it when this process dies
	// without having stopped it (Linux only).
	StopSignal  syscall.Signal
	DeathSignal syscall.Signal
	StopTimeout time.Duration // after it, the program is killed

	// LongestWait is the longest pause before a program that dies time and again is started once more; 0: five seconds.
	LongestWait time.Duration

	// Before runs before each start, the repeated ones too; an error counts as a failed start. May be nil.
	Before func(ctx context.Context) error

	// Speaks says that the program logs JSON lines with slog's level and msg, whose warnings and errors are worth showing.
	Speaks bool
}
