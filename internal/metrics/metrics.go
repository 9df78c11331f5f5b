// Package metrics has the metrics of a process for Prometheus. docs/operations.md lists
// them. Labels have few values: no ids, no tenants, nothing that a client chooses.
package metrics

import (
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the metrics of one process. They are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	temporal *sdkMetrics

	requests        *prometheus.CounterVec
	requestDuration *prometheus.HistogramVec
	streams         prometheus.Gauge
	gateWait        *prometheus.HistogramVec
	exceeded        *prometheus.CounterVec

	taskDuration *prometheus.HistogramVec
	running      *prometheus.GaugeVec
	waiting      *prometheus.GaugeVec
	moves        *prometheus.CounterVec
	tokens       *prometheus.CounterVec
	cost         *prometheus.CounterVec
	models       modelNames
	recorded     *prometheus.HistogramVec

	commits       *prometheus.HistogramVec
	commitWrites  prometheus.Histogram
	notifications prometheus.Counter
	looks         *prometheus.CounterVec

	pushes       *prometheus.CounterVec
	pushDuration prometheus.Histogram
}

// Buckets in seconds.
var (
	fast = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}             // of requests and writes
	slow = []float64{.01, .05, .1, .5, 1, 5, 15, 60, 300, 900, 3600, 6 * 3600}                      // of tasks
	long = []float64{1, 10, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 86400, 3 * 86400, 7 * 86400.0} // of people
)

// groups are buckets for the writes of a transaction.
var groups = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256}

// New returns the metrics of a process of a version. The quotas are shown from the start.
func New(version string, quotas ...string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(), temporal: &sdkMetrics{},
		requests:        counters("requests_total", "Requests that were served.", "operation", "binding", "outcome"),
		requestDuration: histograms("request_duration_seconds", "Durations of requests, without streams.", fast, "operation", "binding"),
		streams:         prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + "streams", Help: "Event streams that are open."}),
		gateWait:        histograms("gate_wait_seconds", "From the question at a gate to the answer that closed it.", long, "kind"),
		exceeded:        counters("quota_exceeded_total", "Requests that were refused, and tasks and notices that began to wait, for a quota of their tenant.", "quota"),
		taskDuration:    histograms("task_run_seconds", "Durations of runs of tasks in the executors of this worker.", slow, "executor", "outcome"),
		running:         gauges("executor_running", "Tasks that executors run.", "executor"),
		waiting:         gauges("executor_waiting", "Tasks that wait for the limit of their executor.", "executor"),
		moves:           counters("task_moves_total", "Moves of tasks that this worker has recorded, by the new state.", "state"),
		tokens:          counters("model_tokens_total", "Tokens of models whose use this process has recorded.", "model", "kind"),
		cost:            counters("model_cost_total", "Costs of models whose use this process has recorded, in the currency of the prices.", "model"),
		recorded:        histograms("record_seconds", "Durations of the recording of events in the journal.", fast, "outcome"),
		commits:         histograms("journal_commit_seconds", "Durations of the journal's transactions that write, with their wait for locks.", fast, "outcome"),
		commitWrites: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: prefix + "journal_commit_writes", Help: "Writes that the journal commits together.", Buckets: groups,
		}),
		notifications: prometheus.NewCounter(prometheus.CounterOpts{
			Name: prefix + "journal_notifications_total", Help: "Notifications by PostgreSQL about commits of all processes.",
		}),
		looks:  counters("journal_looks_total", "Looks for commits of other processes to watched objectives; missed: a commit had not been announced until then.", "outcome"),
		pushes: counters("push_attempts_total", "Attempts at deliveries to webhooks and mailboxes, by status or class of error.", "outcome"),
		pushDuration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: prefix + "push_attempt_seconds", Help: "Durations of attempts at deliveries.", Buckets: fast,
		}),
	}
	for _, outcome := range []string{lookNothing, lookMissed} { // alerts need a counter before the first look
		m.looks.WithLabelValues(outcome)
	}
	build := gauges("build_info", "Always 1; the label has the version.", "version")
	build.WithLabelValues(version).Set(1)
	for _, quota := range quotas {
		m.exceeded.WithLabelValues(quota)
	}
	m.registry.MustRegister(
		build, m.requests, m.requestDuration, m.streams, m.gateWait, m.exceeded, m.taskDuration, m.running, m.waiting, m.moves, m.tokens, m.cost, m.recorded,
		m.commits, m.commitWrites, m.notifications, m.looks, m.pushes, m.pushDuration,
		m.temporal, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

const prefix = "longhaul_"

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
}

func gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + name, Help: help}, labels)
}

func histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: buckets}, labels)
}

// Handler serves the metrics to Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// Called counts a request that took some time; zero for a stream, whose duration says
// nothing. operation is one of the table of operations, or "other".
func (m *Metrics) Called(operation, binding, outcome string, took time.Duration) {
	m.requests.WithLabelValues(operation, binding, outcome).Inc()
	if took > 0 {
		m.requestDuration.WithLabelValues(operation, binding).Observe(took.Seconds())
	}
}

// Streaming changes the number of open streams.
func (m *Metrics) Streaming(change int) { m.streams.Add(float64(change)) }

// Answered notes how long a gate has waited for the answer that closed it.
func (m *Metrics) Answered(kind string, waited time.Duration) {
	m.gateWait.WithLabelValues(kind).Observe(waited.Seconds())
}

// Exceeded counts a request that was refused, or a task or notice that waits, for a quota of its
// tenant.
func (m *Metrics) Exceeded(quota string) { m.exceeded.WithLabelValues(quota).Inc() }

// Ran notes a run of a task.
func (m *Metrics) Ran(executor, outcome string, took time.Duration) {
	m.taskDuration.WithLabelValues(executor, outcome).Observe(took.Seconds())
}

// Running changes the number of tasks that an executor runs.
func (m *Metrics) Running(executor string, change int) {
	m.running.WithLabelValues(executor).Add(float64(change))
}

// Waiting changes the number of tasks that wait for the limit of an executor.
func (m *Metrics) Waiting(executor string, change int) {
	m.waiting.WithLabelValues(executor).Add(float64(change))
}

// Moved counts a move of a task. One that is recorded again is counted again.
func (m *Metrics) Moved(state string) { m.moves.WithLabelValues(state).Inc() }

// mostModels is how many models have labels of their own: programs that work elsewhere name theirs.
const mostModels = 50

// modelNames are the models that have labels.
type modelNames struct {
	mu    sync.Mutex
	known map[string]bool
}

// label returns the label of a model, "other" for those after the first ones.
func (n *modelNames) label(model string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known == nil {
		n.known = map[string]bool{}
	}
	if !n.known[model] && len(n.known) == mostModels {
		return "other"
	}
	n.known[model] = true
	return model
}

// Used counts the use of a model; the cost is in millionths.
func (m *Metrics) Used(model string, input, output, cost int64) {
	model = m.models.label(model)
	m.tokens.WithLabelValues(model, "input").Add(float64(input))
	m.tokens.WithLabelValues(model, "output").Add(float64(output))
	m.cost.WithLabelValues(model).Add(float64(cost) / 1e6)
}

// Recorded notes a recording of events, and whether it failed.
func (m *Metrics) Recorded(took time.Duration, err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	m.recorded.WithLabelValues(outcome).Observe(took.Seconds())
}

// Committed notes a transaction of the journal.
func (m *Metrics) Committed(writes int, took time.Duration, err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	m.commits.WithLabelValues(outcome).Observe(took.Seconds())
	if err == nil {
		m.commitWrites.Observe(float64(writes))
	}
}

// Notified counts a notification about commits.
func (m *Metrics) Notified() { m.notifications.Inc() }

// The outcomes of looks.
const (
	lookNothing = "nothing"
	lookMissed  = "missed"
)

// Looked counts a look at the watched objectives, and whether it has found a commit that
// was not announced.
func (m *Metrics) Looked(missed bool) {
	outcome := lookNothing
	if missed {
		outcome = lookMissed
	}
	m.looks.WithLabelValues(outcome).Inc()
}

// Pushed notes an attempt at a delivery.
func (m *Metrics) Pushed(outcome string, took time.Duration) {
	m.pushes.WithLabelValues(outcome).Inc()
	m.pushDuration.Observe(took.Seconds())
}
