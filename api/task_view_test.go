package api_test

import (
	"testing"
)

const pausedText = "This objective is paused: nothing new begins until a client resumes it."

// stands returns the state of a task, its pause and its status text.
func stands(task node) string {
	return task.at("status", "state").String() + " " + task.at("metadata", "longhaul/v1/paused").String() + " " + task.at("status", "message", "parts", "0", "text").String()
}

// A root task says that a client has paused its objective, until one resumes it.
func TestGetTask_paused(t *testing.T) {
	s := newService(t)
	id := s.send(t, "m", "slow").at("id").String()
	for _, step := range []struct{ status, want string }{
		{"", "TASK_STATE_WORKING  The plan, task 1 of 1"}, {"blocked", "TASK_STATE_WORKING true " + pausedText}, {"working", "TASK_STATE_WORKING  The plan, task 1 of 1"},
		{"blocked", "TASK_STATE_WORKING true " + pausedText}, {"canceled", "TASK_STATE_CANCELED  "},
	} {
		if step.status != "" {
			s.update(t, id, step.status)
		}
		if got := stands(s.must(t, "GetTask", `{"id":"`+id+`"}`)); got != step.want {
			t.Errorf("%q: GetTask shows %q, want %q", step.status, got, step.want)
		}
		for _, task := range s.must(t, "ListTasks", `{"contextId":"`+id+`"}`).at("tasks").v.([]any) {
			n := node{task}
			if got := stands(n); n.at("id").String() == id && got != step.want || n.at("id").String() != id && n.at("metadata").has("longhaul/v1/paused") {
				t.Errorf("%q: ListTasks shows %v", step.status, n)
			}
		}
	}
}

// A task that waits for a person still shows the question.
func TestGetTask_pausedAtAGate(t *testing.T) {
	s := newService(t)
	id := s.send(t, "m", "approve").at("id").String()
	s.update(t, id, "blocked")
	if got, want := stands(s.must(t, "GetTask", `{"id":"`+id+`"}`)), "TASK_STATE_INPUT_REQUIRED true Publish?"; got != want {
		t.Errorf("GetTask shows %q, want %q", got, want)
	}
}

// The root task of an attempt that was retried names the root task of the latest attempt.
func TestGetTask_retried(t *testing.T) {
	s := newService(t)
	id := s.send(t, "m", "slow").at("id").String()
	by := func(id string) string {
		return s.must(t, "GetTask", `{"id":"`+id+`"}`).at("metadata", "longhaul/v1/retriedBy").String()
	}
	for _, step := range []struct{ status, first, second string }{
		{"canceled", "", ""}, {"submitted", id + "~2", ""}, {"canceled", id + "~2", ""}, {"submitted", id + "~3", id + "~3"},
	} {
		s.update(t, id, step.status)
		if got := by(id); got != step.first {
			t.Errorf("after %s the first task names %q, want %q", step.status, got, step.first)
		}
		if step.second != "" && by(id+"~2") != step.second || step.first != "" && step.second == "" && by(id+"~2") != "" {
			t.Errorf("after %s the second task names %q", step.status, by(id+"~2"))
		}
	}
	if got := by(id + "~3"); got != "" {
		t.Errorf("the latest task names %q", got)
	}
}
