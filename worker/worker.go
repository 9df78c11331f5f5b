// Package worker makes a Temporal worker that runs Longhaul's workflows and
// activities. Any number of workers may run, on any machines.
//
// [New] makes one for the queues that it serves. Its slots (slots.go) limit the activities
// that run at a time. A [Dispatcher] (push.go) hands deliveries that are due to workflows.
package worker

import (
	"cmp"
	"slices"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"longhaul/activities"
	"longhaul/workflows"
)

// A Queue is one of the task queues that a worker can serve.
type Queue string

// The queues of a worker.
const (
	WorkQueue   Queue = "work"   // workflows, and the tasks and plans that they ask for
	RecordQueue Queue = "record" // the events of workflows, to be written to the journal
	PushQueue   Queue = "push"   // deliveries to webhooks
)

// Config says what a worker works with.
type Config struct {
	Temporal   client.Client
	Version    Version // the zero value continues the work of any version
	Activities activities.Config
	Queues     []Queue       // that it serves; nil: all. Of each queue there must be a worker
	MaxTasks   int           // activities of WorkQueue at a time; 0 means 200
	MaxPushes  int           // deliveries at a time; 0 means 100
	StopAfter  time.Duration // how long running tasks may continue when it stops; 0 means 10 s
	Failed     func(error)   // called when the worker fails for good; may be nil
	Refused    func(string)  // called with the id of each run that needs a newer worker; may be nil
}

// A Version names a build of a worker among those that run at the same time. A plan ends
// with the version that began it, since it runs executors, which operators change; other
// workflows last for years, run no such code, and continue with the current one. Workers for
// records and deliveries have a version too, so that the one that made an event also writes it:
// an earlier one would drop the members that it does not know.
type Version struct{ Deployment, BuildID string }

// options returns the version for the SDK.
func (v Version) options() worker.DeploymentOptions {
	if v == (Version{}) {
		return worker.DeploymentOptions{}
	}
	return worker.DeploymentOptions{UseVersioning: true, Version: worker.WorkerDeploymentVersion{DeploymentName: v.Deployment, BuildID: v.BuildID}}
}

// A workflow in memory continues when something arrives; another one is replayed from its history.
const (
	// workflowSize is the memory of one that waits: measured with open gates, with the stacks of
	// its goroutines and the garbage between two collections.
	workflowSize = 128 << 10
	// LeastMemory is the least that LimitMemory takes: fewer workflows would be replayed all the time.
	LeastMemory = 16 * workflowSize
)

// LimitMemory limits the memory, in bytes, of the workflows that this process keeps. It is only as
// exact as workflowSize: the SDK takes a number of workflows, once, before any worker starts, also
// the workers of an embedded Temporal.
func LimitMemory(bytes int64) { worker.SetStickyWorkflowCacheSize(workflowsIn(bytes)) }

// workflowsIn returns how many workflows may be kept in some bytes.
func workflowsIn(bytes int64) int { return int(max(LeastMemory, bytes) / workflowSize) }

// handBackWait is how long a worker that stops waits, after StopAfter, for the last answers
// of its activities to reach Temporal.
const handBackWait = 5 * time.Second

// New returns a worker that has not been started. Tasks that still run after
// StopAfter are canceled and handed back: another worker runs them again at once.
func New(cfg Config) worker.Worker {
	cfg.MaxTasks = cmp.Or(cfg.MaxTasks, 200)
	cfg.MaxPushes = cmp.Or(cfg.MaxPushes, 100)
	cfg.StopAfter = cmp.Or(cfg.StopAfter, 10*time.Second)
	slots := newSlots(cfg.MaxTasks)
	cfg.Activities.StopAfter, cfg.Activities.Slots = cfg.StopAfter, slots
	a := activities.New(cfg.Activities)
	serves := func(q Queue) bool { return len(cfg.Queues) == 0 || slices.Contains(cfg.Queues, q) }
	g := group{}
	if serves(RecordQueue) {
		records := worker.New(cfg.Temporal, workflows.RecordQueue, cfg.options())
		records.RegisterActivity(a.Record)
		g.all = append(g.all, records)
	}
	if cfg.Activities.Push != nil && serves(PushQueue) {
		options := cfg.options()
		options.MaxConcurrentActivityExecutionSize = cfg.MaxPushes
		pushes := worker.New(cfg.Temporal, workflows.PushQueue, options)
		pushes.RegisterActivity(a.Deliver)
		g.all = append(g.all, pushes)
	}
	if serves(WorkQueue) {
		workflowTasks := newQuietSlots(fixedSlots(workflowSlots), forgetWorkflows)
		g.all, g.quiet = append(g.all, cfg.workWorker(a, slots.tuner(workflowTasks))), workflowTasks.quiet
	}
	g.Worker = g.all[len(g.all)-1]
	return g
}

// options returns the options of a worker without workflows.
func (cfg Config) options() worker.Options {
	return worker.Options{
		DisableWorkflowWorker: true, WorkerStopTimeout: cfg.StopAfter + handBackWait, OnFatalError: cfg.Failed, DeploymentOptions: cfg.Version.options(),
	}
}

// workWorker returns the worker that serves WorkQueue.
func (cfg Config) workWorker(a *activities.Activities, tuner worker.WorkerTuner) worker.Worker {
	options := cfg.options()
	options.DisableWorkflowWorker = false
	// If this worker dies, other workers get its workflows after a second.
	options.StickyScheduleToStartTimeout = time.Second
	options.MaxHeartbeatThrottleInterval = time.Second
	options.Tuner = tuner
	// The server says how many polls the load needs.
	options.WorkflowTaskPollerBehavior = worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{})
	options.ActivityTaskPollerBehavior = worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{})
	if cfg.Refused != nil {
		options.Interceptors = append(options.Interceptors, workflows.Refusals(cfg.Refused))
	}
	w := worker.New(cfg.Temporal, workflows.TaskQueue, options)
	cfg.register(w)
	w.RegisterActivity(a)
	return w
}

// register registers the workflows. A version matters only to a worker that has one.
func (cfg Config) register(w worker.Worker) {
	for _, kind := range []struct {
		name  string
		run   any
		stays bool // with the version that began it
	}{
		{workflows.ObjectiveWorkflow, workflows.Objective, false},
		{workflows.PlanWorkflow, workflows.Plan, true},
		{workflows.ContextWorkflow, workflows.Context, false},
		{workflows.PurgeWorkflow, workflows.Purge, false},
		{workflows.PushWorkflow, workflows.Push, false},
		{workflows.ScheduledWorkflow, workflows.Scheduled, false},
	} {
		options := workflow.RegisterOptions{Name: kind.name}
		switch {
		case cfg.Version == (Version{}):
		case kind.stays:
			options.VersioningBehavior = workflow.VersioningBehaviorPinned
		default:
			options.VersioningBehavior = workflow.VersioningBehaviorAutoUpgrade
		}
		w.RegisterWorkflowWithOptions(kind.run, options)
	}
}

// A group is the workers of all queues that a process serves. That of WorkQueue is the
// last to start and the first to stop.
type group struct {
	worker.Worker // the last of all
	all           []worker.Worker
	quiet         *time.Timer // of the workflows that it keeps; nil without workflows
}

// Start implements [worker.Worker].
func (g group) Start() error {
	for i, w := range g.all {
		if err := w.Start(); err != nil {
			for _, started := range g.all[:i] {
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
	if g.quiet != nil {
		g.quiet.Stop()
	}
	for _, w := range slices.Backward(g.all) {
		w.Stop()
	}
}
