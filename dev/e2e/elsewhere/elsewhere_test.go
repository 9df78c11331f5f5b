// Package elsewhere_test runs the API and workers as separate processes against a
// Temporal as operators run it: on PostgreSQL, behind mutual TLS, reached through a
// profile.
package elsewhere_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"longhaul/dev/e2e/cluster"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

const (
	week   = 7 * 24 * time.Hour
	within = time.Minute
)

// attributes are those that docs/deploy.md has operators add.
var attributes = []string{"LonghaulContextId", "LonghaulName", "LonghaulObjectiveId", "LonghaulState", "LonghaulTenant"}

func TestElsewhere(t *testing.T) {
	c := cluster.Start(t)
	c.Grant("writer-key", "writer")
	c.Grant("reader-key", "reader")
	for name, run := range map[string]func(*testing.T, *cluster.Cluster){
		"an objective with a gate":          testGate,
		"search attributes are missing":     testAttributes,
		"the retention is short":            testRetention,
		"the namespace does not exist":      testNamespace,
		"a worker creates the namespace":    testCreate,
		"the server is not trusted":         testTrust,
		"a certificate is missing":          testCertificate,
		"the key may only read":             testReader,
		"the key is replaced":               testRotation,
		"the certificate is being replaced": testRenewal,
		"variables precede the profile":     testVariables,
	} {
		t.Run(name, func(t *testing.T) { run(t, c) })
	}
}

// A deployment is an installation whose processes find Temporal through a profile.
type deployment struct {
	*harness.Site
	t       *testing.T
	file    string
	profile map[string]string // "" leaves a setting out
}

// deploy returns a deployment with a profile that works, for a namespace.
func deploy(t *testing.T, c *cluster.Cluster, namespace string) *deployment {
	t.Helper()
	cert, key := c.Certificate(t, "longhaul")
	d := &deployment{Site: harness.NewSite(t, harness.Dev), t: t, file: filepath.Join(t.TempDir(), "temporal.toml"), profile: map[string]string{
		"address": c.Addr, "namespace": namespace, "api_key": "writer-key",
		"tls.server_ca_cert_path": c.CA, "tls.client_cert_path": cert, "tls.client_key_path": key,
	}}
	d.TemporalAddr = ""
	d.Env = []string{"TEMPORAL_CONFIG_FILE=" + d.file, "TEMPORAL_PROFILE=prod"}
	d.write(1)
	return d
}

// write writes the file of the profile, which then changed at a time.
func (d *deployment) write(at int64) {
	d.t.Helper()
	text := "[profile.prod]\n"
	for _, name := range []string{"address", "namespace", "api_key", "tls.server_ca_cert_path", "tls.client_cert_path", "tls.client_key_path"} {
		if value := d.profile[name]; value != "" {
			text += fmt.Sprintf("%s = %q\n", name, value)
		}
	}
	test.OK(d.t, os.WriteFile(d.file, []byte(text), 0o600))
	test.OK(d.t, os.Chtimes(d.file, time.Unix(at, 0), time.Unix(at, 0)))
}

// begin begins an objective that waits at a gate.
func (d *deployment) begin(id string) *harness.Task {
	d.t.Helper()
	task, err := d.Client().Send(d.t.Context(), harness.Message{ID: id, Text: "x", Plan: harness.NewPlan("plan", "say first", "approve Go on?; say second"), Wait: true})
	if err != nil || task.State != "INPUT_REQUIRED" || task.Gate == nil {
		d.t.Fatalf("the task is %+v, %v", task, err)
	}
	return task
}

// works runs an objective with a gate to its end, and returns its id.
func (d *deployment) works(id string) string {
	d.t.Helper()
	ctx, task := d.t.Context(), d.begin(id)
	follower := d.Client().Follow(ctx, task.ID, 0)
	d.Client().MustSend(ctx, d.t, harness.Reply(id+"-reply", task.ID, task.Gate.ID, "accept"))
	test.OK(d.t, test.Err(follower.UntilState(ctx, "COMPLETED")))
	return task.ID
}

// says waits until a process has logged texts.
func (d *deployment) says(p *harness.Process, texts ...string) {
	d.t.Helper()
	for _, text := range texts {
		harness.Eventually(d.t, within, p.Command+" logs "+text, func() error { return p.Logged(text) })
	}
}

// refuses starts a command, which has to end with these texts.
func (d *deployment) refuses(command string, env []string, texts ...string) {
	d.t.Helper()
	p := d.Launch(command, env...)
	if !p.AwaitEnd(within) {
		d.t.Errorf("%s does not end", command)
	}
	log := harness.ReadFile(d.t, p.LogPath)
	for _, text := range texts {
		if !strings.Contains(string(log), text) {
			d.t.Errorf("%s does not say %q:\n%s", command, text, log)
		}
	}
}

// finds waits until a query finds a number of workflows.
func finds(t *testing.T, c *cluster.Cluster, namespace, query string, want int64) {
	t.Helper()
	harness.Eventually(t, within, query+" finds workflows", func() error {
		got, err := c.Count(t, namespace, query)
		if err == nil && got != want {
			err = fmt.Errorf("it finds %d, want %d", got, want)
		}
		return err
	})
}

func testGate(t *testing.T, c *cluster.Cluster) {
	c.Namespace(t, "work", week, attributes...)
	d := deploy(t, c, "work")
	worker, api := d.Start(harness.Worker), d.Start(harness.API)
	id := d.works("gate")
	finds(t, c, "work", "LonghaulTenant = 'default' AND LonghaulState = 'completed' AND LonghaulObjectiveId = '"+id+"'", 1)
	finds(t, c, "work", "LonghaulObjectiveId = '"+id+"'", 2)
	for _, p := range []*harness.Process{worker, api} {
		if p.Logged("search attributes") == nil || p.Logged("shorter time") == nil {
			t.Errorf("%v warns although nothing is missing", p)
		}
	}
	api.Stop()
	worker.Stop()
}

// Without search attributes all work is done, and terminated work is closed. When they
// exist, a restart of the API uses them.
func testAttributes(t *testing.T, c *cluster.Cluster) {
	c.Namespace(t, "bare", week, "LonghaulState")
	d := deploy(t, c, "bare")
	worker, api := d.Start(harness.Worker), d.Start(harness.API)
	run := "temporal operator search-attribute create --namespace bare --name LonghaulContextId --type Keyword" +
		" --name LonghaulName --type Keyword --name LonghaulObjectiveId --type Keyword --name LonghaulTenant --type Keyword --profile prod"
	d.says(worker, run)
	d.says(api, run)
	id, lost := d.works("before"), d.begin("lost").ID
	api.Stop() // it would close the lost one
	c.Terminate(t, "bare", lost)
	d.Run("journal", "close", lost, "--data-dir", d.Dir)
	api = d.Start(harness.API)
	if task, err := d.Client().Follow(t.Context(), lost, 0).UntilState(t.Context(), "FAILED"); err != nil {
		t.Errorf("after its workflow was closed, the task is %+v, %v", task, err)
	}
	c.AddAttributes(t, "bare", "LonghaulContextId", "LonghaulName", "LonghaulObjectiveId", "LonghaulTenant")
	api.Stop()
	api = d.Start(harness.API)
	finds(t, c, "bare", "WorkflowId = '"+id+"' AND LonghaulState IS NULL", 1)
	finds(t, c, "bare", "LonghaulObjectiveId = '"+d.works("after")+"'", 2)
	api.Stop()
	worker.Stop()
}

func testRetention(t *testing.T, c *cluster.Cluster) {
	c.Namespace(t, "short", 24*time.Hour, attributes...)
	d := deploy(t, c, "short")
	d.says(d.Start(harness.Worker), "shorter time than --ttl", "temporal operator namespace update --namespace short --retention 168h --profile prod")
	d.Start(harness.API)
	d.works("short")
}

func testNamespace(t *testing.T, c *cluster.Cluster) {
	d := deploy(t, c, "nowhere")
	for _, command := range []string{harness.Worker, harness.API} {
		d.refuses(command, nil, "namespace nowhere (from profile prod in "+d.file+")", "does not exist",
			"temporal operator namespace create --namespace nowhere --retention 168h --profile prod", "--create-namespace")
	}
	test.Fails(t, "the namespace was created", "", test.Err(c.Describe(t, "nowhere")))
}

func testCreate(t *testing.T, c *cluster.Cluster) {
	c.Grant("admin-key", "admin")
	d := deploy(t, c, "created")
	d.profile["api_key"] = "admin-key"
	d.write(1)
	d.Start(harness.Worker, "LONGHAUL_CREATE_NAMESPACE=true", "LONGHAUL_TTL=48h")
	d.Start(harness.API)
	finds(t, c, "created", "LonghaulObjectiveId = '"+d.works("created")+"'", 2)
	found, err := c.Describe(t, "created")
	if got := found.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(); got != 48*time.Hour || err != nil {
		t.Errorf("the new namespace keeps workflows for %v, %v; want 48h", got, err)
	}
}

func testTrust(t *testing.T, c *cluster.Cluster) {
	c.Namespace(t, "trust", week)
	d := deploy(t, c, "trust")
	d.profile["tls.server_ca_cert_path"] = cluster.NewAuthority(t, t.TempDir(), "other").File
	d.write(1)
	for _, command := range []string{harness.Worker, harness.API} {
		d.refuses(command, nil, "Temporal at "+c.Addr+" (from profile prod in "+d.file+")", "no TLS connection", "certificate signed by unknown authority", "tls.server_ca_cert_path")
	}
}

func testCertificate(t *testing.T, c *cluster.Cluster) {
	d := deploy(t, c, "trust")
	d.profile["tls.client_cert_path"], d.profile["tls.client_key_path"] = "", ""
	d.write(1)
	for _, command := range []string{harness.Worker, harness.API} {
		d.refuses(command, nil, "no TLS connection", "certificate required", "TEMPORAL_TLS_CLIENT_CERT_PATH")
	}
	d.profile["tls.server_ca_cert_path"], d.profile["api_key"] = "", ""
	d.write(1)
	d.refuses(harness.Worker, []string{"LONGHAUL_TEMPORAL_WAIT=3s"}, "no success within 3s", "if the server needs TLS, set TEMPORAL_TLS=true")
}

func testReader(t *testing.T, c *cluster.Cluster) {
	c.Namespace(t, "read", week, attributes...)
	d := deploy(t, c, "read")
	for key, doing := range map[string]string{"reader-key": "write to namespace read", "unknown-key": "read namespace read"} {
		d.profile["api_key"] = key
		d.write(1)
		for _, command := range []string{harness.Worker, harness.API} {
			d.refuses(command, nil, doing, "not allowed by Temporal", "use credentials that may read and write in it")
		}
	}
}

// A new API key in the profile is used without a restart.
func testRotation(t *testing.T, c *cluster.Cluster) {
	c.Namespace(t, "rotate", week, attributes...)
	c.Grant("first-key", "writer")
	d := deploy(t, c, "rotate")
	d.profile["api_key"] = "first-key"
	d.write(1)
	d.Start(harness.Worker)
	d.Start(harness.API)
	d.works("first")
	c.Grant("second-key", "writer")
	d.profile["api_key"] = "second-key"
	d.write(2)
	d.works("both")
	c.Grant("first-key", "")
	d.works("second")
}

// While the files of the certificate do not match, open connections stay, and the
// last certificate counts.
func testRenewal(t *testing.T, c *cluster.Cluster) {
	c.Namespace(t, "renew", week, attributes...)
	d := deploy(t, c, "renew")
	expired, key := d.profile["tls.client_cert_path"], d.profile["tls.client_key_path"]
	worker := d.Start(harness.Worker)
	d.Start(harness.API)
	for path, with := range map[string]string{expired: "not a certificate", key: "not a key"} {
		test.OK(t, os.WriteFile(path, []byte(with), 0o600))
	}
	d.works("kept")
	worker.Stop()
	d.refuses(harness.Worker, nil, "failed loading client cert/key path")
}

// TEMPORAL_NAMESPACE precedes the profile, and --namespace precedes both.
func testVariables(t *testing.T, c *cluster.Cluster) {
	d := deploy(t, c, "nowhere")
	d.refuses(harness.API, []string{"TEMPORAL_NAMESPACE=other"}, "namespace other (from TEMPORAL_NAMESPACE)")
	d.refuses(harness.API, []string{"TEMPORAL_NAMESPACE=other", "LONGHAUL_NAMESPACE=own"}, "namespace own (from namespace)")
}
