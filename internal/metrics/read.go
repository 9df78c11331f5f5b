package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A Reading is a set of gauges that are read when Prometheus asks for them, but at most
// once in Every: many may ask. Values are by the value of the only label. A gauge that
// cannot be read is missing.
type Reading struct {
	Name  string // without the prefix
	Help  string
	Label string // "" for one gauge without labels, whose value is by ""
	Every time.Duration
	Read  func(ctx context.Context) (map[string]float64, error)
}

// readFor bounds a read.
const readFor = 3 * time.Second

// Add adds gauges. Each name is added once.
func (m *Metrics) Add(r Reading) {
	var labels []string
	if r.Label != "" {
		labels = []string{r.Label}
	}
	m.registry.MustRegister(&reader{Reading: r, desc: prometheus.NewDesc(prefix+r.Name, r.Help, labels, nil)})
}

// A reader collects the gauges of a Reading.
type reader struct {
	Reading
	desc *prometheus.Desc

	mu      sync.Mutex
	at      time.Time
	reading bool
	values  map[string]float64
}

// Describe implements [prometheus.Collector].
func (r *reader) Describe(to chan<- *prometheus.Desc) { to <- r.desc }

// Collect implements [prometheus.Collector].
func (r *reader) Collect(to chan<- prometheus.Metric) {
	for label, value := range r.latest() {
		if r.Label == "" {
			to <- prometheus.MustNewConstMetric(r.desc, prometheus.GaugeValue, value)
			continue
		}
		to <- prometheus.MustNewConstMetric(r.desc, prometheus.GaugeValue, value, label)
	}
}

// latest returns the values, which it reads if they are too old.
func (r *reader) latest() map[string]float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reading || !r.at.IsZero() && time.Since(r.at) < r.Every {
		return r.values
	}
	r.reading = true
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.read()
	}()
	r.mu.Unlock()
	select {
	case <-done:
	case <-time.After(readFor): // the next call gets the values, if there are any
	}
	r.mu.Lock()
	return r.values
}

// read reads the values. Without an answer there are none.
func (r *reader) read() {
	ctx, cancel := context.WithTimeout(context.Background(), readFor)
	defer cancel()
	values, err := r.Read(ctx)
	if err != nil {
		values = nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reading, r.at, r.values = false, time.Now(), values
}
