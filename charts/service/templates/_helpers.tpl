{{/* The program's name. */}}
{{- define "service.program" -}}
{{ .Values.program | default .Chart.Name }}
{{- end }}

{{/* Name of all objects of a program: include "service.nameOf" (list $ "tenant"). */}}
{{- define "service.nameOf" -}}
{{ printf "%s-%s" (index . 0).Release.Name (index . 1) | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "service.name" -}}
{{ include "service.nameOf" (list . (include "service.program" .)) }}
{{- end }}

{{/* What tells the pods of a program apart; never changes. */}}
{{- define "service.selectorOf" -}}
app.kubernetes.io/name: {{ index . 1 }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
{{- end }}

{{- define "service.selector" -}}
{{ include "service.selectorOf" (list . (include "service.program" .)) }}
{{- end }}

{{- define "service.labels" -}}
{{ include "service.selector" . }}
app.kubernetes.io/part-of: patient-mesh
app.kubernetes.io/version: {{ include "service.tag" . | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 }}
{{- end }}

{{- define "service.tag" -}}
{{ .Values.image.tag | default .Values.global.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "service.image" -}}
{{- $repository := tpl (.Values.image.repository | default .Values.global.image.repository) . -}}
{{- with .Values.global.image.registry }}{{ trimSuffix "/" . }}/{{ end -}}
{{ $repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ include "service.tag" . }}{{ end }}
{{- end }}

{{/* Name of the headless Service, which resolves to every pod that is ready. */}}
{{- define "service.podsNameOf" -}}
{{ printf "%s-pods" (include "service.nameOf" . | trunc 58 | trimSuffix "-") }}
{{- end }}

{{/* What follows a Service's name in DNS. The last dot spares the resolver its search list. */}}
{{- define "service.domain" -}}
{{ .Release.Namespace }}.svc.{{ .Values.global.clusterDomain | default "cluster.local" }}.
{{- end }}

{{/* Host of a program for its callers: one address. */}}
{{- define "service.hostOf" -}}
{{ include "service.nameOf" . }}.{{ include "service.domain" (index . 0) }}
{{- end }}

{{/* The same for callers that want every pod's. */}}
{{- define "service.podsHostOf" -}}
dns:{{ include "service.podsNameOf" . }}.{{ include "service.domain" (index . 0) }}
{{- end }}

{{/* PEERS: whom this program calls, and where they are. All programs listen on the same port. */}}
{{- define "service.peers" -}}
{{- $peers := list -}}
{{- $host := eq .Values.global.discovery.kind "dns" | ternary "service.podsHostOf" "service.hostOf" -}}
{{- range index .Values.global.calls (include "service.program" .) -}}
{{- $peers = append $peers (printf "%s=%s:%v" . (include $host (list $ .)) $.Values.ports.http) -}}
{{- end -}}
{{ join ";" $peers }}
{{- end }}

{{/* Nine tenths of the limit: what is left is for stacks, buffers of the kernel, and the collector's lateness. */}}
{{- define "service.goMemLimit" -}}
{{- $limit := dig "limits" "memory" "" .Values.resources | toString -}}
{{- if hasSuffix "Gi" $limit -}}
{{ mulf (trimSuffix "Gi" $limit | float64) 1024 0.9 | floor | int64 }}MiB
{{- else if hasSuffix "Mi" $limit -}}
{{ mulf (trimSuffix "Mi" $limit | float64) 0.9 | floor | int64 }}MiB
{{- end -}}
{{- end }}

{{/* A value as it was written: a whole number from a file is a float64 here, which is printed as 2.097152e+08. */}}
{{- define "service.plain" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) -}}{{ printf "%.0f" . }}{{- else -}}{{ . }}{{- end -}}
{{- end }}

{{/* What every program is told, and what this one is. */}}
{{- define "service.env" -}}
LISTEN_ADDR: {{ printf ":%v" .Values.ports.http | quote }}
ENVIRONMENT: {{ .Values.global.environment | quote }}
LOG_LEVEL: {{ .Values.global.logLevel | quote }}
SHUTDOWN_DELAY: {{ printf "%vs" .Values.drain.delay | quote }}
SHUTDOWN_LIMIT: {{ printf "%vs" (sub .Values.drain.finish 15) | quote }}
{{- if ne .Values.global.discovery.kind "consul" }}
PEERS: {{ include "service.peers" . | quote }}
{{- end }}
{{- if ne (toString .Values.ports.metrics) (toString .Values.ports.http) }}
OPS_ADDR: {{ printf ":%v" .Values.ports.metrics | quote }}
{{- end }}
{{- with .Values.global.telemetry.endpoint }}
OTEL_EXPORTER_OTLP_ENDPOINT: {{ . | quote }}
{{- end }}
{{- with include "service.goMemLimit" . }}
GOMEMLIMIT: {{ . | quote }}
{{- end }}
{{- range $name, $value := merge (dict) .Values.env .Values.global.env }}
{{ $name }}: {{ tpl (include "service.plain" $value) $ | quote }}
{{- end }}
{{- end }}

{{/* Containers of the restricted Pod Security Standard. */}}
{{- define "service.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* The pod as whom the restricted Pod Security Standard lets it be. */}}
{{- define "service.podSecurity" -}}
runAsNonRoot: true
{{- with . }}
runAsUser: {{ int64 . }}
runAsGroup: {{ int64 . }}
fsGroup: {{ int64 . }}
fsGroupChangePolicy: OnRootMismatch
{{- end }}
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{/* NAME_FILE for each of the secrets: include "service.secretFiles" (dict "secrets" … "at" "/etc/…"). */}}
{{- define "service.secretFiles" -}}
{{- range $name := keys .secrets | sortAlpha }}
- name: {{ $name }}_FILE
  value: {{ $.at }}/{{ $name }}
{{- end }}
{{- end }}

{{/* A volume of Secrets' keys under names of our own: include "service.secretVolume" (dict "root" $ "name" … "items" …). */}}
{{- define "service.secretVolume" -}}
- name: {{ .name }}
  projected:
    defaultMode: 0440
    sources:
      {{- range $name := keys .items | sortAlpha }}
      {{- $from := get $.items $name }}
      - secret:
          name: {{ tpl $from.secret $.root }}
          items: [{key: {{ $from.key }}, path: {{ $name }}}]
      {{- end }}
{{- end }}

{{/* Nothing, unless the bounds of what scales contradict each other. */}}
{{- define "service.checkBounds" -}}
{{- if gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas) -}}
{{- printf "%s.autoscaling: minReplicas %v is more than maxReplicas %v" (include "service.program" .) .Values.autoscaling.minReplicas .Values.autoscaling.maxReplicas | fail -}}
{{- end -}}
{{- end }}

{{/* What the pod knows of itself. */}}
{{- define "service.podEnv" -}}
- name: POD_NAME
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
- name: OTEL_RESOURCE_ATTRIBUTES
  value: k8s.namespace.name={{ .Release.Namespace }},k8s.pod.name=$(POD_NAME),service.instance.id=$(POD_NAME)
{{- if eq .Values.global.discovery.kind "consul" }}
- name: POD_IP
  valueFrom: {fieldRef: {fieldPath: status.podIP}}
- name: HOST_IP
  valueFrom: {fieldRef: {fieldPath: status.hostIP}}
- name: ADVERTISE_ADDR
  value: $(POD_IP):{{ .Values.ports.http }}
- name: CONSUL_HTTP_ADDR
  value: {{ .Values.global.discovery.consul.address | quote }}
- name: ZONE # a label that Kubernetes 1.35 copies from the node; empty before
  valueFrom: {fieldRef: {fieldPath: "metadata.labels['topology.kubernetes.io/zone']"}}
{{- end }}
{{- end }}

{{/* All secrets that are mounted for the program: its own and those of all. */}}
{{- define "service.allSecrets" -}}
{{ merge (dict) .Values.secrets .Values.global.secrets | toJson }}
{{- end }}

{{- define "service.allFiles" -}}
{{ merge (dict) .Values.files .Values.global.files | toJson }}
{{- end }}

{{/* The rule of a NetworkPolicy for DNS, by UDP and TCP. */}}
{{- define "service.egressDNS" -}}
{{- $dns := dig "dns" dict .Values.global.outside -}}
- ports:
    {{- range $dns.ports | default (list 53) }}
    - {port: {{ . }}, protocol: UDP}
    - {port: {{ . }}, protocol: TCP}
    {{- end }}
  {{- with $dns.to }}
  to: {{- tpl (toYaml .) $ | nindent 4 }}
  {{- end }}
{{- end }}

{{/* One rule of a NetworkPolicy for what lies outside: include "service.egressTo" (list $ "redis"). */}}
{{- define "service.egressTo" -}}
{{- $root := index . 0 -}}
{{- $outside := index $root.Values.global.outside (index . 1) | required (printf "%s is reached and not in global.outside" (index . 1)) -}}
- ports:
    {{- range $outside.ports }}
    - {port: {{ . }}, protocol: TCP}
    {{- end }}
  {{- with $outside.to }}
  to: {{- tpl (toYaml .) $root | nindent 4 }}
  {{- end }}
{{- end }}
