{{- define "redis.selector" -}}
app.kubernetes.io/name: redis
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "redis.labels" -}}
{{ include "redis.selector" . }}
app.kubernetes.io/part-of: patient-mesh
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 }}
{{- end }}

{{- define "redis.config" -}}
maxmemory {{ .Values.maxMemory }}
maxmemory-policy noeviction
appendonly {{ .Values.persistence.enabled | ternary "yes" "no" }}
appendfsync everysec
save ""
dir /data
{{- end }}
