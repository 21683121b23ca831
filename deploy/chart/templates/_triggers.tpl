{{- define "fanfold.triggers" -}}
- type: metrics-api
  metadata:
    url: "http://{{ .root.Release.Name }}.{{ .root.Release.Namespace }}/api/queues/demand?everybody=true&slots={{ .worker.slots }}{{ if .worker.types }}&types={{ .worker.types }}{{ end }}"
    valueLocation: wanted_workers
    targetValue: "1"
    authMode: bearer
  authenticationRef: { name: {{ .root.Release.Name }}-keda }
{{- end -}}
