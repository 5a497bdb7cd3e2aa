#!/usr/bin/env bash
# Installs the mesh in the cluster that kubectl talks to, in a namespace of its own that enforces the restricted Pod Security
# Standard, and looks at it: helm test; then, while patients are created, read, found and deleted without a pause, an
# upgrade that rolls every pod, a rollback, and every pod evicted, one by one. Not one request may fail.
#
# The images must be on the nodes: postgres:17, redis:7, patient-mesh/<program>:TAG for the six and smoke. Environment: TAG
# (the chart's appVersion), NAMESPACE (records-test), SOAK_WORKERS (4), SOAK_SECONDS (300 and 420), KEEP (set: the namespace stays).
set -euo pipefail
cd "$(dirname "$0")/../../.."

namespace=${NAMESPACE:-records-test}
chart=charts/patient-mesh
values=(--values tools/deploy/cluster/values.yaml)
[ -z "${TAG:-}" ] || values+=(--set "global.image.tag=$TAG")
programs=(identity tenant patient attachment matching gateway)

say() { printf '%6s s  %s\n' "$SECONDS" "$*"; }
k() { kubectl --namespace "$namespace" "$@"; }
h() { helm --namespace "$namespace" "$@"; }

if ! kubectl get --raw /readyz >/dev/null 2>&1; then
	echo 'no cluster answers kubectl: the charts are not run'
	exit 0
fi

finish() {
	status=$?
	if [ "$status" != 0 ]; then
		k get pods -o wide || true
		k get events --sort-by=.lastTimestamp 2>/dev/null | tail -20 || true
	fi
	[ -n "${KEEP:-}" ] || kubectl delete namespace "$namespace" --wait=false >/dev/null 2>&1 || true
	exit "$status"
}
trap finish EXIT

kubectl delete namespace "$namespace" --ignore-not-found --timeout=180s
kubectl create namespace "$namespace"
kubectl label namespace "$namespace" pod-security.kubernetes.io/enforce=restricted
helm dependency build "$chart" >/dev/null

k apply -f tools/deploy/cluster/postgres.yaml
for program in identity tenant patient attachment matching; do
	k create secret generic "mesh-$program-database" --from-literal=url="postgres://prs_$program:worker@postgres:5432/prs_$program"
	k create secret generic "mesh-$program-owner" --from-literal=url="postgres://prs_${program}_owner:owner@postgres:5432/prs_$program"
done
k rollout status deployment/postgres --timeout=120s
say 'PostgreSQL is there'

h install mesh "$chart" "${values[@]}" --wait --timeout 5m
say 'installed: every pod is ready'
h test mesh --timeout 3m --logs
say 'helm test passed'

# The pod of helm test once more, which now goes on until it is told to stop asking.
soak() { # SECONDS
	k delete pod mesh-soak --ignore-not-found --wait
	h get hooks mesh | sed -e 's/name: mesh-test$/name: mesh-soak/' -e '/helm.sh\/hook/d' -e '/^  annotations:$/d' \
		-e "s|^\( *\)- {name: ENVIRONMENT,|\1- {name: SOAK_FOR, value: ${1}s}\n\1- {name: SOAK_WORKERS, value: \"${SOAK_WORKERS:-4}\"}\n&|" |
		k apply -f -
	k wait --for=jsonpath='{.status.phase}'=Running pod/mesh-soak --timeout=60s
}
soaked() {
	if [ "$(k get pod mesh-soak -o jsonpath='{.status.phase}')" = Succeeded ]; then
		echo "the load was over before $1 were: give it more seconds"
		return 1
	fi
	k wait --for=jsonpath='{.status.phase}'=Succeeded pod/mesh-soak --timeout=900s || {
		k logs mesh-soak
		return 1
	}
	say "$1: $(k logs mesh-soak | tail -1)"
}

rolled() {
	local program
	for program in "${programs[@]}"; do
		k rollout status "deployment/mesh-$program" --timeout=300s >/dev/null
	done
}

soak "${SOAK_SECONDS:-300}"
sleep 5
h upgrade mesh "$chart" "${values[@]}" --set global.logLevel=warn --wait --timeout 5m
say 'upgraded: every pod is a new one'
h rollback mesh --wait --timeout 5m
say 'rolled back'
soaked 'upgrade and rollback'

soak "${SOAK_SECONDS:-420}"
sleep 5
for program in "${programs[@]}"; do
	for pod in $(k get pods -l "app.kubernetes.io/name=$program" --field-selector status.phase=Running -o jsonpath='{.items[*].metadata.name}'); do
		until printf '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"%s","namespace":"%s"}}' "$pod" "$namespace" |
			kubectl create --raw "/api/v1/namespaces/$namespace/pods/$pod/eviction" -f - >/dev/null 2>&1; do
			k get pod "$pod" >/dev/null 2>&1 || break # gone already
			sleep 1                                   # another one is not back yet
		done
	done
	rolled
	say "evicted: all pods of $program"
done
soaked 'evictions'
h test mesh --timeout 3m
say 'all is well'
