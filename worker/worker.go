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
	})
	w.RegisterWorkflowWithOptions(workflows.Objective, workflow.RegisterOptions{Name: workflows.ObjectiveWorkflow})
	w.RegisterWorkflowWithOptions(workflows.Plan, workflow.RegisterOptions{Name: workflows.PlanWorkflow})
	w.RegisterActivity(activities.New(cfg.Activities))
	return w
}
