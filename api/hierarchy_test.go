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
	s.have(t, func(o *opt.Objective) { o.Plans[1].Dependencies = []string{planID} })
	call := func(method, params string) {
		t.Helper()
		if n := s.call(t, method, params); n.has("error") {
			t.Fatalf("%s: %v", method, n)
		}
	}
	call("tasks/link", `{"id":"`+opt.TaskID(planID, 1)+`","a2aTaskId":"elsewhere"}`)
	call("objectives/update", `{"id":"`+objectiveID+`","status":"working","name":"New"}`)
	call("plans/addTasks", `{"id":"`+planID+`","tasks":[{"name":"Third"}]}`)
	s.engine.mu.Lock()
	s.engine.wait(objectiveID, objectiveID, taskID, "approve")
	s.engine.follow(objectiveID)
	s.engine.mu.Unlock()
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

func TestStream_hierarchy(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	s.story(t)
	for root, want := range map[string][]string{
		objectiveID: {
			"1 objective / →submitted r1, SUBMITTED",
			"2 plan -1/ →pending r1, SUBMITTED",
			"3 plan -2/ →pending r1, SUBMITTED",
			"4 task -1/1 pending→pending r1, SUBMITTED",
			"5 objective / submitted→submitted r2, SUBMITTED",
			"6 objective / submitted→submitted r3, SUBMITTED",
			"7 objective / submitted→working r3, SUBMITTED",
			"8 objective / working→working r4, SUBMITTED",
			"9 plan -1/ pending→working r4, SUBMITTED",
			"10 task -1/0 pending→working r4, SUBMITTED",
			"11 plan -2/ pending→blocked r4, SUBMITTED",
			"12 is WORKING",
			"13 plan -1/ working→working r4, WORKING",
			"14 objective / working→working r5, WORKING",
			"15 task -1/0 →input-required r5, WORKING",
			"16 is INPUT_REQUIRED",
			"17 plan -1/ working→blocked r5, INPUT_REQUIRED",
			"18 objective / working→blocked r5, INPUT_REQUIRED",
			"19 plan -1/ blocked→blocked r5, INPUT_REQUIRED",
			"20 objective / blocked→blocked r6, INPUT_REQUIRED",
			"21 task -1/0 input-required→failed r6, INPUT_REQUIRED",
			"22 task -1/1 pending→canceled r6, INPUT_REQUIRED",
			"23 task -1/2 pending→canceled r6, INPUT_REQUIRED",
			"24 plan -1/ blocked→failed r6, INPUT_REQUIRED",
			"27 task -2/0 pending→canceled r6, INPUT_REQUIRED",
			"28 task -2/1 pending→canceled r6, INPUT_REQUIRED",
			"29 plan -2/ blocked→skipped r6, INPUT_REQUIRED",
			"30 objective / blocked→failed r6, INPUT_REQUIRED",
			"31 is FAILED",
		},
		objectiveID + "~2": {
			"32 objective / failed→submitted r6, SUBMITTED",
			"33 plan -1/ failed→pending r6, SUBMITTED",
			"34 plan -2/ skipped→pending r6, SUBMITTED",
			"35 objective / submitted→working r6, SUBMITTED",
			"36 objective / working→working r7, SUBMITTED",
			"37 plan -1/ pending→working r7, SUBMITTED",
			"38 task -1/0 pending→working r7, SUBMITTED",
			"39 plan -2/ pending→blocked r7, SUBMITTED",
			"40 is WORKING",
			"42 objective / working→working r8, WORKING",
			"44 task -1/0 working→canceled r8, WORKING",
			"45 task -1/1 pending→canceled r8, WORKING",
			"46 task -1/2 pending→canceled r8, WORKING",
			"47 plan -1/ working→failed r8, WORKING",
			"49 task -2/0 pending→canceled r8, WORKING",
			"50 task -2/1 pending→canceled r8, WORKING",
			"51 plan -2/ blocked→skipped r8, WORKING",
			"52 objective / working→canceled r8, WORKING",
			"53 is CANCELED",
		},
	} {
		events := open(t, url, "1.0", "SubscribeToTask", `{"id":"`+root+`"}`, "A2A-Extensions", a2a.ExtensionOPT, "Last-Event-ID", "0").all()
		var got []string
		for _, e := range events {
			got = append(got, told(e))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events of %s mismatch (-want +got):\n%s", root, diff)
		}
	}
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

// A stream that begins with a snapshot tells what one tells that was resumed
// there.
func TestStream_hierarchyAfterSnapshot(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	s.have(t, nil)
	s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"working","name":"New"}`)
	s.engine.mu.Lock()
	s.engine.wait(objectiveID, objectiveID, taskID, "approve")
	s.engine.follow(objectiveID)
	s.journal.play(objectiveID, opt.Event{Kind: opt.TaskMoved, TaskID: objectiveID, To: "input-required", Gate: approval(taskID), Status: approval(taskID).Message("", "")})
	s.engine.mu.Unlock()
	subscribe := func(headers ...string) *reader {
		return open(t, url, "1.0", "SubscribeToTask", `{"id":"`+objectiveID+`"}`, append(headers, "A2A-Extensions", a2a.ExtensionOPT)...)
	}
	r := subscribe()
	snapshot := r.event()
	s.call(t, "plans/update", `{"id":"`+planID+`","name":"Renamed"}`)
	s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"failed"}`)
	got, want := r.all(), subscribe("Last-Event-ID", snapshot.id).all()
	if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); diff != "" {
		t.Errorf("events mismatch (-resumed +after the snapshot):\n%s", diff)
	}
	first := got[0].data.at("result", "statusUpdate")
	if first.at("metadata", "openwop", "interrupt", "interruptId").String() != taskID+":1" || first.at("status", "message", "parts", "0", "text").String() != "Publish?" {
		t.Errorf("around a task that waits: %v", first)
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
	r := open(t, url, "0.3", "tasks/resubscribe", `{"id":"`+objectiveID+`","metadata":{"longhaul/v1/after":`+atGate(s)+`}}`, "X-A2A-Extensions", a2a.ExtensionOPT)
	events := r.all()
	for _, e := range events[:len(events)-1] {
		if u := e.data.at("result"); u.at("final").String() != "false" {
			t.Errorf("final is %v: %v", u.at("final"), u)
		}
	}
	if last := events[len(events)-1].data.at("result", "status", "state").String(); last != "failed" || len(events) < 3 {
		t.Errorf("%d events came, the last one was %s", len(events), last)
	}
}

// atGate returns the number of the event with which the root task began to wait.
func atGate(s *fixture) string {
	i := slices.IndexFunc(s.journal.log[objectiveID], func(r opt.Recorded) bool { return r.Event.TaskID == objectiveID && r.Event.Gate != nil })
	return fmt.Sprint(s.journal.log[objectiveID][i].Seq)
}
