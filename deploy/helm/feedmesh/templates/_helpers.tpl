{{/* Labels of all objects; those of a group or of NATS add the component. */}}
{{- define "feedmesh.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* URLs of the three NATS servers. */}}
{{- define "feedmesh.nats" -}}
{{- $name := printf "%s-nats" .Release.Name -}}
{{- range $i := until 3 }}{{ if $i }},{{ end }}nats://{{ $name }}-{{ $i }}.{{ $name }}:4222{{ end -}}
{{- end }}

{{/* What every pod has: no root, no capability, a read-only root file system. */}}
{{- define "feedmesh.container" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* "true" if a role of the group needs the store or the index. */}}
{{- define "feedmesh.home" -}}
{{- range .roles }}{{ if not (has . (list "crawl" "prepare" "classify")) }}true{{ break }}{{ end }}{{ end -}}
{{- end }}
