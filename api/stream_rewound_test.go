package api_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A task that was set back after its end shows both: the end, and then one status that says
// so, with the state from which it continues. A stream from the beginning continues there.
func TestSubscribe_setBack(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	s.send(t, "m", "slow")
	id := "obj-" + u("m")
	s.finish("task-" + u("m") + "-1-0")
	s.until(t, func() bool {
		return s.must(t, "GetTask", `{"id":"`+id+`"}`).at("status", "state").String() == "TASK_STATE_COMPLETED"
	})
	o := *s.world.Objective(id)
	o.Status, o.Root = opt.ObjectiveWorking, opt.TaskWorking
	err := s.journal.Record(t.Context(), opt.Batch{ObjectiveID: id, Source: id + "@2", Events: []opt.Event{
		{N: 1, Kind: opt.SourceRewound, At: o.UpdatedAt, Epoch: 2, Objective: &o, Head: o.Head(), Text: o.Text()},
	}})
	test.OK(t, err)
	task := s.must(t, "GetTask", `{"id":"`+id+`"}`)
	test.Is(t, "the task", "TASK_STATE_WORKING", task.at("status", "state").String())
	if shown := s.must(t, "objectives/get", `{"id":"`+id+`"}`).at("objective", "metadata"); !shown.has("longhaul/v1/rewound") {
		t.Errorf("the objective shows %v", shown)
	}
	stream := open(t, url, "1.0", "SubscribeToTask", `{"id":"`+id+`","metadata":{"longhaul/v1/after":0}}`)
	var states []string
	for {
		e := stream.event()
		update := e.data.at("result", "statusUpdate")
		states = append(states, update.at("status", "state").String())
		if update.at("metadata").has("longhaul/v1/rewound") {
			break
		}
	}
	if n := len(states); n < 2 || states[n-1] != "TASK_STATE_WORKING" || !slices.Contains(states, "TASK_STATE_COMPLETED") {
		t.Errorf("the stream shows %v", states)
	}
}

// A plan that is set back after the end of its objective, and makes its artifacts again, does not
// change how the objective ended: its end comes last in a stream from the beginning.
func TestSubscribe_planSetBackAfterTheEnd(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	s.send(t, "m", "slow")
	id, task := "obj-"+u("m"), "task-"+u("m")+"-1-0"
	s.finish(task)
	s.until(t, func() bool {
		return s.must(t, "GetTask", `{"id":"`+id+`"}`).at("status", "state").String() == "TASK_STATE_COMPLETED"
	})
	p := *s.world.Objective(id).Plans[0]
	again := *p.Tasks[0]
	p.Status, again.State, p.Tasks = opt.PlanWorking, opt.TaskWorking, []*opt.Task{&again}
	err := s.journal.Record(t.Context(), opt.Batch{ObjectiveID: id, Source: p.ID + "@2", Events: []opt.Event{
		{N: 1, Kind: opt.SourceRewound, At: p.UpdatedAt, Epoch: 2, PlanID: p.ID, Plan: &p, PlanHead: p.Head()},
		{N: 2, Kind: opt.ArtifactAdded, At: p.UpdatedAt, PlanID: p.ID, TaskID: task, RootID: id, Chunk: &opt.Chunk{
			Artifact: a2a.Artifact{ArtifactID: "again", Parts: []a2a.Part{a2a.TextPart("made again")}}, Last: true,
		}},
	}})
	test.OK(t, err)
	stream := open(t, url, "1.0", "SubscribeToTask", `{"id":"`+id+`","metadata":{"longhaul/v1/after":0}}`)
	if states := stream.states(); states[len(states)-1] != "completed" {
		t.Errorf("the stream shows %v", states)
	}
}

// A reader who resumes right after a set-back gets the same updates as one who reads all from the beginning.
func TestSubscribe_setBackForAllReaders(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	s.must(t, "SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"slow"}],"metadata":{"opt/v1/plan":{"name":"Writing","tasks":[{"name":"a"},{"name":"b"}]}}},"configuration":{"returnImmediately":true}}`)
	id, task := "obj-"+u("m"), "task-"+u("m")+"-1-0"
	s.until(t, func() bool {
		return s.must(t, "GetTask", `{"id":"`+task+`"}`).at("status", "state").String() == "TASK_STATE_WORKING"
	})
	o := *s.world.Objective(id)
	back := opt.Event{N: 1, Kind: opt.SourceRewound, At: o.UpdatedAt, Epoch: 2, Objective: &o, Head: o.Head(), Text: o.Text()}
	test.OK(t, s.journal.Record(t.Context(), opt.Batch{ObjectiveID: id, Source: id + "@2", Events: []opt.Event{back}}))
	events := test.Value(s.journal.Events(t.Context(), id, 0, 0))(t)
	last := events[len(events)-1].Seq
	resumed := open(t, url, "1.0", "SubscribeToTask", fmt.Sprintf(`{"id":%q,"metadata":{"longhaul/v1/after":%d}}`, id, last))

	p := *o.Plans[0]
	plan := s.world.Objective(id).Plans[0]
	p.Tasks = slices.Clone(plan.Tasks)
	done := *p.Tasks[0]
	done.State = opt.TaskCompleted
	p.Tasks[0] = &done
	moved := opt.Event{N: 1, Kind: opt.SourceRewound, At: o.UpdatedAt, Epoch: 2, PlanID: p.ID, Plan: &p, PlanHead: p.Head()}
	test.OK(t, s.journal.Record(t.Context(), opt.Batch{ObjectiveID: id, Source: p.ID + "@2", Events: []opt.Event{moved}}))
	ended := opt.Event{N: 2, Kind: opt.TaskMoved, At: o.UpdatedAt, TaskID: id, From: string(opt.TaskWorking), To: string(opt.TaskFailed)}
	test.OK(t, s.journal.Record(t.Context(), opt.Batch{ObjectiveID: id, Source: id + "@2", Events: []opt.Event{ended}}))
	read := func(r *reader) (all []string) {
		for {
			e := r.event()
			if n, _ := strconv.ParseInt(e.id, 10, 64); n > last {
				all = append(all, e.id+" "+e.data.String())
			}
			if e.data.at("result", "statusUpdate", "status", "state").String() == "TASK_STATE_FAILED" {
				return all
			}
		}
	}
	got := read(resumed)
	whole := read(open(t, url, "1.0", "SubscribeToTask", `{"id":"`+id+`","metadata":{"longhaul/v1/after":0}}`))
	if len(got) < 2 {
		t.Errorf("the plan's progress is not shown: %q", got)
	}
	test.Equal(t, "the resumed stream and the whole one", whole, got)
}
