package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/journal"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/workflows"
)

// reads are what a recorder waits for.
type reads interface {
	Task(ctx context.Context, tenant, id string, want shown.TaskWant) (shown.TaskView, error)
	Objective(ctx context.Context, tenant, id string) (*opt.Objective, error)
	Answer(ctx context.Context, objectiveID, commandID string) (a opt.CommandAnswer, ok bool, err error)
	Judgement(ctx context.Context, objectiveID, principal, key string) (found shown.Judgement, ok bool, err error)
	Watch(objectiveID string) *journal.Watch
}

// A course is one way in which work can go: run runs workflows to their ends, and returns
// their ids.
type course struct {
	name string
	run  func(ctx context.Context, r *recorder) (ids []string, err error)
}

// A recorder runs courses of work and keeps the histories of their workflows.
type recorder struct {
	temporal client.Client
	usual    *workflows.Client
	long     *workflows.Client // continues as new after a hundred events
	journal  reads
	commands int                 // that were sent
	ended    map[string][]string // runs of workflows that were begun again, the latest first
	floor    []string            // root tasks of the objectives in the context of the course
}

// record runs a course and writes its histories.
func (r *recorder) record(ctx context.Context, dir string, c course) error {
	ids, err := c.run(ctx, r)
	if err != nil {
		return err
	}
	for i, id := range ids {
		if err := r.save(ctx, filepath.Join(dir, fmt.Sprintf("%s.%d", c.name, i)), id); err != nil {
			return err
		}
	}
	return nil
}

// reset resets the latest run of a workflow to one of its workflow tasks, and remembers that run.
func (r *recorder) reset(ctx context.Context, workflowID string, which func(n int) int) error {
	r.remember(workflowID, r.temporal.GetWorkflow(ctx, workflowID, "").GetRunID())
	return harness.Operator{Temporal: r.temporal, Namespace: "default"}.Reset(ctx, workflowID, which)
}

// rememberEnd waits for the end of a workflow that will begin again, and remembers its
// run.
func (r *recorder) rememberEnd(ctx context.Context, workflowID string) error {
	run := r.temporal.GetWorkflow(ctx, workflowID, "")
	_ = run.Get(ctx, nil) // it may have failed
	r.remember(workflowID, run.GetRunID())
	return ctx.Err()
}

func (r *recorder) remember(workflowID, runID string) {
	r.ended[workflowID] = slices.Insert(r.ended[workflowID], 0, runID)
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
func (r *recorder) untilTask(ctx context.Context, id string, is func(shown.TaskView) bool) error {
	ref, _ := opt.ParseID(id)
	return r.untilTrue(ctx, ref.ObjectiveID, func() bool {
		v, err := r.journal.Task(ctx, tenant, id, shown.TaskWant{})
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

// hideQueueName removes it from the name of a worker's own queue.
func hideQueueName(q *taskqueue.TaskQueue) {
	if q.GetKind() == enums.TASK_QUEUE_KIND_STICKY {
		q.Name = "sticky"
	}
}
