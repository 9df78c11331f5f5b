package api_test

import (
	"fmt"
	"strings"
	"testing"

	"longhaul/opt"
)

// A move by hand counts as a change.
func TestTaskUpdate_revision(t *testing.T) {
	s := newService(t)
	s.have(t)
	before, commands := s.revision(), len(s.world.Commands())
	for i, status := range []string{"working", "TASK_STATE_INPUT_REQUIRED", "working"} {
		n := s.must(t, "tasks/updateStatus", fmt.Sprintf(`{"id":%q,"status":%q,"longhaul/v1/revision":%d}`, taskID, status, before+int64(i)))
		if got, want := n.at("objective", "metadata", "longhaul/v1/revision").String(), fmt.Sprint(before+int64(i)+1); got != want {
			t.Errorf("after move %d the revision is %s, want %s", i, got, want)
		}
		if n.at("task", "id").String() != taskID || n.at("plan", "id").String() != planID || n.at("objective", "id").String() != objectiveID || n.at("objective").has("plans") {
			t.Errorf("the answer is %v", n)
		}
	}
	if got := len(s.world.Commands()) - commands; got != 3 {
		t.Errorf("%d commands were sent for three moves", got)
	}
}

// The last task completes its plan, and the last plan the objective.
func TestTaskUpdate_cascade(t *testing.T) {
	s := newService(t)
	s.have(t)
	want := []string{"working working", "completed working", "working working", "completed completed"}
	for i, plan := range []string{planID, planID, secondID, secondID} {
		id := opt.TaskID(plan, i%2)
		r := s.must(t, "tasks/updateStatus", `{"id":"`+id+`","status":"completed","message":"Done by hand."}`)
		if got := r.at("plan", "status").String() + " " + r.at("objective", "status").String(); got != want[i] {
			t.Errorf("after %s plan and objective are %s, want %s", id, got, want[i])
		}
	}
	task := s.must(t, "GetTask", `{"id":"`+taskID+`"}`).at("status")
	if task.at("state").String() != "TASK_STATE_COMPLETED" || task.at("message", "parts", "0", "text").String() != "Done by hand." {
		t.Errorf("status of the task is %v", task)
	}
	if root := s.must(t, "GetTask", `{"id":"`+objectiveID+`"}`).at("status", "state").String(); root != "TASK_STATE_COMPLETED" {
		t.Errorf("the root task is %s", root)
	}
}

// levels returns the states of the objective, the plan, the task and the root
// task.
func (s *fixture) levels(t *testing.T, moved node) string {
	t.Helper()
	root := s.must(t, "GetTask", `{"id":"`+objectiveID+`"}`).at("status", "state")
	return fmt.Sprintf("%s, %s %s, %s %s, %s", moved.at("task", "status"),
		moved.at("plan", "status"), moved.at("plan", "metadata", "opt/v1/blockedReason"),
		moved.at("objective", "status"), moved.at("objective", "metadata", "opt/v1/blockedReason"), root)
}

// If a client moves a task to a waiting state, the plan, the objective and the
// root task wait, too, and nothing else starts.
func TestTaskUpdate_waitsBeforeTheStart(t *testing.T) {
	s := newService(t)
	s.have(t)
	for _, step := range []struct{ status, want string }{
		{"working", "working, working , working , TASK_STATE_WORKING"},
		{"input-required", "input-required, blocked input, blocked input, TASK_STATE_INPUT_REQUIRED"},
		{"working", "working, working , working , TASK_STATE_WORKING"},
		{"auth-required", "auth-required, blocked auth, blocked auth, TASK_STATE_AUTH_REQUIRED"},
	} {
		if got := s.levels(t, s.update(t, taskID, step.status)); got != step.want {
			t.Errorf("%s, want %s", got, step.want)
		}
	}
	o := s.objective(t)
	if got, want := o.at("metadata", "longhaul/v1/blockedBy").String(), `{"planId":"`+planID+`","taskId":"`+taskID+`"}`; got != want {
		t.Errorf("blocked by %s, want %s", got, want)
	}
	if o.at("plans", "0", "tasks", "1", "status").String() != "pending" || o.at("plans", "1", "status").String() != "pending" {
		t.Errorf("something was started: %v", o)
	}
	wantRefusal(t, s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"working"}`), "blocked", "working")
}

// A linked task has the id of the task that stands in for it.
func TestLinkTask(t *testing.T) {
	s := newService(t)
	s.have(t)
	n := s.must(t, "tasks/link", `{"id":"`+taskID+`","a2aTaskId":"task-elsewhere"}`).at("task")
	if n.at("id").String() != taskID || n.at("a2aTaskId").String() != "task-elsewhere" || n.at("status").String() != "pending" {
		t.Errorf("task is %v", n)
	}
	s.update(t, taskID, "working")
	wantRefusal(t, s.call(t, "tasks/link", `{"id":"`+taskID+`","a2aTaskId":"another"}`), "working", "linked")
	tasks := s.must(t, "plans/get", `{"id":"`+planID+`"}`).at("plan", "tasks")
	if got := tasks.at("0", "a2aTaskId").String() + tasks.at("1", "a2aTaskId").String(); got != "task-elsewhere" {
		t.Errorf("tasks are known by %q", got)
	}
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
	if task := s.world.Objective(objectiveID).Plan(planID).Task(taskID); task.State != opt.TaskCompleted {
		t.Errorf("the task that follows one that was completed is %s", task.State)
	}
}

// The error about an unknown plan task says which ids are valid.
func TestPlanTask_notFound(t *testing.T) {
	s := newService(t)
	s.have(t)
	const want = "Plan task not found: id must be that of a task of a plan, as plans/get shows it"
	for method, more := range map[string]string{"tasks/link": `"a2aTaskId":"t"`, "tasks/updateStatus": `"status":"working"`} {
		for _, id := range []string{"elsewhere", objectiveID, planID, taskID + "~2", opt.TaskID(planID, 7)} {
			if got := wantCode(t, s.call(t, method, `{"id":"`+id+`",`+more+`}`), "-32000"); got != want {
				t.Errorf("%s %s: %q", method, id, got)
			}
		}
	}
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

// A message also starts an objective whose tasks were moved by hand.
func TestSend_startsWhatWasBegunByHand(t *testing.T) {
	s := newService(t)
	s.have(t)
	s.update(t, taskID, "working")
	n := s.must(t, "SendMessage", `{"message":`+messageJSON("m-1", "slow", `,"contextId":"`+objectiveID+`"`)+`}`)
	if n.at("task", "id").String() != objectiveID || !s.world.Objective(objectiveID).Started {
		t.Errorf("the message began %v", n)
	}
	s.update(t, objectiveID, "canceled")
	if n := s.must(t, "SendMessage", `{"message":`+messageJSON("m-2", "slow", `,"contextId":"`+objectiveID+`"`)+`}`); n.at("task", "id").String() == objectiveID {
		t.Errorf("after the end the message began %v", n)
	}
}

// Calls about a plan task of an objective that has begun to stop are no commands.
func TestTaskUpdate_whileStopping(t *testing.T) {
	s := newService(t)
	s.have(t)
	s.update(t, objectiveID, "working")
	s.world.Stubborn()
	s.update(t, objectiveID, "canceled")
	s.unchanged(t, func() {
		wantRefusal(t, s.call(t, "tasks/updateStatus", `{"id":"`+taskID+`","status":"completed"}`), "working", "completed")
	})
}
