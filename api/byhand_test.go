package api_test

import (
	"fmt"
	"testing"

	"longhaul/opt"
)

// levels returns where the three levels and the root task stand.
func (s *fixture) levels(t *testing.T, moved node) string {
	t.Helper()
	root := s.call(t, "GetTask", `{"id":"`+objectiveID+`"}`).at("result", "status", "state")
	return fmt.Sprintf("%s, %s %s, %s %s, %s", moved.at("task", "status"),
		moved.at("plan", "status"), moved.at("plan", "metadata", "opt/v1/blockedReason"),
		moved.at("objective", "status"), moved.at("objective", "metadata", "opt/v1/blockedReason"), root)
}

// A task that a client lets wait lets all three levels and the root task wait, and
// starts nothing else.
func TestTaskUpdate_waitsBeforeTheStart(t *testing.T) {
	s := newService(t)
	s.have(t, nil)
	for _, step := range []struct{ status, want string }{
		{"working", "working, working , working , TASK_STATE_WORKING"},
		{"input-required", "input-required, blocked input, blocked input, TASK_STATE_INPUT_REQUIRED"},
		{"working", "working, working , working , TASK_STATE_WORKING"},
		{"auth-required", "auth-required, blocked auth, blocked auth, TASK_STATE_AUTH_REQUIRED"},
	} {
		moved := s.call(t, "tasks/updateStatus", `{"id":"`+taskID+`","status":"`+step.status+`"}`).at("result")
		if got := s.levels(t, moved); got != step.want {
			t.Errorf("%s, want %s", got, step.want)
		}
	}
	o := s.call(t, "objectives/get", `{"id":"`+objectiveID+`"}`).at("result", "objective")
	if got, want := o.at("metadata", "longhaul/v1/blockedBy").String(), `{"planId":"`+planID+`","taskId":"`+taskID+`"}`; got != want {
		t.Errorf("blocked by %s, want %s", got, want)
	}
	if o.at("plans", "0", "tasks", "1", "status").String() != "pending" || o.at("plans", "1", "status").String() != "pending" {
		t.Errorf("something was started: %v", o)
	}
	wantRefusal(t, s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"working"}`), "blocked", "working")
}

// Work that was begun by hand is started by a message all the same.
func TestSend_startsWhatWasBegunByHand(t *testing.T) {
	s := newService(t)
	s.have(t, nil)
	s.call(t, "tasks/updateStatus", `{"id":"`+taskID+`","status":"working"}`)
	s.call(t, "SendMessage", `{"message":`+message("m-1", "quiet", `,"contextId":"`+objectiveID+`"`)+`}`)
	if len(s.engine.starts) != 0 || len(s.engine.letters) != 1 || s.engine.letters[0].ObjectiveID != objectiveID {
		t.Errorf("letters %v, starts %v", s.engine.letters, s.engine.starts)
	}
	s.journal.play(objectiveID, opt.Event{Kind: opt.ObjectiveStopping, Reason: "canceled"})
	s.call(t, "SendMessage", `{"message":`+message("m-2", "quiet", `,"contextId":"`+objectiveID+`"`)+`}`)
	if len(s.engine.starts) != 1 {
		t.Errorf("while it is stopped: starts %v", s.engine.starts)
	}
}
