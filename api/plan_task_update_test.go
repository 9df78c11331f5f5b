package api_test

import (
	"fmt"
	"strings"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
)

// A move by hand counts as a change.
func TestTaskUpdate_revision(t *testing.T) {
	s := newService(t)
	s.have(t)
	before, commands := s.revision(), len(s.world.Commands())
	for i, status := range []string{"working", "TASK_STATE_INPUT_REQUIRED", "working"} {
		n := s.must(t, "tasks/updateStatus", fmt.Sprintf(`{"id":%q,"status":%q,"longhaul/v1/revision":%d}`, taskID, status, before+int64(i)))
		test.Is(t, fmt.Sprintf("after move %d the revision is", i), fmt.Sprint(before+int64(i)+1), n.at("objective", "metadata", "longhaul/v1/revision").String())
		if n.at("task", "id").String() != taskID || n.at("plan", "id").String() != planID || n.at("objective", "id").String() != objectiveID || n.at("objective").has("plans") {
			t.Errorf("the answer is %v", n)
		}
	}
	test.Is(t, "commands were sent for three moves", 3, len(s.world.Commands())-commands)
}

// A task of this server is followed if the caller may read it.
func TestLinkTask_follows(t *testing.T) {
	s := newService(t)
	s.have(t, func(o *opt.Objective) { o.ContextID = "mine" })
	ours := s.send(t, "m-1", "slow work").at("id").String()
	anothers := s.must(t, "SendMessage", `{"message":`+messageJSON("m-2", "slow work", "")+`}`, "Authorization", "Bearer rival/bob").at("task", "id").String()
	beside := s.must(t, "SendMessage", `{"message":`+messageJSON("m-3", "slow work", `,"contextId":"mine"`)+`}`).at("task", "id").String()
	if n := s.call(t, "tasks/link", `{"id":"`+taskID+`","a2aTaskId":"`+beside+`"}`); wantCode(t, n, "-32602") == "" || field(n) != "a2aTaskId" {
		t.Errorf("to a task in the same context: %v", n)
	}
	s.world.Fail(opt.TaskID(opt.PlanID(beside, 1), 0), "broken", "It broke.")
	for i, tc := range []struct {
		id     string
		follow bool
	}{{anothers, false}, {opt.NewObjectiveID([16]byte{1}), false}, {"elsewhere", false}, {beside, true}, {opt.TaskID(opt.PlanID(ours, 1), 0), true}, {ours, true}} {
		n := s.must(t, "tasks/link", `{"id":"`+taskID+`","a2aTaskId":"`+tc.id+`"}`).at("task")
		link := n.at("metadata", "longhaul/v1/link")
		if n.at("a2aTaskId").String() != tc.id || link.at("followed").v != tc.follow || link.has("note") == tc.follow {
			t.Errorf("%d: %v", i, n)
		}
		if task := s.world.Objective(objectiveID).Plan(planID).Task(taskID); task.Link != tc.id || task.Follow != tc.follow {
			t.Errorf("%d: linked to %q, followed is %v", i, task.Link, task.Follow)
		}
	}
	s.update(t, objectiveID, "working")
	s.finish(opt.TaskID(opt.PlanID(ours, 1), 0))
	test.Is(t, "the task that follows one that was completed is", opt.TaskCompleted, s.world.Objective(objectiveID).Plan(planID).Task(taskID).State)
}

// Links that form a cycle are refused, since they would always wait for each other.
func TestLinkTask_cycles(t *testing.T) {
	s := newService(t)
	link := func(id, to string) node {
		return s.call(t, "tasks/link", `{"id":"`+id+`","a2aTaskId":"`+to+`"}`)
	}
	var roots, tasks []string
	for i := range 3 {
		id := s.must(t, "objectives/create", fmt.Sprintf(`{"name":"O%d"}`, i)).at("id").String()
		plan := s.must(t, "plans/create", `{"objectiveId":"`+id+`","name":"P","tasks":[{"name":"a"},{"name":"b"}]}`).at("id").String()
		roots, tasks = append(roots, id), append(tasks, opt.TaskID(plan, 0))
	}
	for i := range 2 {
		if n := link(tasks[i], roots[i+1]); n.has("error") {
			t.Fatal(n)
		}
	}
	for i, to := range []string{roots[0], tasks[0], opt.TaskID(opt.PlanID(roots[1], 1), 1)} {
		n := link(tasks[2], to)
		if text := wantCode(t, n, "-32602"); field(n) != "a2aTaskId" || !strings.Contains(text, "cycle") {
			t.Errorf("%d: %q", i, text)
		}
	}
	if n := link(tasks[1], "elsewhere"); n.has("error") {
		t.Fatal(n)
	}
	if n := link(tasks[2], roots[0]); n.has("error") {
		t.Errorf("without the cycle: %v", n)
	}
}
