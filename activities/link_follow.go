package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// FollowFor is how long one run of Follow waits for the end of a task.
const FollowFor = 5 * time.Minute

// A TaskReader reads tasks as clients see them. If there is no such task of the
// tenant, the error wraps opt.ErrUnknown.
type TaskReader interface {
	Task(ctx context.Context, tenant, id string, want shown.TaskWant) (shown.TaskView, error)
	// Peek returns the state of a task. It is cheap.
	Peek(ctx context.Context, tenant, id string) (opt.TaskState, int64, error)
}

// A Watch says that an objective may have changed: C is ready once for any number
// of changes.
type Watch interface {
	C() <-chan struct{}
	Close()
}

// A Link says that one task stands in for another.
type Link struct {
	Tenant string `json:"tenant"`
	TaskID string `json:"taskId"` // of the A2A task that is followed
	For    string `json:"for"`    // of the plan task that it stands in for
}

// Followed is the result of a linked task.
type Followed struct {
	State     opt.TaskState  `json:"state,omitempty"` // "" if it has not ended
	Code      string         `json:"code,omitempty"`  // why it ended so, if not as the task did
	Message   string         `json:"message,omitempty"`
	Artifacts []a2a.Artifact `json:"artifacts,omitempty"` // of a completed task, with the ids that they have at the linked task
}

// Follow waits up to [FollowFor] for a task to end. If links form a cycle, so
// that the wait would never end, the task of one of them fails. When the worker
// stops, Follow returns at once, and Temporal repeats it on another. It changes
// nothing, so a second run is harmless.
func (a *Activities) Follow(ctx context.Context, l Link) (out Followed, err error) {
	defer a.recoverPanic(ctx, "follow", true, &err)
	defer sendHeartbeats(ctx).stop()
	ref, ok := opt.ParseID(l.TaskID)
	if !ok {
		return goneTask, nil
	}
	broken := false
	ended, err := taskWaiter{a.cfg.Tasks, a.cfg.Watch, FollowFor}.waitForEnd(ctx, l.Tenant, l.TaskID, ref.ObjectiveID, func() (_ bool, err error) {
		out, broken, err = (cycles{a.cfg.Links, a.cfg.Tasks}).failure(ctx, l)
		return broken, err
	})
	switch {
	case errors.Is(err, opt.ErrUnknown):
		return goneTask, nil
	case err != nil, broken, !ended:
		return out, err
	}
	return a.followedResult(ctx, l)
}

// A taskWaiter waits for tasks to end, for each at most a given time.
type taskWaiter struct {
	tasks TaskReader
	watch func(objectiveID string) Watch
	most  time.Duration
}

// waitForEnd waits until a task of an objective has ended, or the time is up, and reports
// whether it has ended. If the task has not ended when the wait begins, open is called first:
// the wait ends if open returns true or an error. open may be nil. When the worker stops, the
// error makes Temporal repeat the activity on another worker.
func (w taskWaiter) waitForEnd(ctx context.Context, tenant, taskID, objectiveID string, open func() (bool, error)) (ended bool, err error) {
	changes := w.watch(objectiveID)
	defer changes.Close()
	timer := time.NewTimer(w.most)
	defer timer.Stop()
	for {
		state, _, err := w.tasks.Peek(ctx, tenant, taskID)
		if err != nil || state.Ended() {
			return err == nil, err
		}
		if open != nil {
			if done, err := open(); done || err != nil {
				return false, err
			}
			open = nil
		}
		select {
		case <-changes.C():
		case <-timer.C:
			return false, nil
		case <-stopSignal(ctx):
			return false, errStopped()
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// goneTask is the result of following a task that was removed from the journal.
var goneTask = Followed{State: opt.TaskFailed, Message: "The task that stands in for this one does not exist any more."}

// followedResult returns the result of a task that has ended.
func (a *Activities) followedResult(ctx context.Context, l Link) (Followed, error) {
	v, err := a.cfg.Tasks.Task(ctx, l.Tenant, l.TaskID, shown.TaskWant{Artifacts: true})
	if err != nil {
		return Followed{}, fmt.Errorf("follow %s: %w", l.TaskID, err)
	}
	out := Followed{State: v.State}
	if v.Task.Status.Message != nil {
		out.Message = v.Task.Status.Message.Text()
	}
	if v.State == opt.TaskCompleted {
		if out.Artifacts, err = a.copyArtifacts(ctx, l, v); err != nil {
			return Followed{}, fmt.Errorf("follow %s: %w", l.TaskID, err)
		}
		for i := range out.Artifacts {
			out.Artifacts[i].ArtifactID = opt.ArtifactID(l.For, out.Artifacts[i].ArtifactID)
		}
	}
	return out, nil
}

// copyArtifacts returns the artifacts of v. It stores their large contents again for the
// objective of the plan task, since each objective has its own blobs.
func (a *Activities) copyArtifacts(ctx context.Context, l Link, v shown.TaskView) ([]a2a.Artifact, error) {
	whole, err := a.contents(v.ObjectiveID).attachAll(ctx, v.Task.Artifacts)
	if err != nil {
		return nil, err
	}
	ref, _ := opt.ParseID(l.For)
	return a.contents(ref.ObjectiveID).detachAll(ctx, whole)
}
