package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// debianScript installs the server without the cluster and the service that Debian sets up with it: postgresql-common
// comes first, and is told so, before the package that would do it.
const debianScript = `set -e
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends postgresql-common
conf=/etc/postgresql-common/createcluster.conf
cp "$conf" "$conf.before-mesh"
trap 'mv "$conf.before-mesh" "$conf"' EXIT
sed -i '/create_main_cluster/d' "$conf"
echo 'create_main_cluster = false' >>"$conf"
apt-get install -q -y --no-install-recommends postgresql
`

// installDebian installs Debian's package, where this is Debian and we are root or may become it without being asked.
func installDebian(ctx context.Context, say func(string)) error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New("this system has no apt-get")
	}
	args := []string{"/bin/sh", "-c", debianScript}
	if os.Geteuid() != 0 {
		if err := exec.CommandContext(ctx, "sudo", "-n", "true").Run(); err != nil {
			return errors.New("apt-get needs root, or sudo that asks for no password")
		}
		args = append([]string{"sudo", "-n"}, args...)
	}
	say("installing PostgreSQL with apt-get (its own service is not started) …")
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
		return fmt.Errorf("apt-get: %w: %s", err, lines[len(lines)-1])
	}
	return nil
}
