package worker

import (
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"longhaul/activities"
	"longhaul/workflows"
)

// ScheduleConfig holds the dependencies of a worker for schedules.
type ScheduleConfig struct {
	Temporal   client.Client
	Activities activities.ScheduleConfig
	Failed     func(error) // called when the worker fails for good; may be nil
}

// maxAwaited is how many objectives of schedules one process waits for at a time. Each is
// a goroutine that sleeps.
const maxAwaited = 10_000

// NewScheduler returns a worker that starts the objectives of schedules, beside an API.
// It has not been started. Any number may run.
func NewScheduler(cfg ScheduleConfig) worker.Worker {
	w := worker.New(cfg.Temporal, workflows.ScheduleQueue, worker.Options{
		DisableWorkflowWorker:              true,
		MaxConcurrentActivityExecutionSize: maxAwaited,
		WorkerStopTimeout:                  10 * time.Second,
		OnFatalError:                       cfg.Failed,
		MaxHeartbeatThrottleInterval:       time.Second,
	})
	w.RegisterActivity(activities.NewSchedules(cfg.Activities))
	return w
}
