{{/* Labels of what belongs to the mesh and to no program. */}}
{{- define "mesh.labels" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/part-of: patient-mesh
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 }}
{{- end }}

{{- define "mesh.programs" -}}
gateway identity tenant patient attachment matching
{{- end }}

{{/* Every Secret that is named anywhere, and its keys, as JSON: {"keys": {"secret": ["key", …]}}. */}}
{{- define "mesh.secretsNamed" -}}
{{- $all := list (.Values.global.secrets | default dict) (.Values.global.files | default dict) -}}
{{- range splitList " " (include "mesh.programs" .) -}}
{{- $program := index $.Values . -}}
{{- $all = concat $all (list $program.secrets $program.files) -}}
{{- if $program.migrate.enabled -}}
{{- $all = append $all $program.migrate.secrets -}}
{{- end -}}
{{- end -}}
{{- if and .Values.test.enabled .Values.externalSecrets.test -}}
{{- $all = append $all (dict "API_KEY" .Values.test.apiKey) -}}
{{- end -}}
{{- $named := dict -}}
{{- range $refs := $all -}}
{{- range $ref := values $refs -}}
{{- $name := tpl $ref.secret $ -}}
{{- $_ := set $named $name (append (index $named $name | default list) $ref.key | uniq | sortAlpha) -}}
{{- end -}}
{{- end -}}
{{ $named | toJson }}
{{- end }}

{{/* A value of a Secret: what is there already, else the new one. include "mesh.kept" (list $ "secret" "key" new). */}}
{{- define "mesh.kept" -}}
{{- $root := index . 0 -}}
{{- $there := lookup "v1" "Secret" $root.Release.Namespace (index . 1) | default dict -}}
{{- with dig "data" (index . 2) "" $there -}}{{ b64dec . }}{{- else -}}{{ index $ 3 }}{{- end -}}
{{- end }}

{{/* A group of rules for the mesh of this namespace alone, without those of a collector that nobody named. The files know of one mesh: a Prometheus of many gets each its own. */}}
{{- define "mesh.ruleGroup" -}}
{{- $namespace := .root.Release.Namespace -}}
{{- $collector := .root.Values.prometheusRule.collector -}}
{{- $rules := list -}}
{{- range $rule := .group.rules -}}
{{- if or $collector (not (contains "job=\"collector\"" $rule.expr)) -}}
{{- $expr := $rule.expr | replace "job=\"mesh\"" (printf "job=\"mesh\",namespace=%q" $namespace) | replace "job=\"collector\"" $collector -}}
{{- $_ := set $rule "expr" (regexReplaceAll "(slo:[a-z_]+:[a-z0-9_]+)" $expr (printf "${1}{namespace=%q}" $namespace)) -}}
{{- $_ := set $rule "labels" (merge (dict "namespace" $namespace) ($rule.labels | default dict)) -}}
{{- $rules = append $rules $rule -}}
{{- end -}}
{{- end -}}
{{- with $rules -}}
- {{- toYaml (set $.group "rules" .) | nindent 2 }}
{{- end -}}
{{- end }}

{{/* A dashboard for the mesh of this namespace alone, as its rules are: a Grafana may show many. Its file's name and uid are its own. */}}
{{- define "mesh.dashboard" -}}
{{- $namespace := .root.Release.Namespace -}}
{{- $here := printf `namespace=\"%s\"` $namespace -}}
{{- $text := .text | replace `job=\"mesh\"` (printf `job=\"mesh\",%s` $here) | replace `ALERTS{` (printf `ALERTS{%s,` $here) -}}
{{- $text = regexReplaceAll "(slo:[a-z_]+:[a-z0-9_]+)" $text (printf "${1}{%s}" $here) -}}
{{- $text = $text | replace `"uid": "prometheus"` (printf `"uid": %q` .root.Values.dashboards.datasource) -}}
{{- $dashboard := mustFromJson $text -}}
{{- $_ := set $dashboard "uid" (printf "%s-%s" $dashboard.uid $namespace | trunc 40) -}}
{{- $_ := set $dashboard "title" (printf "%s (%s)" $dashboard.title $namespace) -}}
{{- mustToJson $dashboard -}}
{{- end }}
