// Package observe_test tests what operators see of processes: traces, metrics, logs and
// readiness.
package observe_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
)

const within = 60 * time.Second

// traceID is the sender's.
const traceID = "0af7651916cd43dd8448eb211c80319c"

// tracing sends requests as part of a trace.
type tracing struct{ to http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (tr tracing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("traceparent", "00-"+traceID+"-b7ad6b7169203331-01")
	return tr.to.RoundTrip(r)
}

// A site whose messages are tasks for a web service, which keeps the traces that it
// receives.
func newSite(t *testing.T, to *receiver) (site *harness.Site, told chan string) {
	t.Helper()
	told = make(chan string, 9)
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told <- r.Header.Get("traceparent")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"state": "completed", "usage": {"model": "m", "inputTokens": 9, "cost": 0.5}}`)
	}))
	t.Cleanup(shop.Close)
	dir := t.TempDir()
	write := func(name, text string) string { return harness.WriteFile(t, dir, name, text) }
	books := write("playbook.yaml", `
name: shop
default: true
plans:
- name: Order
  tasks:
  - {name: Pack, executor: http, input: {endpoint: shop, data: {order: "{{.Message}}"}}}
`)
	endpoints := write("endpoints.yaml", fmt.Sprintf("endpoints: {shop: {url: '%s/tasks'}}\n", shop.URL))
	site = harness.NewSite(t, harness.Dev, "--playbooks", books, "--allow-private-egress", "--endpoints", endpoints, "--log-format=json", "--log-level=debug")
	site.Env = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + to.URL, "OTEL_BSP_SCHEDULE_DELAY=100"}
	return site, told
}

// One trace goes from the request of a client over the workflows and the activity to the
// request to the web service that does the task. The log of the request has its id, and
// the page for operators has the metrics of it all.
func TestObserve(t *testing.T) {
	t.Parallel()
	collector := newReceiver(t)
	site, told := newSite(t, collector)
	ops := harness.FreeAddr(t)
	process := site.Start(harness.AllInOne, "LONGHAUL_OPS_ADDR="+ops)
	c := site.Client()
	c.HTTP.Transport = tracing{c.HTTP.Transport}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	task := c.MustSendUntil(ctx, t, harness.Message{ID: "m", Text: "tea"})
	c.AwaitState(t, within, task.ID, "COMPLETED")
	outgoing := <-told
	if !strings.HasPrefix(outgoing, "00-"+traceID+"-") {
		t.Errorf("the web service got the trace %q, want %s", outgoing, traceID)
	}
	harness.Eventually(t, within, "the trace is whole", func() error {
		got := collector.trace(traceID)
		for _, want := range []string{"SendMessage", "RunWorkflow:Objective", "StartChildWorkflow:Plan", "RunWorkflow:Plan", "StartActivity:Run", "RunActivity:Run", "POST 127.0.0.1"} {
			if got[want] == nil {
				return fmt.Errorf("it has no span %s: %v", want, names(got))
			}
		}
		return nil
	})
	if err := process.Logged(`"traceId": "` + traceID); err != nil {
		if err := process.Logged(`"traceId":"` + traceID); err != nil {
			t.Errorf("the log does not have the trace of the request: %v", err)
		}
	}
	documented(t, scrape(t, ops))
	if code, body := harness.Get(t, "http://"+ops+"/readyz"); code != http.StatusOK || string(body) != `{"status":"ready","parts":{"disk":"ready","engine":"ready","journal":"ready"}}`+"\n" {
		t.Errorf("/readyz: %d %s", code, body)
	}
	process.Stop()
}

func names[V any](of map[string]V) (all []string) {
	for name := range of {
		all = append(all, name)
	}
	return all
}

// documented checks that a scrape has the metrics that docs/operations.md lists, except
// those that are only there after something that has not happened.
func documented(t *testing.T, scrape string) {
	t.Helper()
	docs := harness.ReadFile(t, "../../../docs/operations.md")
	rows := regexp.MustCompile("(?m)^\\| `((?:longhaul|temporal)_[a-z_]+)").FindAllStringSubmatch(string(docs), -1)
	if len(rows) < 15 {
		t.Fatalf("docs/operations.md lists %d metrics", len(rows))
	}
	for _, row := range rows {
		name := row[1]
		switch name {
		case "longhaul_gate_wait_seconds", "longhaul_executor_waiting", "longhaul_push_attempts_total", "temporal_activity_execution_failed_total", "temporal_workflow_task_execution_failed_total":
			continue // this run has no gate, no queue, no delivery and no failure
		case "temporal_activity_schedule_to_start_latency_seconds":
			continue // the SDK does not measure activities that Temporal hands over without a queue
		}
		if !regexp.MustCompile("(?m)^" + name + "(_count)?[ {]").MatchString(scrape) {
			t.Errorf("the scrape has no %s", name)
		}
	}
}

func scrape(t *testing.T, ops string) string {
	t.Helper()
	code, body := harness.Get(t, "http://"+ops+"/metrics")
	if code != http.StatusOK {
		t.Fatalf("/metrics: %d %s", code, body)
	}
	return string(body)
}
