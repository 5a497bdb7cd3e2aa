package bench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// find looks for a tool where Debian puts those of PostgreSQL and of servers, and in PATH: what PATH has of PostgreSQL's
// is a script that chooses among clusters.
func find(name string) (string, error) {
	places, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil {
		return "", err
	}
	places = append([]string{"/usr/sbin/" + name, "/usr/local/sbin/" + name}, places...)
	for _, path := range slices.Backward(places) {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", errors.New(name + " is not installed")
	}
	return path, nil
}

// install gets nginx, where this is Debian and we may; pgbench comes with the PostgreSQL that the mesh installs. What
// cannot be had is left out later.
func install(ctx context.Context, say func(string)) {
	if _, err := find("nginx"); err == nil {
		return
	}
	say("installing nginx with apt-get (its own service is not started) …")
	if err := installDebian(ctx, "nginx-light"); err != nil {
		say("nginx cannot be installed: " + err.Error())
	}
}

// installDebian does so without starting any service: policy-rc.d says no while it runs.
func installDebian(ctx context.Context, packages ...string) error {
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
	return exec.CommandContext(ctx, args[0], args[1:]...).Run()
}
