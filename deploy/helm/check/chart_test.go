// Package check_test renders the Helm chart with Helm's own engine, and checks what
// comes out against the types of Kubernetes and of KEDA, and with -apiserver by a server
// of Kubernetes. It is a module of its own: these dependencies take two minutes to build.
package check_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// least are the values without which nothing is rendered.
const least = `
image: {repository: registry.example.com/longhaul, tag: 0.1.0}
publicURL: https://agent.example.com
journal: {existingSecret: longhaul-journal}
secretKeys: {existingSecret: longhaul-keys}
temporal: {address: "temporal-frontend.temporal:7233"}
`

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load("../longhaul")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// render renders the chart with the least values and more.
func render(t *testing.T, more string) (map[string]string, error) {
	t.Helper()
	c := load(t)
	values := map[string]any{}
	for _, text := range []string{least, more} {
		var layer map[string]any
		if err := yaml.Unmarshal([]byte(text), &layer); err != nil {
			t.Fatal(err)
		}
		values = chartutil.CoalesceTables(layer, values)
	}
	all, err := chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{Name: "prod", Namespace: "agents", IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	return engine.Render(c, all)
}

// objects are the rendered objects, by kind and name.
type objects map[string]any

// scaledObject is KEDA's ScaledObject, as far as the chart uses it.
type scaledObject struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		ScaleTargetRef  struct{ Name string } `json:"scaleTargetRef"`
		MinReplicaCount int32                 `json:"minReplicaCount"`
		MaxReplicaCount int32                 `json:"maxReplicaCount"`
		PollingInterval int32                 `json:"pollingInterval"`
		CooldownPeriod  int32                 `json:"cooldownPeriod"`
		Triggers        []struct {
			Type              string                `json:"type"`
			Metadata          map[string]string     `json:"metadata"`
			AuthenticationRef struct{ Name string } `json:"authenticationRef"`
		} `json:"triggers"`
	} `json:"spec"`
}

// triggerAuthentication is KEDA's TriggerAuthentication, as far as the chart uses it.
type triggerAuthentication struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		SecretTargetRef []struct{ Parameter, Name, Key string } `json:"secretTargetRef"`
	} `json:"spec"`
}

// custom is an object of another project, as far as the chart uses it.
type custom[T any] struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name        string            `json:"name"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec T `json:"spec"`
}

// routeSpec is that of an HTTPRoute of the Gateway API.
type routeSpec struct {
	ParentRefs []struct{ Name, Namespace string } `json:"parentRefs"`
	Hostnames  []string                           `json:"hostnames"`
	Rules      []struct {
		BackendRefs []struct {
			Name string `json:"name"`
			Port int32  `json:"port"`
		} `json:"backendRefs"`
		Timeouts struct {
			Request string `json:"request"`
		} `json:"timeouts"`
	} `json:"rules"`
}

// monitorSpec is that of a ServiceMonitor of Prometheus's operator.
type monitorSpec struct {
	JobLabel string `json:"jobLabel"`
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	Endpoints []struct{ Port, Path, Interval string } `json:"endpoints"`
}

// ruleSpec is that of a PrometheusRule.
type ruleSpec struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []struct {
			Alert       string            `json:"alert"`
			Expr        string            `json:"expr"`
			For         string            `json:"for"`
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"rules"`
	} `json:"groups"`
}

// admit checks the objects of one rendering by a server of Kubernetes, if there is one.
var admit = func(*testing.T, []string) {}

// kinds are the types of what the chart renders.
func kinds(kind string) any {
	switch kind {
	case "apps/v1 Deployment":
		return &appsv1.Deployment{}
	case "v1 Service":
		return &corev1.Service{}
	case "v1 ServiceAccount":
		return &corev1.ServiceAccount{}
	case "policy/v1 PodDisruptionBudget":
		return &policyv1.PodDisruptionBudget{}
	case "autoscaling/v2 HorizontalPodAutoscaler":
		return &autoscalingv2.HorizontalPodAutoscaler{}
	case "batch/v1 Job":
		return &batchv1.Job{}
	case "networking.k8s.io/v1 NetworkPolicy":
		return &networkingv1.NetworkPolicy{}
	case "v1 ConfigMap":
		return &corev1.ConfigMap{}
	case "networking.k8s.io/v1 Ingress":
		return &networkingv1.Ingress{}
	case "gateway.networking.k8s.io/v1 HTTPRoute":
		return &custom[routeSpec]{}
	case "monitoring.coreos.com/v1 ServiceMonitor":
		return &custom[monitorSpec]{}
	case "monitoring.coreos.com/v1 PrometheusRule":
		return &custom[ruleSpec]{}
	case "keda.sh/v1alpha1 ScaledObject":
		return &scaledObject{}
	case "keda.sh/v1alpha1 TriggerAuthentication":
		return &triggerAuthentication{}
	}
	return nil
}

// rendered renders the chart and reads every object strictly: a field that its type
// does not have fails the test.
func rendered(t *testing.T, more string) objects {
	t.Helper()
	files, err := render(t, more)
	if err != nil {
		t.Fatal(err)
	}
	found := objects{}
	var texts []string
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(file, ".yaml") {
			continue
		}
		for text := range strings.SplitSeq("\n"+files[file], "\n---") {
			if strings.TrimSpace(text) == "" {
				continue
			}
			var head struct {
				APIVersion, Kind string
				Metadata         struct{ Name string }
			}
			if err := yaml.Unmarshal([]byte(text), &head); err != nil {
				t.Fatalf("%s: %v\n%s", file, err, text)
			}
			object := kinds(head.APIVersion + " " + head.Kind)
			if object == nil {
				t.Fatalf("%s: no type for %s %s", file, head.APIVersion, head.Kind)
			}
			if err := yaml.UnmarshalStrict([]byte(text), object); err != nil {
				t.Errorf("%s: %v\n%s", file, err, text)
			}
			name := head.Kind + " " + head.Metadata.Name
			if found[name] != nil {
				t.Errorf("%s is there twice", name)
			}
			found[name] = object
			texts = append(texts, text)
		}
	}
	admit(t, texts)
	return found
}

// get returns an object, which has to be there.
func get[T any](t *testing.T, all objects, name string) T {
	t.Helper()
	object, ok := all[name].(T)
	if !ok {
		t.Fatalf("no %s: %v", name, slices.Sorted(maps.Keys(all)))
	}
	return object
}

// variable returns a variable of the first container of a deployment.
func variable(d *appsv1.Deployment, name string) *corev1.EnvVar {
	for _, e := range d.Spec.Template.Spec.Containers[0].Env {
		if e.Name == name {
			return &e
		}
	}
	return &corev1.EnvVar{}
}

func TestChart_least(t *testing.T) {
	all := rendered(t, "")
	want := []string{
		"Deployment prod-longhaul-api", "Deployment prod-longhaul-worker", "Job prod-longhaul-migrate", "NetworkPolicy prod-longhaul-api",
		"NetworkPolicy prod-longhaul-worker", "PodDisruptionBudget prod-longhaul-api", "PodDisruptionBudget prod-longhaul-worker",
		"Service prod-longhaul-api", "ServiceAccount prod-longhaul",
	}
	if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
		t.Errorf("rendered %v, want %v", got, want)
	}
	for _, name := range []string{"api", "worker"} {
		d := get[*appsv1.Deployment](t, all, "Deployment prod-longhaul-"+name)
		c := d.Spec.Template.Spec.Containers[0]
		if c.Image != "registry.example.com/longhaul:0.1.0" || !slices.Equal(c.Args, []string{name}) || *d.Spec.Replicas != 2 {
			t.Errorf("%s runs %d times %s %v", name, *d.Spec.Replicas, c.Image, c.Args)
		}
		if c.ReadinessProbe.HTTPGet.Path != map[string]string{"api": "/readyz?part=journal", "worker": "/readyz"}[name] || c.LivenessProbe.HTTPGet.Path != "/healthz" || c.StartupProbe == nil {
			t.Errorf("%s has the probes %v %v", name, c.ReadinessProbe, c.LivenessProbe)
		}
		if !*c.SecurityContext.ReadOnlyRootFilesystem || !*d.Spec.Template.Spec.SecurityContext.RunAsNonRoot || *d.Spec.Template.Spec.AutomountServiceAccountToken {
			t.Errorf("%s may do too much: %v", name, c.SecurityContext)
		}
	}
	api := get[*appsv1.Deployment](t, all, "Deployment prod-longhaul-api")
	if got := variable(api, "LONGHAUL_HOSTS").Value; !strings.HasPrefix(got, "prod-longhaul-api,") || !strings.HasSuffix(got, ".svc.cluster.local") {
		t.Errorf("hosts %q", got)
	}
	if got := variable(api, "LONGHAUL_AUTH").Value; got != "keys" {
		t.Errorf("the API accepts %q", got)
	}
	job := get[*batchv1.Job](t, all, "Job prod-longhaul-migrate")
	if got := job.Annotations["helm.sh/hook"]; got != "pre-install,pre-upgrade" {
		t.Errorf("the migration runs at %q", got)
	}
}

// Everything secret comes from Secrets that exist.
func TestChart_secrets(t *testing.T) {
	all := rendered(t, `
payloadKeys: {existingSecret: longhaul-payload}
temporal:
  apiKey: {existingSecret: temporal-key}
  tls: {enabled: true, existingSecret: temporal-tls, mutual: true, serverName: temporal.example.com}
worker: {keda: {enabled: true}}
`)
	for _, name := range []string{"api", "worker"} {
		d := get[*appsv1.Deployment](t, all, "Deployment prod-longhaul-"+name)
		for variableName, secret := range map[string]string{
			"LONGHAUL_JOURNAL": "longhaul-journal", "LONGHAUL_SECRET_KEYS": "longhaul-keys", "LONGHAUL_PAYLOAD_KEYS": "longhaul-payload", "TEMPORAL_API_KEY": "temporal-key",
		} {
			from := variable(d, variableName).ValueFrom
			if from == nil || from.SecretKeyRef == nil || from.SecretKeyRef.Name != secret {
				t.Errorf("%s has %s from %v, want the secret %s", name, variableName, from, secret)
			}
		}
		if got := variable(d, "TEMPORAL_TLS_CLIENT_KEY_PATH").Value; got != "/etc/longhaul/temporal/tls.key" {
			t.Errorf("%s reads its key from %q", name, got)
		}
	}
	auth := get[*triggerAuthentication](t, all, "TriggerAuthentication prod-longhaul-temporal")
	var parameters []string
	for _, r := range auth.Spec.SecretTargetRef {
		parameters = append(parameters, r.Parameter)
	}
	if want := []string{"apiKey", "ca", "cert", "key"}; !slices.Equal(parameters, want) {
		t.Errorf("KEDA gets %v, want %v", parameters, want)
	}
}

// scalerKeys are the settings that the temporal scaler of KEDA 2.21 reads.
var scalerKeys = []string{
	"endpoint", "namespace", "activationTargetQueueSize", "targetQueueSize", "taskQueue", "queueTypes", "workerDeploymentName", "workerDeploymentBuildId",
	"includeRunningWorkflowCount", "workflowTaskQueueForCount", "minConnectTimeout", "enableTLS", "unsafeSsl", "tlsServerName",
}

func TestChart_versions(t *testing.T) {
	all := rendered(t, `
image: {tag: 0.2.0}
worker:
  deployment: {name: longhaul, previous: [{tag: 0.1.0, replicas: 1}]}
  keda: {enabled: true}
`)
	for version, name := range map[string]string{"0.2.0": "prod-longhaul-worker-0-2-0", "0.1.0": "prod-longhaul-worker-0-1-0"} {
		d := get[*appsv1.Deployment](t, all, "Deployment "+name)
		if got := variable(d, "LONGHAUL_BUILD_ID").Value; got != version {
			t.Errorf("%s has the build id %q", name, got)
		}
		if got := d.Spec.Template.Spec.Containers[0].Image; !strings.HasSuffix(got, ":"+version) {
			t.Errorf("%s runs %s", name, got)
		}
		if d.Spec.Replicas != nil {
			t.Errorf("%s has %d replicas, which KEDA sets", name, *d.Spec.Replicas)
		}
		for label, value := range d.Spec.Selector.MatchLabels {
			if d.Spec.Template.Labels[label] != value {
				t.Errorf("%s does not select its pods by %s=%s", name, label, value)
			}
		}
		s := get[*scaledObject](t, all, "ScaledObject "+name)
		if s.Spec.ScaleTargetRef.Name != name || len(s.Spec.Triggers) != 3 {
			t.Errorf("the scaler of %s is %+v", name, s.Spec)
		}
		if got := s.Spec.Triggers[0].Metadata["workerDeploymentBuildId"]; got != version {
			t.Errorf("%s scales by the queue of version %q", name, got)
		}
		for _, trigger := range s.Spec.Triggers {
			for key := range trigger.Metadata {
				if !slices.Contains(scalerKeys, key) {
					t.Errorf("KEDA does not know %s", key)
				}
			}
		}
	}
	one := get[*appsv1.Deployment](t, all, "Deployment prod-longhaul-worker-0-1-0")
	if one.Spec.Selector.MatchLabels["longhaul.dev/build"] != "0-1-0" {
		t.Errorf("the versions select the same pods: %v", one.Spec.Selector)
	}
}

// Kubernetes gives a worker more time to stop than it takes.
func TestChart_grace(t *testing.T) {
	d := get[*appsv1.Deployment](t, rendered(t, "worker: {stopAfterSeconds: 600}"), "Deployment prod-longhaul-worker")
	if got := *d.Spec.Template.Spec.TerminationGracePeriodSeconds; got != 630 || variable(d, "LONGHAUL_STOP_AFTER").Value != "600s" {
		t.Errorf("a worker stops within %s and is killed after %ds", variable(d, "LONGHAUL_STOP_AFTER").Value, got)
	}
}

func TestChart_options(t *testing.T) {
	all := rendered(t, `
api: {autoscaling: {enabled: true}, grpc: false, auth: [oidc, keys], oidc: {issuer: "https://id.example.com", audience: longhaul}, env: {LONGHAUL_MAX_PLANS: 5}}
env: {LONGHAUL_PLAYBOOKS: /etc/longhaul/playbooks}
volumes: [{name: playbooks, configMap: {name: playbooks}}]
volumeMounts: [{name: playbooks, mountPath: /etc/longhaul/playbooks}]
networkPolicy:
  apiFrom: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ingress}}}]
  opsFrom: [{podSelector: {matchLabels: {app: prometheus}}}]
  egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8}}]}]
serviceAccount: {create: false}
migrate: {enabled: false}
`)
	api := get[*appsv1.Deployment](t, all, "Deployment prod-longhaul-api")
	if api.Spec.Replicas != nil || variable(api, "LONGHAUL_AUTH").Value != "oidc,keys" || variable(api, "LONGHAUL_MAX_PLANS").Value != "5" || variable(api, "LONGHAUL_GRPC_ADDR").Value != "" {
		t.Errorf("the API is %+v", api.Spec)
	}
	for _, d := range []string{"api", "worker"} {
		deployment := get[*appsv1.Deployment](t, all, "Deployment prod-longhaul-"+d)
		if variable(deployment, "LONGHAUL_PLAYBOOKS").Value != "/etc/longhaul/playbooks" || len(deployment.Spec.Template.Spec.Volumes) != 3 {
			t.Errorf("%s has no playbooks", d)
		}
		policy := get[*networkingv1.NetworkPolicy](t, all, "NetworkPolicy prod-longhaul-"+d)
		if len(policy.Spec.Egress) != 1 || len(policy.Spec.PolicyTypes) != 2 {
			t.Errorf("%s may connect to %v", d, policy.Spec.Egress)
		}
	}
	if all["ServiceAccount prod-longhaul"] != nil || all["Job prod-longhaul-migrate"] != nil {
		t.Error("a part that is switched off is there")
	}
	get[*autoscalingv2.HorizontalPodAutoscaler](t, all, "HorizontalPodAutoscaler prod-longhaul-api")
}

// Wrong values are refused with their names.
func TestChart_refusals(t *testing.T) {
	for more, want := range map[string]string{
		`publicURL: agent.example.com`:                                      "publicURL",
		`journal: {existingSecret: ""}`:                                     "existingSecret",
		`journal: {password: x}`:                                            "password",
		`temporal: {address: temporal}`:                                     "address",
		`temporal: {tls: {mutual: true}}`:                                   "tls",
		`playbooks: {release: "name: a"}`:                                   "'release'",
		`files: {channels: "x"}`:                                            "channels",
		`worker: {queues: [{queue: pull, replicas: 1}]}`:                    "queues",
		`httpRoute: {enabled: true}`:                                        "httpRoute.parentRefs",
		`worker: {replica: 3}`:                                              "replica",
		`worker: {stopAfterSeconds: 60, terminationGracePeriodSeconds: 60}`: "terminationGracePeriodSeconds",
		`worker: {deployment: {previous: [{tag: "1", replicas: 1}]}}`:       "worker.deployment.name",
		`env: {LONGHAUL_SECRET_KEYS: x}`:                                    "LONGHAUL_SECRET_KEYS",
		`api: {auth: [oidc]}`:                                               "api.oidc.issuer",
		`api: {auth: []}`:                                                   "auth",
	} {
		if _, err := render(t, more); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error that names %s", more, err, want)
		}
	}
	c := load(t)
	if _, err := chartutil.ToRenderValues(c, map[string]any{}, chartutil.ReleaseOptions{Name: "x", Namespace: "x"}, nil); err == nil {
		t.Error("the chart renders without values")
	}
}

// The notes say what to do next.
func TestChart_notes(t *testing.T) {
	files, err := render(t, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"http://prod-longhaul-api.agents:80", "-- /longhaul keys create first", "networkPolicy.opsFrom"} {
		if !strings.Contains(files["longhaul/templates/NOTES.txt"], want) {
			t.Errorf("the notes have no %q:\n%s", want, files["longhaul/templates/NOTES.txt"])
		}
	}
}

// Files in the values reach API and workers, whose pods are replaced when they change.
func TestChart_files(t *testing.T) {
	const files = `
front: writers
playbooks: {release.yaml: "name: release\n"}
files: {agents: "agents: {}\n", models: "models: {}\n", triggers: "triggers: []\n", calendars: "calendars: {}\n"}
`
	all := rendered(t, files)
	if got := get[*corev1.ConfigMap](t, all, "ConfigMap prod-longhaul-playbooks").Data; len(got) != 1 || got["release.yaml"] != "name: release\n" {
		t.Errorf("the playbooks are %q", got)
	}
	if got := get[*corev1.ConfigMap](t, all, "ConfigMap prod-longhaul-files").Data; len(got) != 4 || got["agents.yaml"] != "agents: {}\n" {
		t.Errorf("the files are %q", got)
	}
	for _, name := range []string{"api", "worker"} {
		d := get[*appsv1.Deployment](t, all, "Deployment prod-longhaul-"+name)
		for variableName, want := range map[string]string{
			"LONGHAUL_FRONT": "writers", "LONGHAUL_PLAYBOOKS": "/etc/longhaul/playbooks",
			"LONGHAUL_AGENTS": "/etc/longhaul/files/agents.yaml", "LONGHAUL_MODELS": "/etc/longhaul/files/models.yaml", "LONGHAUL_TRIGGERS": "/etc/longhaul/files/triggers.yaml",
			"LONGHAUL_CALENDARS": "/etc/longhaul/files/calendars.yaml",
		} {
			if got := variable(d, variableName).Value; got != want {
				t.Errorf("%s has %s=%q, want %q", name, variableName, got, want)
			}
		}
		mounts := map[string]string{}
		for _, m := range d.Spec.Template.Spec.Containers[0].VolumeMounts {
			mounts[m.Name] = m.MountPath
		}
		if mounts["playbooks"] != "/etc/longhaul/playbooks" || mounts["files"] != "/etc/longhaul/files" || len(d.Spec.Template.Spec.Volumes) != len(mounts) {
			t.Errorf("%s mounts %v", name, mounts)
		}
		changed := get[*appsv1.Deployment](t, rendered(t, strings.Replace(files, "release\\n", "other\\n", 1)), "Deployment prod-longhaul-"+name)
		before, after := d.Spec.Template.Annotations, changed.Spec.Template.Annotations
		if before["longhaul.dev/files"] == after["longhaul.dev/files"] || before["longhaul.dev/secrets"] != after["longhaul.dev/secrets"] {
			t.Errorf("%s has the annotations %v, and %v after a change of a playbook", name, before, after)
		}
	}
}

// Clients come by an Ingress or a route, at the host of the public URL.
func TestChart_routes(t *testing.T) {
	all := rendered(t, `
publicURL: https://agent.example.com:8443/base
ingress: {enabled: true, className: nginx, tlsSecret: agent-tls, annotations: {nginx.ingress.kubernetes.io/proxy-buffering: "off"}}
httpRoute: {enabled: true, parentRefs: [{name: public, namespace: gateways}]}
`)
	in := get[*networkingv1.Ingress](t, all, "Ingress prod-longhaul-api")
	backend := in.Spec.Rules[0].HTTP.Paths[0].Backend.Service
	if in.Spec.Rules[0].Host != "agent.example.com" || in.Spec.TLS[0].Hosts[0] != "agent.example.com" || *in.Spec.IngressClassName != "nginx" || backend.Name != "prod-longhaul-api" || backend.Port.Name != "http" {
		t.Errorf("the ingress is %+v", in.Spec)
	}
	route := get[*custom[routeSpec]](t, all, "HTTPRoute prod-longhaul-api").Spec
	if route.Hostnames[0] != "agent.example.com" || route.ParentRefs[0].Name != "public" || route.Rules[0].BackendRefs[0].Port != 80 || route.Rules[0].Timeouts.Request != "0s" {
		t.Errorf("the route is %+v", route)
	}
}

// Prometheus finds API and workers, and gets the alerts of deploy/prometheus.
func TestChart_monitoring(t *testing.T) {
	all := rendered(t, "monitoring: {enabled: true, labels: {release: prometheus}}")
	monitor, service := get[*custom[monitorSpec]](t, all, "ServiceMonitor prod-longhaul"), get[*corev1.Service](t, all, "Service prod-longhaul-ops")
	for label, value := range monitor.Spec.Selector.MatchLabels {
		if service.Labels[label] != value {
			t.Errorf("the monitor does not select the service by %s=%s", label, value)
		}
	}
	if service.Labels[monitor.Spec.JobLabel] != "longhaul" || monitor.Metadata.Labels["release"] != "prometheus" || monitor.Spec.Endpoints[0].Port != service.Spec.Ports[0].Name {
		t.Errorf("the monitor is %+v", monitor)
	}
	for _, name := range []string{"api", "worker"} {
		pods := get[*appsv1.Deployment](t, all, "Deployment prod-longhaul-"+name).Spec.Template.Labels
		for label, value := range service.Spec.Selector {
			if pods[label] != value {
				t.Errorf("the service does not select %s by %s=%s", name, label, value)
			}
		}
	}
	var alerts []string
	for _, r := range get[*custom[ruleSpec]](t, all, "PrometheusRule prod-longhaul").Spec.Groups[0].Rules {
		alerts = append(alerts, r.Alert)
	}
	if len(alerts) < 10 || !slices.Contains(alerts, "LonghaulQuestionsWait") {
		t.Errorf("the alerts are %v", alerts)
	}
}

// A queue may have workers of its own. The others are served by the workers that remain, and each by
// those of every version.
func TestChart_queues(t *testing.T) {
	all := rendered(t, `
worker:
  queues: [{queue: push, replicas: 1}]
  deployment: {name: longhaul, previous: [{tag: 0.0.9, replicas: 3}]}
  keda: {enabled: true}
`)
	selectors := map[string]bool{}
	for name, want := range map[string]string{
		"prod-longhaul-worker-0-1-0": "work,record", "prod-longhaul-worker-push-0-1-0": "push", "prod-longhaul-worker-0-0-9": "work,record", "prod-longhaul-worker-push-0-0-9": "push",
	} {
		d := get[*appsv1.Deployment](t, all, "Deployment "+name)
		selectors[d.Spec.Selector.String()] = true
		if got := variable(d, "LONGHAUL_QUEUES").Value; got != want {
			t.Errorf("%s serves %q, want %q", name, got, want)
		}
		if n := len(get[*scaledObject](t, all, "ScaledObject "+name).Spec.Triggers); n != strings.Count(want, ",")+1 {
			t.Errorf("%s scales by %d queues", name, n)
		}
	}
	if len(selectors) != 4 {
		t.Errorf("workers select the pods of others: %v", slices.Sorted(maps.Keys(selectors)))
	}
	d := get[*appsv1.Deployment](t, rendered(t, "worker: {replicas: 5, queues: [{queue: push, replicas: 1}]}"), "Deployment prod-longhaul-worker-push")
	if *d.Spec.Replicas != 1 {
		t.Errorf("%d workers serve the queue", *d.Spec.Replicas)
	}
}
