package serve

import (
	"cmp"
	"context"
	"os"
	"sync/atomic"
	"time"

	"longhaul/activities"
	"longhaul/internal/metrics"
	"longhaul/internal/process"
	"longhaul/internal/tracing"
	"longhaul/opt"
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

// startMetrics makes the metrics of s and adds them to the page for operators.
func startMetrics(s *service, version string) {
	quotas := make([]string, len(opt.AllQuotas))
	for i, q := range opt.AllQuotas {
		quotas[i] = string(q)
	}
	s.metrics = metrics.New(version, quotas...)
	s.ops.metrics = s.metrics.Handler()
	s.metrics.Add(metrics.Reading{
		Name: "ready", Help: "1 if the part of the process can be reached and can work, else 0.", Label: "part", Every: readyEvery, Read: s.ops.gauges,
	})
}

// depthEvery is the shortest time between two counts of open work for metrics.
const depthEvery = 15 * time.Second

// addDepthMetrics adds to the metrics of s how much open work the journal has.
func addDepthMetrics(s *service) {
	s.metrics.Add(metrics.Reading{
		Name: "open_work", Help: "Open work of all tenants in the journal: objectives that are queued or working, plan tasks by state, deliveries that are due.",
		Label: "kind", Every: depthEvery,
		Read: func(ctx context.Context) (map[string]float64, error) {
			depth, err := s.journal.Depth(ctx)
			out := map[string]float64{
				"objectives-queued": float64(depth.Queued), "objectives-stuck": float64(depth.Stuck), "objectives-working": float64(depth.Working), "deliveries-due": float64(depth.Deliveries),
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

// addActivityMetrics adds to the metrics of s what the journal of this process does now.
func addActivityMetrics(s *service) {
	s.metrics.Add(metrics.Reading{
		Name: "journal_activity", Help: "What the journal of this process does: writes that wait, reads, and watches of streams and others that wait for changes.",
		Label: "kind", Every: activityEvery,
		Read: func(context.Context) (map[string]float64, error) {
			now := s.journal.Activity()
			return map[string]float64{"writes-waiting": float64(now.Waiting), "reads": float64(now.Reads), "watches": float64(now.Watches)}, nil
		},
	})
}

// startTracing makes s send traces, if the environment names a collector.
func startTracing(ctx context.Context, s *service) (err error) {
	if s.tracing, err = tracing.New(ctx, cmp.Or(s.build.Version, process.Version), os.Getenv); err != nil {
		return err
	}
	s.onStop(s.tracing.Stop)
	return nil
}
