{{- define "firsthand.name" -}}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{- end }}
{{- define "firsthand.image" -}}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{- end }}
{{- define "firsthand.labels" -}}
app.kubernetes.io/name: firsthand
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
{{/* The container that every deployment runs. Called with root, roles and resources. */}}
{{- define "firsthand.container" -}}
- name: firsthand
  image: {{ include "firsthand.image" .root }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  env:
    - { name: ROLES, value: {{ .roles | quote }} }
    - { name: METRICS_PORT, value: "9090" }
    - { name: DRAIN_DELAY, value: {{ .root.Values.drainDelay | quote }} }
    {{- with .root.Values.baseUrl }}
    - { name: BASE_URL, value: {{ . | quote }} }
    {{- end }}
    {{- with .root.Values.ingestUrl }}
    - { name: INGEST_URL, value: {{ . | quote }} }
    {{- end }}
    {{- if eq .root.Values.mode "cluster" }}
    - { name: NATS_REPLICAS, value: {{ .root.Values.cluster.natsReplicas | quote }} }
    {{- end }}
    {{- range $name, $value := .root.Values.settings }}
    - { name: {{ $name }}, value: {{ $value | quote }} }
    {{- end }}
  {{- with .root.Values.existingSecret }}
  envFrom:
    - secretRef: { name: {{ . }} }
  {{- end }}
  ports:
    - { name: http, containerPort: 8080 }
    - { name: metrics, containerPort: 9090 }
  startupProbe: { httpGet: { path: /healthz, port: http }, periodSeconds: 2, failureThreshold: 60 }
  livenessProbe: { httpGet: { path: /healthz, port: http }, periodSeconds: 10, timeoutSeconds: 3 }
  readinessProbe: { httpGet: { path: /readyz, port: http }, periodSeconds: 2, failureThreshold: 1 }
  securityContext:
    readOnlyRootFilesystem: true
    allowPrivilegeEscalation: false
    runAsNonRoot: true
    runAsUser: 1000
    capabilities: { drop: [ALL] }
  resources: {{- toYaml .resources | nindent 4 }}
  volumeMounts:
    - { name: data, mountPath: /data }
    - { name: tmp, mountPath: /tmp }
{{- end }}
