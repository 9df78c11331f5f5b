package api_test

import (
	"slices"
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
