package serve

import (
	"context"
	"fmt"
	"slices"

	"longhaul/activities"
	"longhaul/activities/served"
	"longhaul/internal/condition"
	"longhaul/internal/journal"
	"longhaul/worker"
	"longhaul/workflows"
)

// A workerPart does the work.
type workerPart struct {
	stopper
	*ground
	settings workerSettings
	version  worker.Version
	lease    *leasePart
}

func (w *workerPart) Start(context.Context) error {
	h := w.host
	if agent, ok := w.planning.executors[served.Kind].(served.Executor); ok {
		agent.Journal = w.store.journal
		w.planning.executors[served.Kind] = agent
	}
	made := worker.New(worker.Config{
		Temporal: w.temporal.client,
		Version:  w.version,
		Activities: activities.Config{
			Executors:  w.planning.executors,
			Default:    h.build.defaultExecutor(),
			Planner:    wrap[activities.Planner](w.planning.playbooks, h.build.Planner),
			Recorder:   measuredRecorder{wrap[activities.Recorder](w.store.journal, h.build.Recorder), h.metrics},
			Stuck:      w.store.journal,
			Observer:   runningCounter{h.metrics, &h.running},
			Kept:       w.store.journal,
			Standing:   condition.Standing{Rules: w.store.journal.Standing},
			Blobs:      w.store.journal,
			Links:      w.store.journal,
			Heartbeats: workflows.NewClient(w.temporal.engine()),
			Reporter:   workflows.NewClient(w.temporal.engine()),
			Floors:     journal.FloorsOf(w.store.journal),
			Purger:     w.store.journal,
			Tasks:      w.store.journal,
			Watch:      func(id string) activities.Watch { return w.store.journal.Watch(id) },
			Push:       w.push(),
			Callbacks:  w.store.callbacks,
			Limits:     w.planning.limits,
			Quotas:     w.quotas,
			Usage:      w.store.journal,
			Fence:      w.lease.keeper.Fence,
			Log:        h.log,
		},
		Queues:    w.settings.queues(),
		MaxTasks:  w.settings.MaxTasks,
		MaxPushes: w.settings.MaxPushes,
		StopAfter: w.settings.StopAfter,
		Refused:   w.lease.taken.Refuse,
		Failed:    func(err error) { h.fail(fmt.Errorf("worker: %w", err)) },
	})
	if err := made.Start(); err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	h.stopAfter = w.settings.StopAfter
	w.onStop(func() error { made.Stop(); return nil })
	return nil
}

// dispatcher returns the part that hands deliveries that are due to workflows, if the worker
// serves them.
func (w *workerPart) dispatcher() part {
	if !slices.Contains(w.settings.Queues, string(worker.PushQueue)) {
		return step(func(context.Context) error { return nil })
	}
	return &loop{run: func(ctx context.Context) {
		worker.Dispatcher{Outbox: w.store.journal.Pushes, To: workflows.NewClient(w.temporal.engine()), Log: w.host.log}.Run(ctx)
	}}
}
