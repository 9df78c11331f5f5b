package api_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"longhaul/api/service"
	"longhaul/opt"
)

func TestCancel_planTask(t *testing.T) {
	s := newService(t)
	s.send(t, "m", "slow")
	task := "task-" + u("m") + "-0-0"
	if got := s.call(t, "CancelTask", `{"id":"`+task+`"}`).at("result", "status", "state").String(); got != "TASK_STATE_CANCELED" {
		t.Errorf("state is %s", got)
	}
	if fmt.Sprint(s.engine.canceled) != "["+task+"]" {
		t.Errorf("canceled %v", s.engine.canceled)
	}
}

// What does not stop in time is shown as it is, with a mark.
func TestCancel_takesTime(t *testing.T) {
	s := newService(t)
	s.send(t, "m", "slow")
	s.engine.deaf = true
	task := s.call(t, "CancelTask", `{"id":"obj-`+u("m")+`"}`).at("result")
	if task.at("status", "state").String() != "TASK_STATE_WORKING" || task.at("metadata", "longhaul/v1/stopping").String() != "canceled" {
		t.Errorf("task is %v", task)
	}
}

// Whatever was recorded first is the end of it.
func TestCancel_losesTheRace(t *testing.T) {
	for to, code := range map[string]string{"completed": "-32002", "failed": "-32002", "rejected": "-32002", "canceled": ""} {
		s := newService(t)
		s.send(t, "m", "slow")
		s.Server, s.service = serve(service.Config{
			Engine: racing{s.engine, to}, Journal: s.journal, Watch: s.journal.Watch, Agent: oracle{},
			CancelWait: time.Minute,
		})
		if got := s.call(t, "CancelTask", `{"id":"obj-`+u("m")+`"}`).at("error", "code").String(); got != code {
			t.Errorf("%s: code is %q, want %q", to, got, code)
		}
	}
}

func TestCancel_idempotent(t *testing.T) {
	s := newService(t)
	s.send(t, "m", "slow")
	for range 2 {
		if n := s.call(t, "CancelTask", `{"id":"obj-`+u("m")+`"}`); n.at("result", "status", "state").String() != "TASK_STATE_CANCELED" {
			t.Errorf("answer is %v", n)
		}
	}
	wantCode(t, s.callIn(t, "0.3", "tasks/cancel", `{"id":"obj-`+u("m")+`"}`), "-32002")
	if len(s.engine.canceled) != 1 {
		t.Errorf("canceled %v", s.engine.canceled)
	}
}

// racing is an engine in which the work ends just before it would be canceled.
type racing struct {
	*engine
	to string
}

func (r racing) Cancel(_ context.Context, taskID, _ string) error {
	r.journal.play(taskID, opt.Event{Kind: opt.TaskMoved, TaskID: taskID, To: r.to})
	return fmt.Errorf("cancel: %w", opt.ErrEnded)
}

// A task of a plan that has yet to begin is asked for again; one that the plan says
// has ended is not.
func TestCancel_early(t *testing.T) {
	for name, tc := range map[string]struct {
		refusals []error
		end      string
		code     string
		calls    int
	}{
		"not there yet": {[]error{opt.ErrEnded, opt.ErrUnknown}, "", "", 3},
		"ended by then": {[]error{&opt.MoveError{From: "completed", To: "canceled"}}, "completed", "-32002", 1},
	} {
		s := newService(t)
		s.send(t, "m", "slow")
		calls := 0
		s.Server, s.service = serve(service.Config{
			Engine: refusing{s.engine, func(taskID string) error {
				if calls++; calls > len(tc.refusals) {
					return nil
				}
				if tc.end != "" {
					s.journal.play("obj-"+u("m"), opt.Event{Kind: opt.TaskMoved, PlanID: "plan-" + u("m") + "-0", TaskID: taskID, To: tc.end})
				}
				return fmt.Errorf("cancel: %w", tc.refusals[calls-1])
			}}, Journal: s.journal, Watch: s.journal.Watch, Agent: oracle{}, CancelWait: time.Minute,
		})
		n := s.call(t, "CancelTask", `{"id":"task-`+u("m")+`-0-0"}`)
		if got := n.at("error", "code").String(); got != tc.code || calls != tc.calls {
			t.Errorf("%s: code is %q after %d calls: %v", name, got, calls, n)
		}
	}
}

// refusing is an engine that refuses cancellations.
type refusing struct {
	*engine
	refuse func(taskID string) error
}

func (r refusing) Cancel(ctx context.Context, taskID, principal string) error {
	if err := r.refuse(taskID); err != nil {
		return err
	}
	return r.engine.Cancel(ctx, taskID, principal)
}
