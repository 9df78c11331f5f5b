package api_test

import (
	"fmt"
	"slices"
	"testing"

	"longhaul/opt"
)

// failedOptional makes the first plan of an objective that works an optional one
// that failed after its first task.
func failedOptional(o *opt.Objective) {
	o.Status, o.Started, o.Root = opt.ObjectiveWorking, true, opt.TaskWorking
	p := o.Plans[0]
	p.Status, p.Started, p.Metadata = opt.PlanFailed, true, p.Metadata.With(opt.KeyOptional, true)
	p.Tasks[0].State, p.Tasks[1].State = opt.TaskCompleted, opt.TaskFailed
}

// A plan that failed goes on where it was, by other A2A tasks.
func TestPlanUpdate_again(t *testing.T) {
	for _, to := range []string{"pending", "working"} {
		s := newService(t)
		s.have(t, failedOptional)
		n := s.call(t, "plans/update", `{"id":"`+planID+`","status":"`+to+`","longhaul/v1/revision":1}`).at("result", "plan")
		if n.at("status").String() != to || n.at("metadata").has("opt/v1/failureReason") {
			t.Errorf("%s: the plan is %v", to, n)
		}
		if !slices.Equal(s.engine.changes, []string{"plan again"}) || !slices.Equal(s.engine.seen, []int64{1}) {
			t.Errorf("%s: the engine was asked for %v, seen %v", to, s.engine.changes, s.engine.seen)
		}
		p := s.call(t, "plans/get", `{"id":"`+planID+`"}`).at("result", "plan", "tasks")
		if p.at("0", "status").String() != "completed" || p.at("0", "a2aTaskId").String() != taskID || p.at("1", "a2aTaskId").String() != opt.TaskID(planID, 1)+"~2" {
			t.Errorf("%s: the tasks are %v", to, p)
		}
		if state := s.call(t, "GetTask", `{"id":"`+opt.TaskID(planID, 1)+`"}`).at("result", "status", "state").String(); state == "TASK_STATE_WORKING" {
			t.Errorf("%s: the task of the first attempt is %s", to, state)
		}
	}
}

// The answer waits until the plan works that is to work.
func TestPlanUpdate_againWaits(t *testing.T) {
	s := newService(t)
	s.have(t, failedOptional)
	s.engine.troubles = append(s.engine.troubles, func(e *engine, o *opt.Objective) error {
		e.journal.play(o.ID, opt.Event{Kind: opt.PlanAgain, PlanID: planID, Attempt: 2})
		e.revise(o, nil)
		return nil
	})
	s.later(func(e *engine, o *opt.Objective) { e.movePlan(o.Plan(planID), opt.PlanWorking, "") })
	if n := s.call(t, "plans/update", `{"id":"`+planID+`","status":"working"}`).at("result", "plan"); n.at("status").String() != "working" {
		t.Errorf("the plan is %v", n)
	}
}

// An objective that has yet to hear of the end is asked again, about the same
// revision.
func TestPlanUpdate_againEarly(t *testing.T) {
	s := newService(t)
	s.have(t, failedOptional)
	early := func(*engine, *opt.Objective) error { return fmt.Errorf("again: %w", opt.ErrUnknown) }
	s.engine.troubles = append(s.engine.troubles, early, early)
	n := s.call(t, "plans/update", `{"id":"`+planID+`","status":"pending","longhaul/v1/revision":1}`)
	if n.at("result", "plan", "status").String() != "pending" || !slices.Equal(s.engine.seen, []int64{1, 1, 1}) {
		t.Errorf("seen %v: %v", s.engine.seen, n)
	}
}

func TestPlanUpdate_againRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		params  string
		spoil   func(*opt.Objective)
		message string
	}{
		"and renamed":            {`"status":"pending","name":"New"`, nil, "The plan has ended"},
		"renamed alone":          {`"name":"New"`, nil, "The plan has ended"},
		"before its time":        {`"status":"working"`, func(o *opt.Objective) { o.Plans[0].Dependencies = []string{o.Plans[1].ID} }, "Invalid status transition: failed → working"},
		"of an ended objective":  {`"status":"pending"`, func(o *opt.Objective) { o.Status, o.Root = opt.ObjectiveFailed, opt.TaskFailed }, "Invalid status transition: failed → pending"},
		"of one that is stopped": {`"status":"working"`, func(o *opt.Objective) { o.Stopping = "canceled" }, "Invalid status transition: failed → working"},
		"to skipped":             {`"status":"skipped"`, nil, "Invalid status transition: failed → skipped"},
	} {
		s := newService(t)
		s.have(t, func(o *opt.Objective) {
			failedOptional(o)
			if tc.spoil != nil {
				tc.spoil(o)
			}
		})
		s.unchanged(t, func() {
			if text := wantCode(t, s.call(t, "plans/update", `{"id":"`+planID+`",`+tc.params+`}`), "-32001"); text != tc.message {
				t.Errorf("%s: %q, want %q", name, text, tc.message)
			}
		})
	}
}
