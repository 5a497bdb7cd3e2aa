// Package debian installs packages of Debian's on this machine, where that is allowed. It knows none of them.
package debian

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Install runs a script of apt-get commands as root, where this is Debian and we are root or may become it without being
// asked. What it is for goes to say.
func Install(ctx context.Context, what, script string, say func(string)) error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New("this system has no apt-get")
	}
	args := []string{"/bin/sh", "-c", script}
	if os.Geteuid() != 0 {
		if err := exec.CommandContext(ctx, "sudo", "-n", "true").Run(); err != nil {
			return errors.New("apt-get needs root, or sudo that asks for no password")
		}
		args = append([]string{"sudo", "-n"}, args...)
	}
	say("installing " + what + " with apt-get (its own service is not started) …")
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
		return fmt.Errorf("apt-get: %w: %s", err, lines[len(lines)-1])
	}
	return nil
}
