package redis

import (
	"context"

	"github.com/patient-mesh/patient-mesh/tools/mesh/debian"
)

// debianScript installs the server and keeps Debian from starting a service of its own: policy-rc.d says no to that.
const debianScript = `set -e
export DEBIAN_FRONTEND=noninteractive
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	trap 'rm -f "$policy"' EXIT
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod +x "$policy"
fi
apt-get update -q
apt-get install -q -y --no-install-recommends redis-server
`

// Install gets a real server where there is none. A mesh to try things on does without; its tests do not.
func Install(ctx context.Context, say func(string)) error {
	return debian.Install(ctx, "Redis", debianScript, say)
}
