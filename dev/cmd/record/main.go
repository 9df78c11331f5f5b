// Record records the histories in workflows/testdata: one set for each shape of
// work. Released code must always replay them, so each shape is recorded once;
// a changed workflow gets new shapes. Run it from the root of the repository:
//
//	go run ./dev/cmd/record              records shapes that have no history yet
//	go run ./dev/cmd/record gate dag     records these alone, if they have none
//
// An existing history is never overwritten. To record a shape again that was
// never released, remove its files first.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"longhaul/activities"
	"longhaul/activities/echo"
	"longhaul/activities/planner"
	"longhaul/dev/temporald"
	"longhaul/internal/journal"
	"longhaul/opt"
	"longhaul/worker"
	"longhaul/workflows"
)

func main() {
	dir := flag.String("dir", filepath.Join("workflows", "testdata"), "directory of the histories")
	flag.Parse()
	if err := run(context.Background(), *dir, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, names []string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	s, err := temporald.Start(ctx, temporald.Config{SearchAttributes: workflows.SearchAttributes()})
	if err != nil {
		return err
	}
	defer func() { _ = s.Stop() }()
	temporal, err := workflows.Dial(workflows.DialConfig{Addr: s.Addr(), Namespace: "default", Local: true, Log: log.NewStructuredLogger(slog.New(slog.DiscardHandler)), Adjust: hideIdentity})
	if err != nil {
		return err
	}
	defer temporal.Close()
	rec, stop, err := startWorker(ctx, temporal)
	if err != nil {
		return err
	}
	defer stop()
	for _, sh := range slices.Concat(shapes, changed, inLegs) {
		if !wanted(dir, sh.name, names) {
			continue
		}
		if err := rec.shape(ctx, dir, sh); err != nil {
			return fmt.Errorf("shape %s: %w", sh.name, err)
		}
	}
	if wanted(dir, queueShape, names) {
		if err := rec.queue(ctx, dir); err != nil {
			return fmt.Errorf("shape %s: %w", queueShape, err)
		}
	}
	if err := recordPushes(ctx, rec, dir, names); err != nil {
		return err
	}
	if err := recordSchedules(ctx, rec, dir, names); err != nil {
		return err
	}
	if !wanted(dir, purgeShape, names) {
		return nil
	}
	return rec.purge(ctx, dir)
}

// wanted reports whether to record a shape: it has no history yet, and is one of
// names unless that is empty.
func wanted(dir, name string, names []string) bool {
	found, _ := filepath.Glob(filepath.Join(dir, name+".*.json"))
	return len(found) == 0 && (len(names) == 0 || slices.Contains(names, name))
}

// planning plans slowly if a message asks for it.
type planning struct{ activities.Planner }

func (p planning) Plan(ctx context.Context, r activities.Request) (activities.Planned, error) {
	if r.Message != nil && r.Message.Text() == "slow" {
		select {
		case <-ctx.Done():
			return activities.Planned{}, ctx.Err()
		case <-time.After(2 * time.Second):
		}
	}
	return p.Planner.Plan(ctx, r)
}

// reads are what a recorder waits for.
type reads interface {
	Task(ctx context.Context, tenant, id string, want opt.TaskWant) (opt.TaskView, error)
	Objective(ctx context.Context, tenant, id string) (*opt.Objective, error)
	Answer(ctx context.Context, objectiveID, commandID string) (a opt.CommandAnswer, ok bool, err error)
	Judgement(ctx context.Context, objectiveID, principal, key string) (found opt.Judgement, ok bool, err error)
	Watch(objectiveID string) *journal.Watch
}

// A recorder runs shapes of work and keeps their histories.
type recorder struct {
	temporal client.Client
	engine   *workflows.Client
	long     *workflows.Client // continues as new after a hundred events
	hasty    *workflows.Client // cancels objectives that are not started within seconds
	journal  reads
	commands int                 // that were sent
	ended    map[string][]string // runs of workflows that were begun again, the latest first
}

func startWorker(ctx context.Context, temporal client.Client) (*recorder, func(), error) {
	j, err := journal.Open(ctx, journal.Config{})
	if err != nil {
		return nil, nil, err
	}
	w := worker.New(worker.Config{Temporal: temporal, Activities: activities.Config{
		Executors: map[string]activities.Executor{"echo": echo.Executor{}, "legs": legs{}}, Heartbeats: workflows.NewClient(workflows.ClientConfig{Temporal: temporal}), Default: "echo", Planner: planning{&planner.Playbooks{}}, Recorder: j, Kept: j, Purger: j,
		Tasks: j, Watch: func(id string) activities.Watch { return j.Watch(id) },
		Push: newReceivers().push(),
	}})
	if err := w.Start(); err != nil {
		return nil, nil, err
	}
	stopElsewhere, err := startElsewhere(temporal)
	if err != nil {
		return nil, nil, err
	}
	r := &recorder{
		temporal: temporal, journal: j, ended: map[string][]string{},
		engine: workflows.NewClient(workflows.ClientConfig{Temporal: temporal}),
		long:   workflows.NewClient(workflows.ClientConfig{Temporal: temporal, MaxEvents: 100}),
		hasty:  workflows.NewClient(workflows.ClientConfig{Temporal: temporal, IdleFor: 3 * time.Second}),
	}
	return r, func() { stopElsewhere(); w.Stop(); _ = j.Close() }, nil
}

// shape runs one shape to its end and writes the histories of its workflows.
func (r *recorder) shape(ctx context.Context, dir string, sh shape) error {
	engine := r.engine
	switch {
	case sh.long:
		engine = r.long
	case sh.hasty:
		engine = r.hasty
	}
	o := opening(sh)
	if _, err := engine.Start(ctx, o); err != nil {
		return err
	}
	id := o.Objective.ID
	for _, step := range sh.steps {
		if err := step(ctx, r, engine, id); err != nil {
			return err
		}
	}
	if err := r.untilObjective(ctx, id, func(o *opt.Objective) bool { return o.Status.Ended() && o.Root.Ended() }); err != nil {
		return err
	}
	ids := []string{id}
	for n := range sh.plans() {
		ids = append(ids, opt.PlanID(id, n+1))
	}
	for i, workflowID := range ids {
		if err := r.save(ctx, filepath.Join(dir, fmt.Sprintf("%s.%d", sh.name, i)), workflowID); err != nil {
			return err
		}
	}
	fmt.Println("recorded", sh.name)
	return nil
}

// purgeShape names the history of a Purge workflow, which belongs to no objective.
const purgeShape = "purge"

// purge removes the objectives of the shapes from the journal.
func (r *recorder) purge(ctx context.Context, dir string) error {
	options := client.StartWorkflowOptions{ID: purgeShape, TaskQueue: workflows.TaskQueue}
	run, err := r.temporal.ExecuteWorkflow(ctx, options, workflows.Purge, workflows.PurgeInput{TTL: 1})
	if err != nil {
		return err
	}
	if err := run.Get(ctx, nil); err != nil {
		return err
	}
	fmt.Println("recorded", purgeShape)
	return r.save(ctx, filepath.Join(dir, purgeShape+".0"), purgeShape)
}

// reset resets the latest run of a workflow to its first workflow task, and remembers that run.
func (r *recorder) reset(ctx context.Context, workflowID string) error {
	found, err := r.temporal.DescribeWorkflowExecution(ctx, workflowID, "")
	if err != nil {
		return err
	}
	run := found.GetWorkflowExecutionInfo().GetExecution()
	r.ended[workflowID] = slices.Insert(r.ended[workflowID], 0, run.GetRunId())
	events := r.temporal.GetWorkflowHistory(ctx, workflowID, run.GetRunId(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return err
		}
		if e.GetEventType() == enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			_, err := r.temporal.ResetWorkflowExecution(ctx, &workflowservice.ResetWorkflowExecutionRequest{
				Namespace: "default", WorkflowExecution: run, Reason: "a history", WorkflowTaskFinishEventId: e.GetEventId(), RequestId: run.GetRunId(),
			})
			return err
		}
	}
	return errors.New("the run has no workflow task")
}

// save writes the history of each run of a workflow, the latest first.
func (r *recorder) save(ctx context.Context, path, workflowID string) error {
	runs := append([]string{""}, r.ended[workflowID]...)
	for n := 0; len(runs) > 0; n++ {
		runID := runs[0]
		runs = runs[1:]
		h, err := r.history(ctx, workflowID, runID)
		if err != nil {
			return err
		}
		data, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(h)
		if err != nil {
			return err
		}
		if err := write(fmt.Sprintf("%s.%d.json", path, n), append(data, '\n')); err != nil {
			return err
		}
		if before := h.Events[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId(); before != "" {
			runs = append([]string{before}, runs...)
		}
	}
	return nil
}

// write writes a new file, and never an existing one.
func write(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// history waits for the end of a run and returns all of it.
func (r *recorder) history(ctx context.Context, workflowID, runID string) (*history.History, error) {
	if err := r.temporal.GetWorkflow(ctx, workflowID, runID).Get(ctx, nil); ctx.Err() != nil {
		return nil, err
	}
	var h history.History
	events := r.temporal.GetWorkflowHistory(ctx, workflowID, runID, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return nil, err
		}
		hideQueueName(e.GetWorkflowTaskScheduledEventAttributes().GetTaskQueue())
		h.Events = append(h.Events, e)
	}
	return &h, nil
}

// untilTask waits until the journal shows a task for which is returns true.
func (r *recorder) untilTask(ctx context.Context, id string, is func(opt.TaskView) bool) error {
	ref, _ := opt.ParseID(id)
	return r.untilTrue(ctx, ref.ObjectiveID, func() bool {
		v, err := r.journal.Task(ctx, tenant, id, opt.TaskWant{})
		return err == nil && is(v)
	})
}

// untilObjective waits until the journal shows an objective for which is returns true.
func (r *recorder) untilObjective(ctx context.Context, id string, is func(*opt.Objective) bool) error {
	return r.untilTrue(ctx, id, func() bool {
		o, err := r.journal.Objective(ctx, tenant, id)
		return err == nil && is(o)
	})
}

// untilTrue calls check whenever an objective may have changed, until it returns
// true.
func (r *recorder) untilTrue(ctx context.Context, objectiveID string, check func() bool) error {
	w := r.journal.Watch(objectiveID)
	defer w.Close()
	for !check() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.C():
		}
	}
	return nil
}

// hideIdentity keeps the name of this machine out of the histories.
func hideIdentity(o *client.Options) { o.Identity = "recorder" }

// hideQueueName removes it from the name of a worker's own queue.
func hideQueueName(q *taskqueue.TaskQueue) {
	if q.GetKind() == enums.TASK_QUEUE_KIND_STICKY {
		q.Name = "sticky"
	}
}
