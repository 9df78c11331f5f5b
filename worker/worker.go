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
	a := activities.New(cfg.Activities)
	w.RegisterActivity(a)
	records := worker.New(cfg.Temporal, workflows.RecordQueue, worker.Options{
		DisableWorkflowWorker: true,
		WorkerStopTimeout:     cfg.StopAfter,
	})
	records.RegisterActivity(a.Record)
	return pair{w, records}
}

// A pair is a worker, and the one that records for its workflows.
type pair struct {
	worker.Worker
	records worker.Worker
}

// Start implements [worker.Worker].
func (p pair) Start() error {
	if err := p.records.Start(); err != nil {
		return err
	}
	err := p.Worker.Start()
	if err != nil {
		p.records.Stop()
	}
	return err
}

// Stop implements [worker.Worker]. The results of running tasks are still
// recorded.
func (p pair) Stop() {
	p.Worker.Stop()
	p.records.Stop()
}
