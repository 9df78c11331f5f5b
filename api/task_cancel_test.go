package api_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// The id that a client gives to a cancellation, in the header or the metadata, is
// the command's.
func TestCancel_key(t *testing.T) {
	s := newService(t)
	s.send(t, "m", "slow")
	s.world.Stubborn()
	task := "task-" + u("m") + "-1-0"
	for range 2 {
		s.must(t, "CancelTask", `{"id":"`+task+`","metadata":{"longhaul/v1/requestId":"k"}}`)
		s.must(t, "CancelTask", `{"id":"`+task+`"}`, "Idempotency-Key", "k")
	}
	test.Is(t, "commands were sent for one key", 1, len(s.world.Commands()))
}

// A task that does not stop in time is returned in its current state, marked as
// stopping.
func TestCancel_takesTime(t *testing.T) {
	s := newService(t)
	s.send(t, "m", "slow")
	s.world.Stubborn()
	task := s.must(t, "CancelTask", `{"id":"obj-`+u("m")+`"}`)
	if task.at("status", "state").String() != "TASK_STATE_WORKING" || task.at("metadata", "longhaul/v1/stopping").String() != "canceled" {
		t.Errorf("task is %v", task)
	}
}

// The end that was recorded first counts.
func TestCancel_losesTheRace(t *testing.T) {
	for outcome, code := range map[opt.TaskState]string{opt.TaskCompleted: "-32002", opt.TaskFailed: "-32002", opt.TaskRejected: "-32002", "": ""} {
		for _, id := range []string{"obj-" + u("m"), "task-" + u("m") + "-1-0"} {
			s := newService(t)
			s.send(t, "m", "slow")
			s.world.Before(func(context.Context, string) error {
				s.world.Before(nil)
				if outcome != "" {
					s.world.End("task-"+u("m")+"-1-0", opt.Outcome{State: outcome, Code: "x", Message: "It is over."})
				}
				return nil
			})
			test.Is(t, fmt.Sprintf("%s, %s: code", id, outcome), code, s.call(t, "CancelTask", `{"id":"`+id+`"}`).at("error", "code").String())
		}
	}
}

// The event of a cancellation names who asked for it. A second one does not reach the engine.
func TestCancel_principal(t *testing.T) {
	s := newService(t)
	s.send(t, "m", "slow")
	id := "obj-" + u("m")
	s.must(t, "CancelTask", `{"id":"`+id+`"}`)
	s.unchanged(t, func() { wantCode(t, s.call(t, "CancelTask", `{"id":"`+id+`"}`), "-32002") })
	events := test.Value(s.world.Journal().Events(t.Context(), id, 0, 0))(t)
	named := func(r shown.Recorded) bool {
		return r.Event.Kind == opt.ObjectiveStopping && r.Event.Principal == "ann"
	}
	if !slices.ContainsFunc(events, named) {
		t.Errorf("no event names ann: %v", events)
	}
}
