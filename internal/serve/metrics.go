package serve

import (
	"context"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"longhaul/activities"
	"longhaul/internal/journal"
	"longhaul/internal/metrics"
	"longhaul/internal/tracing"
	"longhaul/opt"
	"longhaul/opt/access"
)

// measuredRecorder is a recorder whose recordings are measured.
type measuredRecorder struct {
	activities.Recorder
	to *metrics.Metrics
}

// Record implements [activities.Recorder].
func (r measuredRecorder) Record(ctx context.Context, batches ...opt.Batch) error {
	began := time.Now()
	err := r.Recorder.Record(ctx, batches...)
	r.to.Recorded(time.Since(began), err)
	if err != nil {
		return err
	}
	for _, b := range batches {
		for _, e := range b.Events {
			if e.Kind == opt.TaskMoved {
				r.to.Moved(e.To)
			}
		}
	}
	return nil
}

// countUsage counts the usage of models in new events of the journal: each at most once, in the process
// that recorded it.
func countUsage(m *metrics.Metrics, r journal.Recorded) {
	for _, e := range r.Events {
		if u := e.Usage; e.Kind == opt.UsageAdded && u.Calls == 0 && !u.TimeAlone() {
			m.Used(u.Model, u.Input, u.Output, int64(u.Cost))
		}
	}
}

// runningCounter is an observer of executors that counts the tasks that run.
type runningCounter struct {
	activities.Observer
	running *atomic.Int64
}

// Running implements [activities.Observer].
func (c runningCounter) Running(executor string, change int) {
	c.running.Add(int64(change))
	c.Observer.Running(executor, change)
}

// gauges reads which parts of a process are ready, for its metrics.
func (p *opsPage) gauges(ctx context.Context) (map[string]float64, error) {
	out := map[string]float64{}
	for part, state := range p.readiness(ctx, nil).Parts {
		out[part] = 0
		if state == "ready" {
			out[part] = 1
		}
	}
	return out, nil
}

// readyEvery is the shortest time between two checks of readiness for metrics.
const readyEvery = 5 * time.Second

// startMetrics makes the metrics of h and adds them to the page for operators.
func (h *host) startMetrics() {
	var quotas []string
	for _, q := range slices.Concat(access.AllQuotas, access.Spendings()) {
		quotas = append(quotas, string(q))
	}
	h.metrics = metrics.New(h.version(), quotas...)
	h.ops.metrics = h.metrics.Handler()
	h.metrics.Add(metrics.Reading{
		Name: "ready", Help: "1 if the part of the process can be reached and can work, else 0.", Label: "part", Every: readyEvery, Read: h.ops.gauges,
	})
}

// depthEvery is the shortest time between two counts of open work for metrics.
const depthEvery = 15 * time.Second

// addDepthMetrics adds to m how much open work the journal has.
func addDepthMetrics(m *metrics.Metrics, j *journal.Journal) {
	m.Add(metrics.Reading{
		Name: "open_work", Help: "Open work of all tenants in the journal: objectives that are queued or working, plan tasks by state, deliveries that are due.",
		Label: "kind", Every: depthEvery,
		Read: func(ctx context.Context) (map[string]float64, error) {
			depth, err := j.Depth(ctx, time.Now().Add(-24*time.Hour))
			out := map[string]float64{
				"objectives-queued": float64(depth.Queued), "objectives-stuck": float64(depth.Stuck), "objectives-working": float64(depth.Working), "deliveries-due": float64(depth.Deliveries),
				"questions-day-old": float64(depth.Questions), "tasks-held": float64(depth.Held),
			}
			for state, n := range depth.Tasks {
				out["tasks-"+state] = float64(n)
			}
			return out, err
		},
	})
}

// activityEvery is the shortest time between two reads of the activity of the journal for
// metrics.
const activityEvery = time.Second

// addActivityMetrics adds to m what the journal of this process does now.
func addActivityMetrics(m *metrics.Metrics, j *journal.Journal) {
	m.Add(metrics.Reading{
		Name: "journal_activity", Help: "What the journal of this process does: writes that wait, reads, and watches of streams and others that wait for changes.",
		Label: "kind", Every: activityEvery,
		Read: func(context.Context) (map[string]float64, error) {
			now := j.Activity()
			return map[string]float64{"writes-waiting": float64(now.Waiting), "reads": float64(now.Reads), "watches": float64(now.Watches)}, nil
		},
	})
}

// The traces of a process go to the collector that the environment names, if it names one.
type traces struct {
	stopper
	version  string            // of the program
	provider *tracing.Provider // nil for no traces
}

func (t *traces) Start(ctx context.Context) (err error) {
	if t.provider, err = tracing.New(ctx, t.version, os.Getenv); err == nil {
		t.onStop(t.provider.Stop)
	}
	return err
}
