package metrics_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"longhaul/internal/metrics"
	"longhaul/internal/test"
)

// scrape returns the lines of a scrape that begin with prefix.
func scrape(t *testing.T, m *metrics.Metrics, prefix string) (lines []string) {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("the scrape fails: %d %s", w.Code, w.Body)
	}
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, prefix) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

func TestMetrics(t *testing.T) {
	m := metrics.New("v1")
	m.Called("SendMessage", "jsonrpc", "ok", time.Second)
	m.Called("SubscribeToTask", "jsonrpc", "ok", 0)
	m.Streaming(2)
	m.Streaming(-1)
	m.Answered("approval", time.Hour)
	m.Ran("echo", "completed", time.Minute)
	m.Running("echo", 1)
	m.Waiting("echo", 3)
	m.Moved("working")
	m.Recorded(time.Second, errors.New("locked"))
	m.Committed(3, time.Second, nil)
	m.Committed(1, 2*time.Second, errors.New("locked"))
	m.Notified()
	m.Looked(false)
	m.Looked(true)
	m.Pushed("503", time.Second)
	for prefix, want := range map[string][]string{
		"longhaul_build_info": {`longhaul_build_info{version="v1"} 1`},
		"longhaul_requests_total": {
			`longhaul_requests_total{binding="jsonrpc",operation="SendMessage",outcome="ok"} 1`,
			`longhaul_requests_total{binding="jsonrpc",operation="SubscribeToTask",outcome="ok"} 1`,
		},
		"longhaul_request_duration_seconds_count": {`longhaul_request_duration_seconds_count{binding="jsonrpc",operation="SendMessage"} 1`},
		"longhaul_streams":                        {"longhaul_streams 1"},
		"longhaul_gate_wait_seconds_sum":          {`longhaul_gate_wait_seconds_sum{kind="approval"} 3600`},
		"longhaul_task_run_seconds_sum":           {`longhaul_task_run_seconds_sum{executor="echo",outcome="completed"} 60`},
		"longhaul_executor_":                      {`longhaul_executor_running{executor="echo"} 1`, `longhaul_executor_waiting{executor="echo"} 3`},
		"longhaul_task_moves_total":               {`longhaul_task_moves_total{state="working"} 1`},
		"longhaul_record_seconds_sum":             {`longhaul_record_seconds_sum{outcome="failed"} 1`},
		"longhaul_journal_commit_seconds_sum": {
			`longhaul_journal_commit_seconds_sum{outcome="failed"} 2`, `longhaul_journal_commit_seconds_sum{outcome="ok"} 1`,
		},
		"longhaul_journal_commit_writes_sum":   {"longhaul_journal_commit_writes_sum 3"},
		"longhaul_journal_notifications_total": {"longhaul_journal_notifications_total 1"},
		"longhaul_journal_looks_total":         {`longhaul_journal_looks_total{outcome="missed"} 1`, `longhaul_journal_looks_total{outcome="nothing"} 1`},
		"longhaul_push_attempts_total":         {`longhaul_push_attempts_total{outcome="503"} 1`},
		"longhaul_push_attempt_seconds_sum":    {"longhaul_push_attempt_seconds_sum 1"},
	} {
		test.Equal(t, prefix, want, scrape(t, m, prefix))
	}
}

// The SDK uses one name with several sets of labels.
func TestMetrics_Temporal(t *testing.T) {
	m := metrics.New("v1")
	h := m.Temporal().WithTags(map[string]string{"namespace": "default"})
	h.Counter("temporal_request").Inc(2)
	h.WithTags(map[string]string{"operation": "Poll"}).Counter("temporal_request").Inc(3)
	m.Temporal().Gauge("temporal_num_pollers").Update(4)
	h.Timer("temporal_request_latency").Record(time.Second)
	want := []string{
		"temporal_num_pollers 4",
		`temporal_request_latency_seconds_sum{namespace="default"} 1`,
		`temporal_request_total{namespace="default"} 2`,
		`temporal_request_total{namespace="default",operation="Poll"} 3`,
	}
	var got []string
	for _, line := range scrape(t, m, "temporal_") {
		if !strings.Contains(line, "_bucket") && !strings.Contains(line, "_count") {
			got = append(got, line)
		}
	}
	test.Equal(t, "metrics", want, got)
}

// Gauges that are read are read once in a while, and are missing when that fails.
func TestMetrics_Add(t *testing.T) {
	m := metrics.New("v1")
	reads := 0
	m.Add(metrics.Reading{Name: "tasks", Help: "h", Label: "state", Every: time.Hour, Read: func(context.Context) (map[string]float64, error) {
		reads++
		return map[string]float64{"working": 2, "submitted": 1}, nil
	}})
	m.Add(metrics.Reading{Name: "broken", Help: "h", Read: func(context.Context) (map[string]float64, error) { return nil, errors.New("locked") }})
	for range 2 {
		want := []string{`longhaul_tasks{state="submitted"} 1`, `longhaul_tasks{state="working"} 2`}
		test.Equal(t, "metrics", want, scrape(t, m, "longhaul_tasks"))
	}
	if got := scrape(t, m, "longhaul_broken"); reads != 1 || got != nil {
		t.Errorf("read %d times, want once; of a broken one: %q", reads, got)
	}
}
