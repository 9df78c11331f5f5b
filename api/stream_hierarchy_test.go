package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// story takes an objective through all events of the extension, with two
// attempts.
func (s *fixture) story(t *testing.T) {
	t.Helper()
	s.have(t)
	s.must(t, "plans/update", `{"id":"`+secondID+`","dependencies":["`+planID+`"]}`)
	call := func(method, params string) { s.must(t, method, params) }
	call("tasks/link", `{"id":"`+opt.TaskID(planID, 1)+`","a2aTaskId":"elsewhere"}`)
	call("objectives/update", `{"id":"`+objectiveID+`","status":"working","name":"New"}`)
	call("plans/addTasks", `{"id":"`+planID+`","tasks":[{"name":"Third"}]}`)
	call("plans/update", `{"id":"`+planID+`","tasks":[{"id":"`+opt.TaskID(planID, 2)+`","dependencies":["`+taskID+`"]}]}`)
	s.world.Gate(taskID, *approval())
	call("plans/update", `{"id":"`+planID+`","name":"Renamed"}`)
	call("tasks/updateStatus", `{"id":"`+taskID+`","status":"failed","message":"It broke."}`)
	call("objectives/update", `{"id":"`+objectiveID+`","status":"submitted"}`)
	call("objectives/update", `{"id":"`+objectiveID+`","status":"working"}`)
	call("objectives/update", `{"id":"`+objectiveID+`","status":"canceled"}`)
}

// told returns an event of a stream as a line: its number, the change around the
// task, and the state of the task.
func told(e sse) string {
	u := e.data.at("result", "statusUpdate")
	state := strings.TrimPrefix(u.at("status", "state").String(), "TASK_STATE_")
	m := u.at("metadata")
	c := m.at("opt/v1/event")
	if m.has("openwop") {
		state += ", asks " + u.at("status", "message", "parts", "0", "text").String()
	} else if state == "INPUT_REQUIRED" && u.at("status").has("message") {
		state += " with a question"
	}
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

func TestStream_hierarchy(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	s.story(t)
	extended := []string{"A2A-Extensions", a2a.ExtensionOPT}
	follow := func(id, after string, headers ...string) []sse {
		return open(t, url, "1.0", "SubscribeToTask", `{"id":"`+id+`"}`, append(slices.Clone(headers), "Last-Event-ID", after)...).all()
	}
	t.Run("golden", func(t *testing.T) {
		var got strings.Builder
		for _, root := range []string{objectiveID, objectiveID + "~2"} {
			fmt.Fprintf(&got, "-- %s --\n", root)
			for _, e := range follow(root, "0", extended...) {
				fmt.Fprintln(&got, told(e))
			}
		}
		wantGolden(t, "testdata/hierarchy.txt", got.String())
	})
	t.Run("the same events, wherever a stream begins", func(t *testing.T) {
		for i := range 4 {
			root, headers := []string{objectiveID, objectiveID + "~2"}[i/2], extended[:i%2*2]
			whole := follow(root, "0", headers...)
			for i, e := range whole[:len(whole)-1] {
				if diff := cmp.Diff(fmt.Sprint(whole[i+1:]), fmt.Sprint(follow(root, e.id, headers...))); diff != "" {
					t.Fatalf("after %s (-from the beginning +from there):\n%s", e.id, diff)
				}
			}
		}
	})
	t.Run("none without the extension, and of a plan task", func(t *testing.T) {
		for id, headers := range map[string][]string{objectiveID: nil, objectiveID + "~2": nil, taskID: extended} {
			for _, e := range follow(id, "0", headers...) {
				if u := e.data.at("result", "statusUpdate"); u.at("metadata").has("opt/v1/event") || u.at("taskId").String() != id {
					t.Errorf("%s gets %v", id, u)
				}
			}
		}
	})
	t.Run("the history has the order of tasks", func(t *testing.T) {
		third := opt.TaskID(planID, 2)
		page, err := s.service.Events.ListEvents(t.Context(), &call.Call{Caller: call.Caller{Tenant: "acme"}}, read.EventListParams{ObjectiveID: objectiveID, TaskID: third, Limit: 100})
		i := slices.IndexFunc(page.Events, func(r shown.Recorded) bool { return r.Event.Kind == opt.TasksOrdered })
		if err != nil || i < 0 {
			t.Fatalf("%v, %v", page, err)
		}
		e := page.Events[i].Event
		if diff := cmp.Diff([]opt.TaskOrder{{ID: third, Dependencies: []string{taskID}}}, e.Order); diff != "" || e.Principal != "ann" {
			t.Errorf("by %s (-want +got):\n%s", e.Principal, diff)
		}
	})
	t.Run("a change around a waiting task is not final, and the changes are those of 1.0", func(t *testing.T) {
		changes := func(events []sse, update ...string) (list []string) {
			for _, e := range events {
				if m := e.data.at(update...).at("metadata"); m.has("opt/v1/event") {
					list = append(list, e.id+" "+m.at("opt/v1/event").String())
				}
			}
			return list
		}
		var finals []string
		events := open(t, url, "0.3", "tasks/resubscribe", `{"id":"`+objectiveID+`","metadata":{"longhaul/v1/after":0}}`, "X-A2A-Extensions", a2a.ExtensionOPT).all()
		for _, e := range events {
			u := e.data.at("result")
			if u.at("final").String() == "true" {
				finals = append(finals, u.at("status", "state").String())
			}
			if u.at("metadata").has("opt/v1/event") && u.at("final").String() != "false" {
				t.Errorf("final is %v: %v", u.at("final"), u)
			}
		}
		if !slices.Equal(finals, []string{"input-required"}) { // the stream ends there
			t.Errorf("final were %v", finals)
		}
		got := changes(events, "result")
		want := changes(follow(objectiveID, "0", extended...), "result", "statusUpdate")[:len(got)]
		if diff := cmp.Diff(want, got); diff != "" || len(got) < 20 {
			t.Errorf("the %d changes until then (-1.0 +0.3):\n%s", len(got), diff)
		}
	})
}

// A stream that begins while a task waits, at a gate or by hand, has the updates of one that began
// before.
func TestStream_hierarchyOfWaiting(t *testing.T) {
	for name, wait := range map[string]func(s *fixture){
		"at a gate": func(s *fixture) { s.world.Gate(taskID, *approval()) },
		"by hand": func(s *fixture) {
			s.must(t, "tasks/updateStatus", `{"id":"`+taskID+`","status":"input-required","message":"Ask Bob."}`)
		},
	} {
		s := newService(t)
		url := s.listen(t)
		follow := func(headers ...string) *reader {
			return open(t, url, "1.0", "SubscribeToTask", `{"id":"`+objectiveID+`"}`, append(headers, "A2A-Extensions", a2a.ExtensionOPT)...)
		}
		s.have(t)
		s.update(t, objectiveID, "working")
		wait(s)
		late := follow()
		late.event()
		s.must(t, "plans/update", `{"id":"`+planID+`","name":"Renamed"}`)
		s.update(t, taskID, "failed") // and all else ends
		got, whole := late.all(), follow("Last-Event-ID", "0").all()
		if diff := cmp.Diff(fmt.Sprint(whole[len(whole)-len(got):]), fmt.Sprint(got)); diff != "" || len(got) < 4 {
			t.Errorf("%s, the stream that began late differs (-from the beginning +from there):\n%s", name, diff)
		}
	}
}

// Clients without the extension get the progress of the root task as tasks begin and end,
// and reads show the same.
func TestStream_progress(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	o := s.must(t, "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"slow"}],"metadata":{"opt/v1/plan":{"name":"Writing","tasks":[{"name":"a"},{"name":"b"},{"name":"c"}]}}},"configuration":{"returnImmediately":true}}`).at("task", "id").String()
	shows := func(at node) string {
		return fmt.Sprintf("%s, %s%%: %s", at.at("status", "state"), at.at("metadata", "longhaul/v1/progress"), at.at("status", "message", "parts", "0", "text"))
	}
	var read []string
	look := func() { read = append(read, shows(s.must(t, "GetTask", `{"id":"`+o+`"}`))) }
	plan := opt.PlanID(o, 1)
	look()
	s.finish(opt.TaskID(plan, 0))
	look()
	s.world.Gate(opt.TaskID(plan, 1), *approval())
	look()
	s.say(t, o, "r", `{"data":{"action":"accept"}}`, "")
	look()
	s.finish(opt.TaskID(plan, 1))
	look()
	live := open(t, url, "1.0", "SubscribeToTask", `{"id":"`+o+`"}`)
	read = append(read, shows(live.event().data.at("result", "task")))
	s.finish(opt.TaskID(plan, 2))
	read = append(read, shows(s.must(t, "GetTask", `{"id":"`+o+`"}`)))
	wantRead := []string{
		"TASK_STATE_WORKING, 0%: Writing, task 1 of 3", "TASK_STATE_WORKING, 33%: Writing, task 2 of 3", "TASK_STATE_INPUT_REQUIRED, 33%: Publish?",
		"TASK_STATE_WORKING, 33%: Writing, task 2 of 3", "TASK_STATE_WORKING, 66%: Writing, task 3 of 3", "TASK_STATE_WORKING, 66%: Writing, task 3 of 3", "TASK_STATE_COMPLETED, %: ",
	}
	test.Equal(t, "reads", wantRead, read)
	var told []string
	for _, e := range open(t, url, "1.0", "SubscribeToTask", `{"id":"`+o+`"}`, "Last-Event-ID", "0").all() {
		u := e.data.at("result", "statusUpdate")
		if u.v == nil {
			continue
		}
		told = append(told, shows(u))
		for key := range u.at("metadata").v.(map[string]any) {
			if key != "opt/v1/objectiveId" && key != "longhaul/v1/progress" && u.at("status", "state").String() == "TASK_STATE_WORKING" {
				t.Errorf("metadata has %s", key)
			}
		}
	}
	wantTold := []string{
		"TASK_STATE_WORKING, 0%: ", "TASK_STATE_WORKING, 0%: Writing, task 1 of 3", "TASK_STATE_WORKING, 33%: Writing, task 1 of 3",
		"TASK_STATE_WORKING, 33%: Writing, task 2 of 3", "TASK_STATE_INPUT_REQUIRED, 33%: Publish?", "TASK_STATE_WORKING, 33%: Writing, task 2 of 3",
		"TASK_STATE_WORKING, 66%: Writing, task 2 of 3", "TASK_STATE_WORKING, 66%: Writing, task 3 of 3", "TASK_STATE_COMPLETED, %: ",
	}
	test.Equal(t, "the stream", wantTold, told)
	if got := live.all(); len(got) == 0 || shows(got[len(got)-1].data.at("result", "statusUpdate")) != wantTold[len(wantTold)-1] {
		t.Errorf("the stream that began late shows %v", got)
	}
}

// A new attempt begins with the tasks that are completed.
func TestStream_progressRetried(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	id := s.must(t, "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"slow"}],"metadata":{"opt/v1/plan":{"name":"Writing","tasks":[{"name":"a"},{"name":"b"},{"name":"c"}]}}},"configuration":{"returnImmediately":true}}`).at("task", "id").String()
	s.finish(opt.TaskID(opt.PlanID(id, 1), 0))
	for _, status := range []string{"canceled", "submitted", "working"} {
		s.update(t, id, status)
	}
	want := "TASK_STATE_WORKING  Writing, task 2 of 3"
	test.Is(t, "GetTask shows", want, stands(s.must(t, "GetTask", `{"id":"`+id+`~2"}`)))
	stream := open(t, url, "1.0", "SubscribeToTask", `{"id":"`+id+`~2"}`, "Last-Event-ID", "0")
	s.update(t, id, "canceled")
	var told []string
	for _, e := range stream.all() {
		if u := e.data.at("result", "statusUpdate"); u.v != nil {
			told = append(told, stands(u)+" "+u.at("metadata", "longhaul/v1/progress").String())
		}
	}
	wantTold := []string{"TASK_STATE_WORKING  Writing, task 1 of 3 33", want + " 33", "TASK_STATE_WORKING  Writing, task 2 of 3 66", "TASK_STATE_CANCELED   "}
	test.Equal(t, "the stream", wantTold, told)
}

const pausedText = "This objective is paused: nothing new begins until a client resumes it."

// stands returns the state of a task, its pause and its status text.
func stands(task node) string {
	return task.at("status", "state").String() + " " + task.at("metadata", "longhaul/v1/paused").String() + " " + task.at("status", "message", "parts", "0", "text").String()
}

// An update of a root task whose objective is paused says so, wherever the stream
// began.
func TestStream_paused(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	id := s.send(t, "m", "slow").at("id").String()
	plan := opt.PlanID(id, 1)
	s.update(t, id, "blocked")
	running := open(t, url, "1.0", "SubscribeToTask", `{"id":"`+id+`"}`, "A2A-Extensions", a2a.ExtensionOPT)
	test.Is(t, "the stream begins with", "TASK_STATE_WORKING true "+pausedText, stands(running.event().data.at("result", "task")))
	s.must(t, "plans/update", `{"id":"`+plan+`","name":"New"}`)
	s.update(t, id, "working")
	s.must(t, "plans/update", `{"id":"`+plan+`","name":"Newer"}`)
	s.finish(opt.TaskID(plan, 0))
	rest := running.all()
	whole := open(t, url, "1.0", "SubscribeToTask", `{"id":"`+id+`"}`, "A2A-Extensions", a2a.ExtensionOPT, "Last-Event-ID", "0").all()
	test.Equal(t, "the stream that began during the pause differs", fmt.Sprint(whole[len(whole)-len(rest):]), fmt.Sprint(rest))
	var lines []string
	for _, e := range whole {
		u := e.data.at("result", "statusUpdate")
		if kind := u.at("metadata", "opt/v1/event", "kind").String(); kind == "objective" || kind == "plan" && len(lines) > 0 {
			lines = append(lines, kind+" "+stands(u))
		}
	}
	on, off := " TASK_STATE_WORKING true "+pausedText, " TASK_STATE_WORKING  "
	if got := strings.Join(lines, "\n"); !strings.Contains(got, "objective"+on+"\nplan"+on) || !strings.Contains(got, "objective"+off+"\nplan"+off) {
		t.Errorf("the stream shows\n%s", got)
	}
}
