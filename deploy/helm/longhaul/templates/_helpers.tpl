{{- define "longhaul.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "longhaul.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "longhaul.labels" -}}
{{ include "longhaul.selector" . }}
app.kubernetes.io/version: {{ include "longhaul.tag" .root | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | quote }}
{{- end }}

{{- define "longhaul.tag" -}}
{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "longhaul.image" -}}
{{ printf "%s:%s" .Values.image.repository (include "longhaul.tag" .) | quote }}
{{- end }}

{{- define "longhaul.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "longhaul.name" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- /* The Deployments of workers, the current version first: a list of tag, buildID, replicas, serves, which has queues,
and suffix, which follows the name. A queue of worker.queues has workers of its own. */}}
{{- define "longhaul.workers" -}}
{{- $tag := include "longhaul.tag" . }}
{{- $all := list }}
{{- with .Values.worker }}
{{- $others := list "work" "record" "push" }}
{{- range .queues }}
{{- $others = without $others .queue }}
{{- end }}
{{- $versions := list (dict "tag" $tag "buildID" (.deployment.buildID | default $tag) "replicas" .replicas "queues" .queues) }}
{{- range .deployment.previous }}
{{- $replicas := .replicas }}
{{- $queues := list }}
{{- range $.Values.worker.queues }}
{{- $queues = append $queues (dict "queue" .queue "replicas" $replicas) }}
{{- end }}
{{- $versions = append $versions (dict "tag" .tag "buildID" (.buildID | default .tag) "replicas" .replicas "queues" $queues) }}
{{- end }}
{{- $named := .deployment.name }}
{{- range $version := $versions }}
{{- $of := "" }}
{{- if $named }}
{{- $of = printf "-%s" (.buildID | lower | replace "." "-" | replace "_" "-" | replace "+" "-" | trunc 16 | trimSuffix "-") }}
{{- end }}
{{- if $others }}
{{- $all = append $all (dict "tag" .tag "buildID" .buildID "build" (trimPrefix "-" $of) "replicas" .replicas "serves" $others "suffix" $of) }}
{{- end }}
{{- range .queues }}
{{- $all = append $all (dict "tag" $version.tag "buildID" $version.buildID "build" (trimPrefix "-" $of) "replicas" .replicas "serves" (list .queue) "suffix" (printf "-%s%s" .queue $of)) }}
{{- end }}
{{- end }}
{{- end }}
{{- $all | toJson }}
{{- end }}

{{- /* What tells the pods of one Deployment of workers from those of others. */}}
{{- define "longhaul.workerLabels" -}}
longhaul.dev/queues: {{ join "-" .serves }}
{{- with .build }}
longhaul.dev/build: {{ . | quote }}
{{- end }}
{{- end }}

{{- /* Pods are replaced when files of the values change, and at an upgrade after a Secret has changed. */}}
{{- define "longhaul.annotations" -}}
{{- $root := .root }}
{{- $secrets := list }}
{{- range $name := list $root.Values.journal.existingSecret $root.Values.secretKeys.existingSecret $root.Values.payloadKeys.existingSecret $root.Values.temporal.apiKey.existingSecret $root.Values.temporal.tls.existingSecret }}
{{- if $name }}
{{- $secrets = append $secrets ((lookup "v1" "Secret" $root.Release.Namespace $name).data | default dict) }}
{{- end }}
{{- end }}
longhaul.dev/secrets: {{ $secrets | toJson | sha256sum | trunc 16 | quote }}
longhaul.dev/files: {{ list $root.Values.playbooks $root.Values.files | toJson | sha256sum | trunc 16 | quote }}
{{- with .annotations }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "longhaul.secretEnv" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef: {name: {{ .from.existingSecret | quote }}, key: {{ .from.key | quote }}}
{{- end }}

{{- /* The journal, which the migration needs, too. */}}
{{- define "longhaul.journalEnv" -}}
{{ include "longhaul.secretEnv" (dict "name" "LONGHAUL_JOURNAL" "from" .Values.journal) }}
- {name: LONGHAUL_LOG_FORMAT, value: json}
{{- end }}

{{- /* What API and workers have in common. */}}
{{- define "longhaul.env" -}}
{{ include "longhaul.journalEnv" . }}
{{ include "longhaul.secretEnv" (dict "name" "LONGHAUL_SECRET_KEYS" "from" .Values.secretKeys) }}
{{- if .Values.payloadKeys.existingSecret }}
{{ include "longhaul.secretEnv" (dict "name" "LONGHAUL_PAYLOAD_KEYS" "from" .Values.payloadKeys) }}
{{- end }}
- {name: LONGHAUL_PUBLIC_URL, value: {{ .Values.publicURL | quote }}}
- {name: LONGHAUL_OPS_ADDR, value: "0.0.0.0:9420"}
- {name: LONGHAUL_TEMPORAL_ADDR, value: {{ .Values.temporal.address | quote }}}
- {name: LONGHAUL_NAMESPACE, value: {{ .Values.temporal.namespace | quote }}}
{{- with .Values.temporal }}
{{- if .apiKey.existingSecret }}
{{ include "longhaul.secretEnv" (dict "name" "TEMPORAL_API_KEY" "from" .apiKey) }}
{{- end }}
{{- if .tls.enabled }}
- {name: TEMPORAL_TLS, value: "true"}
{{- if .tls.serverName }}
- {name: TEMPORAL_TLS_SERVER_NAME, value: {{ .tls.serverName | quote }}}
{{- end }}
{{- if .tls.existingSecret }}
- {name: TEMPORAL_TLS_SERVER_CA_CERT_PATH, value: /etc/longhaul/temporal/ca.crt}
{{- if .tls.mutual }}
- {name: TEMPORAL_TLS_CLIENT_CERT_PATH, value: /etc/longhaul/temporal/tls.crt}
- {name: TEMPORAL_TLS_CLIENT_KEY_PATH, value: /etc/longhaul/temporal/tls.key}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.front }}
- {name: LONGHAUL_FRONT, value: {{ . | quote }}}
{{- end }}
{{- if .Values.playbooks }}
- {name: LONGHAUL_PLAYBOOKS, value: /etc/longhaul/playbooks}
{{- end }}
{{- range $name, $_ := .Values.files }}
- {name: LONGHAUL_{{ $name | upper }}, value: /etc/longhaul/files/{{ $name }}.yaml}
{{- end }}
{{- range $name, $value := .Values.env }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
{{- end }}

{{- /* The files in the values, by the name of their ConfigMap: the names of files with their texts. */}}
{{- define "longhaul.fileKinds" -}}
{{- $kinds := dict }}
{{- if .Values.playbooks }}
{{- $_ := set $kinds "playbooks" .Values.playbooks }}
{{- end }}
{{- if .Values.files }}
{{- $_ := set $kinds "files" .Values.files }}
{{- end }}
{{- $kinds | toJson }}
{{- end }}

{{- define "longhaul.volumeMounts" -}}
- {name: data, mountPath: /data}
- {name: tmp, mountPath: /tmp}
{{- if and .Values.temporal.tls.enabled .Values.temporal.tls.existingSecret }}
- {name: temporal-tls, mountPath: /etc/longhaul/temporal, readOnly: true}
{{- end }}
{{- range $kind, $_ := include "longhaul.fileKinds" . | fromJson }}
- {name: {{ $kind }}, mountPath: /etc/longhaul/{{ $kind }}, readOnly: true}
{{- end }}
{{- with .Values.volumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "longhaul.volumes" -}}
- {name: data, emptyDir: {}}
- {name: tmp, emptyDir: {}}
{{- if and .Values.temporal.tls.enabled .Values.temporal.tls.existingSecret }}
- name: temporal-tls
  secret: {secretName: {{ .Values.temporal.tls.existingSecret | quote }}}
{{- end }}
{{- range $kind, $_ := include "longhaul.fileKinds" . | fromJson }}
- name: {{ $kind }}
  configMap: {name: {{ include "longhaul.name" $ }}-{{ $kind }}}
{{- end }}
{{- with .Values.volumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The page for operators answers while a process starts and stops. */}}
{{- define "longhaul.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: ops}
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: ops}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: ops}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end }}

{{- define "longhaul.placement" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "longhaul.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "longhaul.selector" . | nindent 8 }}
{{- end }}
