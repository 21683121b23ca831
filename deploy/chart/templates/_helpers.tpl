{{- define "fanfold.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "fanfold.labels" -}}
app.kubernetes.io/name: fanfold
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "fanfold.pod" -}}
securityContext: { runAsNonRoot: true, runAsUser: 10001, runAsGroup: 10001, fsGroup: 10001, seccompProfile: { type: RuntimeDefault } }
volumes:
  - name: tmp
    emptyDir: {}
  - name: data
    {{- if .Values.server.storageClaim }}
    persistentVolumeClaim: { claimName: {{ .Values.server.storageClaim | quote }} }
    {{- else }}
    emptyDir: {}
    {{- end }}
{{- end -}}

{{- define "fanfold.container" -}}
image: {{ include "fanfold.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
envFrom:
  - secretRef: { name: {{ .Values.secret | quote }} }
env:
  - { name: FANFOLD_HOST, value: "0.0.0.0" }
  {{- range $name, $value := .Values.env }}
  - { name: {{ $name }}, value: {{ $value | quote }} }
  {{- end }}
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  - { name: data, mountPath: /data }
{{- end -}}
