package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/opt"
)

// story has an objective go through all that the extension tells of, with two
// attempts at it.
func (s *fixture) story(t *testing.T) {
	t.Helper()
	s.have(t)
	s.must(t, "plans/update", `{"id":"`+secondID+`","dependencies":["`+planID+`"]}`)
	call := func(method, params string) { s.must(t, method, params) }
	call("tasks/link", `{"id":"`+opt.TaskID(planID, 1)+`","a2aTaskId":"elsewhere"}`)
	call("objectives/update", `{"id":"`+objectiveID+`","status":"working","name":"New"}`)
	call("plans/addTasks", `{"id":"`+planID+`","tasks":[{"name":"Third"}]}`)
	s.world.Gate(taskID, *approval())
	call("plans/update", `{"id":"`+planID+`","name":"Renamed"}`)
	call("tasks/updateStatus", `{"id":"`+taskID+`","status":"failed","message":"It broke."}`)
	call("objectives/update", `{"id":"`+objectiveID+`","status":"submitted"}`)
	call("objectives/update", `{"id":"`+objectiveID+`","status":"working"}`)
	call("objectives/update", `{"id":"`+objectiveID+`","status":"canceled"}`)
}

// told returns an event of a stream in a line: its number, what it tells of
// beside the task, and the state of the task.
func told(e sse) string {
	u := e.data.at("result", "statusUpdate")
	state := strings.TrimPrefix(u.at("status", "state").String(), "TASK_STATE_")
	m := u.at("metadata")
	c := m.at("opt/v1/event")
	if c.v == nil {
		return e.id + " is " + state
	}
	place := strings.TrimPrefix(m.at("opt/v1/planId").String(), "plan-"+objectiveID[4:]) + "/" + m.at("opt/v1/taskIndex").String()
	if id := c.at("id").String(); strings.HasPrefix(id, "task-") != m.has("opt/v1/taskIndex") || m.at("opt/v1/objectiveId").String() != objectiveID {
		place += " in the wrong place"
	}
	return fmt.Sprintf("%s %s %s %s→%s r%s, %s", e.id, c.at("kind"), place, c.at("from"), c.at("to"), c.at("revision"), state)
}

func (r *reader) all() []sse {
	var out []sse
	for e, ok := r.next(); ok; e, ok = r.next() {
		out = append(out, e)
	}
	return out
}

// Wherever a stream begins, it tells the same.
func TestStream_hierarchyFromAnywhere(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	s.story(t)
	for _, root := range []string{objectiveID, objectiveID + "~2"} {
		follow := func(after string) []sse {
			return open(t, url, "1.0", "SubscribeToTask", `{"id":"`+root+`"}`, "A2A-Extensions", a2a.ExtensionOPT, "Last-Event-ID", after).all()
		}
		whole := follow("0")
		for i, e := range whole[:len(whole)-1] {
			if diff := cmp.Diff(fmt.Sprint(whole[i+1:]), fmt.Sprint(follow(e.id))); diff != "" {
				t.Fatalf("after %s (-from the beginning +from there):\n%s", e.id, diff)
			}
		}
	}
}

// Who does not understand the extension is told nothing of it; nor is who follows
// a plan task.
func TestStream_noHierarchy(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	s.story(t)
	for id, headers := range map[string][]string{objectiveID: nil, objectiveID + "~2": nil, taskID: {"A2A-Extensions", a2a.ExtensionOPT}} {
		for _, e := range open(t, url, "1.0", "SubscribeToTask", `{"id":"`+id+`"}`, append(headers, "Last-Event-ID", "0")...).all() {
			if u := e.data.at("result", "statusUpdate"); u.at("metadata").has("opt/v1/event") || u.at("taskId").String() != id {
				t.Errorf("%s is told %v", id, u)
			}
		}
	}
}

// What happens around a task that waits does not end its stream, nor say so.
func TestStream_hierarchyIsNotFinal(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	s.story(t)
	var finals []string
	for _, e := range open(t, url, "0.3", "tasks/resubscribe", `{"id":"`+objectiveID+`","metadata":{"longhaul/v1/after":0}}`, "X-A2A-Extensions", a2a.ExtensionOPT).all() {
		u := e.data.at("result")
		if u.at("final").String() == "true" {
			finals = append(finals, u.at("status", "state").String())
		}
		if u.at("metadata").has("opt/v1/event") && u.at("final").String() != "false" {
			t.Errorf("final is %v: %v", u.at("final"), u)
		}
	}
	if !slices.Equal(finals, []string{"input-required"}) {
		t.Errorf("final were %v", finals)
	}
}
