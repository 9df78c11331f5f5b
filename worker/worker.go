// Package worker makes a Temporal worker that runs Longhaul's workflows and
// activities. Any number of workers may run, on any machines.
package worker

import (
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"longhaul/activities"
	"longhaul/workflows"
)

// Config says what a worker works with.
type Config struct {
	Temporal   client.Client
	Activities activities.Config
	MaxTasks   int           // activities at a time; 0 means 200
	MaxPushes  int           // deliveries at a time; 0 means 100
	StopAfter  time.Duration // how long running tasks may continue when it stops; 0 means 10 s
	Failed     func(error)   // called when the worker fails for good; may be nil
}

// cachedWorkflows is how many workflows a process keeps in memory; others are
// replayed when something arrives. Most workflows wait, and each takes some 50
// KiB: the SDK's default of 10,000 is too much for a small machine.
const cachedWorkflows = 1000

// LimitMemory has this process keep no more than cachedWorkflows in memory. Call
// it before any worker starts, also before those of an embedded Temporal.
func LimitMemory() { worker.SetStickyWorkflowCacheSize(cachedWorkflows) }

// New returns a worker that has not been started. Tasks that still run after
// StopAfter are canceled, and another worker runs them again.
func New(cfg Config) worker.Worker {
	if cfg.MaxTasks == 0 {
		cfg.MaxTasks = 200
	}
	if cfg.MaxPushes == 0 {
		cfg.MaxPushes = 100
	}
	if cfg.StopAfter == 0 {
		cfg.StopAfter = 10 * time.Second
	}
	w := worker.New(cfg.Temporal, workflows.TaskQueue, worker.Options{
		MaxConcurrentActivityExecutionSize: cfg.MaxTasks,
		WorkerStopTimeout:                  cfg.StopAfter,
		OnFatalError:                       cfg.Failed,
		// If this worker dies, other workers get its workflows after a second.
		StickyScheduleToStartTimeout: time.Second,
		MaxHeartbeatThrottleInterval: time.Second,
	})
	w.RegisterWorkflowWithOptions(workflows.Objective, workflow.RegisterOptions{Name: workflows.ObjectiveWorkflow})
	w.RegisterWorkflowWithOptions(workflows.Plan, workflow.RegisterOptions{Name: workflows.PlanWorkflow})
	w.RegisterWorkflowWithOptions(workflows.Context, workflow.RegisterOptions{Name: workflows.ContextWorkflow})
	w.RegisterWorkflowWithOptions(workflows.Purge, workflow.RegisterOptions{Name: workflows.PurgeWorkflow})
	w.RegisterWorkflowWithOptions(workflows.Push, workflow.RegisterOptions{Name: workflows.PushWorkflow})
	w.RegisterWorkflowWithOptions(workflows.Scheduled, workflow.RegisterOptions{Name: workflows.ScheduledWorkflow})
	a := activities.New(cfg.Activities)
	w.RegisterActivity(a)
	g := group{Worker: w}
	records := worker.New(cfg.Temporal, workflows.RecordQueue, worker.Options{
		DisableWorkflowWorker: true,
		WorkerStopTimeout:     cfg.StopAfter,
	})
	records.RegisterActivity(a.Record)
	g.others = append(g.others, records)
	if cfg.Activities.Push != nil {
		pushes := worker.New(cfg.Temporal, workflows.PushQueue, worker.Options{
			DisableWorkflowWorker:              true,
			MaxConcurrentActivityExecutionSize: cfg.MaxPushes,
			WorkerStopTimeout:                  cfg.StopAfter,
		})
		pushes.RegisterActivity(a.Deliver)
		g.others = append(g.others, pushes)
	}
	return g
}

// A group is a worker, and those that record and deliver for its workflows.
type group struct {
	worker.Worker
	others []worker.Worker
}

// Start implements [worker.Worker].
func (g group) Start() error {
	for i, w := range append(g.others, g.Worker) {
		if err := w.Start(); err != nil {
			for _, started := range g.others[:i] {
				started.Stop()
			}
			return err
		}
	}
	return nil
}

// Stop implements [worker.Worker]. The results of running tasks are still
// recorded.
func (g group) Stop() {
	g.Worker.Stop()
	for _, w := range g.others {
		w.Stop()
	}
}
