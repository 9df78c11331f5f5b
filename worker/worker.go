// Package worker makes a Temporal worker that runs Longhaul's workflows and
// activities. Any number of them may run, anywhere.
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
	StopAfter  time.Duration // how long running tasks may go on when it stops; 0 means 10 s
	Failed     func(error)   // called when the worker cannot go on; nil for nobody to hear of it
}

// cachedWorkflows is how many workflows a process keeps in memory between their
// steps; others are read again. Most wait for a person or for their turn, each
// takes some 50 KiB, and the SDK's 10,000 would fill a small machine with them.
const cachedWorkflows = 1000

// LimitMemory has this process keep no more than cachedWorkflows in memory. It is
// to be called before any worker starts, those of an embedded Temporal included.
func LimitMemory() { worker.SetStickyWorkflowCacheSize(cachedWorkflows) }

// New returns a worker that has not been started. Running tasks that outlast
// StopAfter are canceled, and tried again elsewhere.
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
		// A worker that was lost is noticed soon, and others take over what it had.
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

// Stop implements [worker.Worker]. What running tasks come to is still recorded.
func (p pair) Stop() {
	p.Worker.Stop()
	p.records.Stop()
}
