package postgres

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
