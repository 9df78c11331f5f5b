package temporald_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/dev/temporald"
	"longhaul/internal/test"
)

func TestStart_runsWorkflowsInMemory(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.DebugLevel)
	s := start(t, temporald.Config{Log: zap.New(core)})
	c := connect(t, s)
	serve(t, c)

	run := test.Value(c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: queue}, greet, "you"))(t)
	test.Is(t, "the result", "hello you", result(t, run))
	for _, e := range logs.FilterLevelExact(zap.InfoLevel).All() {
		t.Errorf("the server logged below warning: %s", e.Message)
	}
	if n := logs.FilterMessageSnippet("HTTP API port").Len(); n > 0 {
		t.Error("the server logged a warning that every start has")
	}
}

func TestStart_resumesAfterRestart(t *testing.T) {
	t.Parallel()
	cfg := temporald.Config{Dir: filepath.Join(t.TempDir(), "a [dir]? 100%41 #1")}
	s := start(t, cfg)
	c := connect(t, s)
	w := serve(t, c)
	test.Value(c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "waits", TaskQueue: queue}, wait))(t)
	eventually(t, func() error { // stopped in the middle of a workflow task, it would resume after that task's timeout
		d, err := c.DescribeWorkflowExecution(t.Context(), "waits", "")
		if err == nil && d.WorkflowExecutionInfo.HistoryLength < 4 {
			err = errors.New("the first workflow task is not completed")
		}
		return err
	})
	w.Stop()
	c.Close()
	test.OK(t, s.Stop())

	c = connect(t, start(t, cfg))
	serve(t, c)
	test.OK(t, c.SignalWorkflow(t.Context(), "waits", "", answer, "yes"))
	test.Is(t, "the result", "yes", result(t, c.GetWorkflow(t.Context(), "waits", "")))
}

func TestStart_stopsAndStartsAgain(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"memory", "file"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			first := start(t, temporald.Config{UIAddr: "127.0.0.1:0"})
			cfg := temporald.Config{Addr: first.Addr(), UIAddr: strings.TrimPrefix(first.UIURL(), "http://")}
			if mode == "file" {
				cfg.Dir = t.TempDir()
			}
			test.OK(t, first.Stop())
			for range 3 {
				s := start(t, cfg)
				test.Equal(t, "addresses", []string{cfg.Addr, "http://" + cfg.UIAddr}, []string{s.Addr(), s.UIURL()})
				for range 2 {
					test.OK(t, s.Stop())
				}
			}
		})
	}
}

func TestStart_refusesBadConfig(t *testing.T) {
	t.Parallel()
	tests := []struct {
		cfg  temporald.Config
		want string // in the error
	}{
		{temporald.Config{Addr: "0.0.0.0:0"}, "--temporal-addr 0.0.0.0:0: the embedded Temporal has no authentication"},
		{temporald.Config{Addr: ":7233"}, "only listens on loopback; use 127.0.0.1:7233"},
		{temporald.Config{Addr: "example.com:7233"}, "only listens on loopback"},
		{temporald.Config{Addr: "7233"}, "--temporal-addr: want host:port"},
		{temporald.Config{UIAddr: "192.0.2.1:8233"}, "--temporal-ui-addr 192.0.2.1:8233: the embedded Temporal has no authentication"},
		{temporald.Config{Sync: "off"}, `sync "off"`},
		{temporald.Config{Retention: time.Minute}, "retention of 1m0s"},
		{temporald.Config{SearchAttributes: attributes{"WorkflowId": keyword}}, "belongs to Temporal"},
	}
	for _, tt := range tests {
		refused(t, tt.cfg, tt.want)
	}
}

func TestStart_namesBusyAddress(t *testing.T) {
	t.Parallel()
	l := test.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	busy := l.Addr().String()
	refused(t, temporald.Config{Addr: busy}, busy, "in use", "choose another with --temporal-addr")
	refused(t, temporald.Config{UIAddr: busy}, busy, "in use", "choose another with --temporal-ui-addr")
}

func TestStart_endsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cfg := temporald.Config{Dir: t.TempDir()}
	if s, err := temporald.Start(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Fatalf("Start = %v, %v; want it canceled", s, err)
	}
	start(t, cfg) // the failed start must leave nothing behind
}

func TestStart_updatesExistingNamespace(t *testing.T) {
	t.Parallel()
	cfg := temporald.Config{
		Dir:              t.TempDir(),
		Namespace:        "longhaul",
		Retention:        48 * time.Hour,
		SearchAttributes: attributes{"Tenant": keyword},
	}
	test.OK(t, start(t, cfg).Stop())
	cfg.Retention = 720 * time.Hour
	cfg.SearchAttributes = attributes{"Cost": number, "Added": keyword}
	s := start(t, cfg)
	c := connect(t, s, cfg.Namespace)

	// All of them at once, and right after Start.
	_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "marked", TaskQueue: queue,
		TypedSearchAttributes: temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword("Tenant").ValueSet("acme"),
			temporal.NewSearchAttributeKeyKeyword("Added").ValueSet("x"),
			temporal.NewSearchAttributeKeyInt64("Cost").ValueSet(7),
		)}, wait)
	if err != nil {
		t.Fatalf("start with search attributes: %v", err)
	}
	eventually(t, func() error {
		found, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Query: `Tenant = "acme" AND Added = "x" AND Cost > 6`})
		if err == nil && len(found.Executions) != 1 {
			err = fmt.Errorf("found %v, want one workflow", found.Executions)
		}
		return err
	})

	ns := test.Value(c.WorkflowService().DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: cfg.Namespace}))(t)
	test.Is(t, "retention", cfg.Retention, ns.Config.WorkflowExecutionRetentionTtl.AsDuration())

	test.OK(t, s.Stop())
	cfg.SearchAttributes = attributes{"Tenant": number}
	refused(t, cfg, "search attribute Tenant: is a Keyword already")
}

func TestServer_UIURL(t *testing.T) {
	t.Parallel()
	s := start(t, temporald.Config{UIAddr: "localhost:0"})
	for path, want := range map[string]string{
		"/":                    "<html",
		"/api/v1/namespaces":   `"name": "default"`,
		"/api/v1/settings":     `"DisableNewsFetch":true`,
		"/namespaces/default/": "<html",
	} {
		res := test.Value(http.Get(s.UIURL() + path))(t)
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		test.OK(t, err)
		if res.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("GET %s = %s, without %s: %.200s", path, res.Status, want, body)
		}
	}
	for host, want := range map[string]int{"localhost:8233": 200, "127.0.0.1:1": 200, "[::1]": 200, "evil.example:8233": 421, "localhost.evil.example": 421} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.UIURL()+"/api/v1/namespaces", nil)
		req.Host = host
		res := test.Value(http.DefaultClient.Do(req))(t)
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("host %s: %s, want %d", host, res.Status, want)
		}
	}
	test.Is(t, "UIURL without UI", "", start(t, temporald.Config{}).UIURL())
}

func TestTuneGC(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	for env, want := range map[string]int{"50": 100, "": 200} { // the runtime read the variable long ago
		debug.SetGCPercent(100)
		t.Setenv("GOGC", env)
		temporald.TuneGC()
		test.Is(t, fmt.Sprintf("GOGC=%q: percent", env), want, debug.SetGCPercent(100))
	}
}

const (
	queue  = "test"
	answer = "answer"

	keyword = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	number  = enumspb.INDEXED_VALUE_TYPE_INT
)

type attributes = map[string]enumspb.IndexedValueType

func greet(_ workflow.Context, name string) (string, error) { return "hello " + name, nil }

// wait returns the value of its signal.
func wait(ctx workflow.Context) (got string, err error) {
	workflow.GetSignalChannel(ctx, answer).Receive(ctx, &got)
	return got, nil
}

// start starts a server that is stopped with the test. What it logs is shown
// when the test fails.
func start(t *testing.T, cfg temporald.Config) *temporald.Server {
	t.Helper()
	if cfg.Log == nil {
		core, logs := observer.New(zap.DebugLevel)
		cfg.Log = zap.New(core)
		t.Cleanup(func() {
			for _, e := range logs.All() {
				if t.Failed() {
					t.Log(e.Level, e.Message, e.ContextMap())
				}
			}
		})
	}
	s, err := temporald.Start(t.Context(), cfg)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	t.Cleanup(func() {
		test.OK(t, s.Stop())
	})
	return s
}

// refused checks that Start fails with an error that says all of wants.
func refused(t *testing.T, cfg temporald.Config, wants ...string) {
	t.Helper()
	s, err := temporald.Start(t.Context(), cfg)
	if err == nil {
		s.Stop()
		t.Fatalf("Start = nil error, want one that says %q", wants)
	}
	for _, want := range wants {
		test.Contains(t, "Start", want, err.Error())
	}
}

func connect(t *testing.T, s *temporald.Server, namespace ...string) client.Client {
	t.Helper()
	c := test.Value(client.Dial(client.Options{HostPort: s.Addr(), Namespace: strings.Join(namespace, ""), Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))}))(t)
	t.Cleanup(c.Close)
	return c
}

// serve runs a worker for the workflows of this file.
func serve(t *testing.T, c client.Client) worker.Worker {
	t.Helper()
	w := worker.New(c, queue, worker.Options{})
	w.RegisterWorkflow(greet)
	w.RegisterWorkflow(wait)
	test.OK(t, w.Start())
	t.Cleanup(w.Stop)
	return w
}

func result(t *testing.T, run client.WorkflowRun) (got string) {
	t.Helper()
	test.OK(t, run.Get(t.Context(), &got))
	return got
}

// eventually waits until f returns nil.
func eventually(t *testing.T, f func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for err := f(); err != nil; err = f() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal(err)
		}
	}
}
