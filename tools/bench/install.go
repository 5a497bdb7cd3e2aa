package bench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// find looks for a tool in PATH, and where Debian puts those of servers and of PostgreSQL.
func find(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	matches, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	matches = append([]string{"/usr/sbin/" + name, "/usr/local/sbin/" + name}, matches...)
	for _, path := range slices.Backward(matches) {
		if info, statErr := os.Stat(path); statErr == nil && !info.IsDir() {
			return path, nil
		}
	}
	return "", errors.Join(err, errors.New(name+" is not installed"))
}

// install gets what the mesh is compared with, where this is Debian and we may. What cannot be had is skipped later.
func install(ctx context.Context, say func(string)) {
	for tool, packages := range map[string][]string{"nginx": {"nginx-light"}, "pgbench": {"postgresql-common", "postgresql-contrib"}} {
		if _, err := find(tool); err == nil {
			continue
		}
		if err := installDebian(ctx, packages); err != nil {
			say(tool + " is not here and cannot be installed (" + err.Error() + "): what is compared with it is left out")
		}
	}
}

// installDebian does so without starting any service: policy-rc.d says no while it runs.
func installDebian(ctx context.Context, packages []string) error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New("no apt-get")
	}
	const script = `set -e
export DEBIAN_FRONTEND=noninteractive
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod +x "$policy"
	trap 'rm -f "$policy"' EXIT
fi
apt-get update -q
apt-get install -q -y --no-install-recommends "$@"
`
	args := append([]string{"/bin/sh", "-c", script, "sh"}, packages...)
	if os.Geteuid() != 0 {
		args = append([]string{"sudo", "-n"}, args...)
	}
	return exec.CommandContext(ctx, args[0], args[1:]...).Run() //nolint:gosec // all of it stands above
}
