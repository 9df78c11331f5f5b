package metrics

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/sdk/client"
)

// Temporal returns what gives the metrics of Temporal's SDK to Prometheus. Their names
// are the SDK's, with the endings that are usual in Prometheus: _total for
// counters and _seconds for timers.
func (m *Metrics) Temporal() client.MetricsHandler { return sdkHandler{m.temporal, nil} }

// sdkMetrics are the metrics of the SDK. One name may come with several sets of labels,
// so each set has its own vector, and the registry does not know them in advance.
type sdkMetrics struct {
	vectors sync.Map // of prometheus.Collector, by name and labels
}

// sdkHelp is the help of all metrics of the SDK.
const sdkHelp = "A metric of Temporal's SDK for Go."

// Describe implements [prometheus.Collector]: it describes nothing in advance.
func (*sdkMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (s *sdkMetrics) Collect(to chan<- prometheus.Metric) {
	s.vectors.Range(func(_, v any) bool {
		v.(prometheus.Collector).Collect(to)
		return true
	})
}

// An sdkHandler is the metrics with some labels.
type sdkHandler struct {
	to   *sdkMetrics
	tags map[string]string
}

// WithTags implements [client.MetricsHandler].
func (h sdkHandler) WithTags(tags map[string]string) client.MetricsHandler {
	all := maps.Clone(h.tags)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, tags)
	return sdkHandler{h.to, all}
}

// Counter implements [client.MetricsHandler].
func (h sdkHandler) Counter(name string) client.MetricsCounter {
	return sdkCounter{vector(h, name+"_total", func(name string, labels []string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: sdkHelp}, labels)
	}).With(h.tags)}
}

// Gauge implements [client.MetricsHandler].
func (h sdkHandler) Gauge(name string) client.MetricsGauge {
	return sdkGauge{vector(h, name, func(name string, labels []string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: sdkHelp}, labels)
	}).With(h.tags)}
}

// Timer implements [client.MetricsHandler].
func (h sdkHandler) Timer(name string) client.MetricsTimer {
	return sdkTimer{vector(h, name+"_seconds", func(name string, labels []string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: sdkHelp, Buckets: fast}, labels)
	}).With(h.tags)}
}

// vector returns the vector with a name and the labels of h, and makes it if it is
// missing.
func vector[V prometheus.Collector](h sdkHandler, name string, made func(name string, labels []string) V) V {
	var room [8]string // this is called several times for each request to Temporal
	labels := slices.AppendSeq(room[:0], maps.Keys(h.tags))
	slices.Sort(labels)
	key := name + " " + strings.Join(labels, " ")
	if v, ok := h.to.vectors.Load(key); ok {
		return v.(V)
	}
	v, _ := h.to.vectors.LoadOrStore(key, made(name, slices.Clone(labels)))
	return v.(V)
}

type sdkCounter struct{ to prometheus.Counter }

func (c sdkCounter) Inc(n int64) { c.to.Add(float64(n)) }

type sdkGauge struct{ to prometheus.Gauge }

func (g sdkGauge) Update(value float64) { g.to.Set(value) }

type sdkTimer struct{ to prometheus.Observer }

func (t sdkTimer) Record(d time.Duration) { t.to.Observe(d.Seconds()) }
