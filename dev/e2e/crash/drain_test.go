package crash_test

import (
	"errors"
	"slices"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// A worker gets a signal to stop in the middle of a task. It hands the task back: another
// worker begins it again at once, as the same attempt, and not because the first one
// was missed.
func TestDrain_worker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.site.Env = []string{"LONGHAUL_STOP_AFTER=200ms"}
	processes := map[string]*harness.Process{}
	for _, command := range []string{harness.Temporal, harness.Worker, harness.API} {
		processes[command] = w.start(command, "")
	}
	plan := harness.NewPlan("plan", "say first", "work 4s; "+say(0))
	f := test.Value(w.begin(w.ctx(), harness.Message{ID: id(0), Text: "x", Plan: plan}, completes(0)))(t)
	task := planTask(f.TaskID, 1, 1)
	harness.Eventually(t, within, "the task is at work", func() error { return w.atWork(task) })
	second := w.start(harness.Worker, "")
	processes[harness.Worker].Stop()
	processes[harness.Worker] = second
	all := w.settle()
	if got := w.failures(task); !slices.Equal(got, []string{"WorkerStopped"}) {
		t.Errorf("the task began again because of %q, want WorkerStopped", got)
	}
	stop(processes)
	w.checkStopped(all)
	tried := false
	for _, e := range openJournal(t, w.site).events[f.TaskID] {
		if e.TaskID == task {
			tried = tried || e.Kind == "task-tried"
			if e.Attempt > 1 {
				t.Errorf("the task used up an attempt: %+v", e)
			}
		}
	}
	if !tried {
		t.Error("no event says that the task began again")
	}
}

// planWorkflow returns the id of the workflow of the plan of a plan task.
func planWorkflow(task string) string {
	return "plan-" + task[len("task-"):len(task)-len("-0")]
}

// atWork returns nil once a worker runs a plan task.
func (w *world) atWork(task string) error {
	c := w.site.Temporal(w.t)
	defer c.Close()
	d, err := c.DescribeWorkflowExecution(w.ctx(), planWorkflow(task), "")
	if err != nil {
		return err
	}
	for _, a := range d.GetPendingActivities() {
		if a.GetActivityId() == task && a.GetState() == enumspb.PENDING_ACTIVITY_STATE_STARTED {
			return nil
		}
	}
	return errors.New("no worker runs it")
}

// failures lists why Temporal had a plan task begun again, by the types of the errors
// of its worker, or as "timeout".
func (w *world) failures(task string) (all []string) {
	c := w.site.Temporal(w.t)
	defer c.Close()
	add := func(f *failurepb.Failure) {
		switch {
		case f.GetTimeoutFailureInfo() != nil:
			all = append(all, "timeout")
		case f != nil:
			all = append(all, f.GetApplicationFailureInfo().GetType())
		}
	}
	ours := map[int64]bool{} // the numbers of the events that scheduled it
	history := c.GetWorkflowHistory(w.ctx(), planWorkflow(task), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		e := test.Value(history.Next())(w.t)
		if e.GetActivityTaskScheduledEventAttributes().GetActivityId() == task {
			ours[e.GetEventId()] = true
		}
		if began := e.GetActivityTaskStartedEventAttributes(); ours[began.GetScheduledEventId()] {
			add(began.GetLastFailure())
		}
		if failed := e.GetActivityTaskFailedEventAttributes(); ours[failed.GetScheduledEventId()] {
			add(failed.GetFailure())
		}
		if late := e.GetActivityTaskTimedOutEventAttributes(); ours[late.GetScheduledEventId()] {
			add(late.GetFailure())
		}
	}
	return all
}
