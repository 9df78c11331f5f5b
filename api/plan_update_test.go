package api_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
)

// The limits on the card apply to new work.
func TestLimits_followTheService(t *testing.T) {
	s := newService(t, func(c *config) { c.Limits = opt.Limits{Plans: 1, Tasks: 2} })
	params := parse(t, s.get(t, "/.well-known/agent-card.json", "A2A-Version", "1.0").Body.Bytes()).at("capabilities", "extensions", "0", "params")
	if params.at("maxPlansPerObjective").String() != "1" || params.at("maxTasksPerPlan").String() != "2" {
		t.Errorf("the card says %v", params)
	}
	id := s.must(t, "objectives/create", `{"name":"x"}`).at("id").String()
	create := func(tasks string) node {
		return s.call(t, "plans/create", `{"objectiveId":"`+id+`","name":"x","tasks":[`+tasks+`]}`)
	}
	const three = `{"name":"a"},{"name":"b"},{"name":"c"}`
	if text := wantCode(t, create(three), "-32602"); !strings.Contains(text, "maxTasksPerPlan") {
		t.Errorf("the error does not name the limit: %q", text)
	}
	if n := create(`{"name":"a"}`); n.has("error") {
		t.Fatal(n)
	}
	if text := wantCode(t, create(`{"name":"a"}`), "-32602"); !strings.Contains(text, "maxPlansPerObjective") {
		t.Errorf("the error does not name the limit: %q", text)
	}
	n := s.call(t, "SendMessage", `{"message":`+messageJSON("m", "x", `,"metadata":{"opt/v1/plan":{"name":"P","tasks":[`+three+`]}}`)+`}`)
	if wantCode(t, n, "-32602"); field(n) != "message.metadata.opt/v1/plan.tasks" {
		t.Errorf("a plan in a message: %v", n)
	}
}

// The indexes of added tasks follow the existing ones.
func TestAddTasks(t *testing.T) {
	s := newService(t)
	s.have(t)
	n := s.must(t, "plans/addTasks", `{"planId":"`+planID+`","tasks":[{"name":"Third","dependencies":["task-1"]},{"id":"task-0","name":"Fourth","dependencies":["task-2","`+taskID+`"]}]}`)
	for i, want := range []string{`[]`, `[]`, `["` + opt.TaskID(planID, 1) + `"]`, `["` + opt.TaskID(planID, 2) + `","` + taskID + `"]`} {
		if got := n.at("plan", "tasks", fmt.Sprint(i), "dependencies").String(); got != want {
			t.Errorf("task %d depends on %s, want %s: %v", i, got, want, n)
		}
	}
}

// In a request an empty list of dependencies, by which a task or a plan begins at once, differs
// from none, by which it keeps its place in the list.
func TestPlanCreate_order(t *testing.T) {
	s := newService(t)
	s.have(t)
	for on, want := range map[string]bool{``: true, `,"dependencies":null`: true, `,"dependencies":[]`: false} {
		n := s.must(t, "plans/create", `{"objectiveId":"`+objectiveID+`","name":"x"`+on+`,"tasks":[{"name":"a"},{"name":"b"`+on+`}]}`)
		more := s.must(t, "plans/addTasks", `{"id":"`+n.at("plan", "id").String()+`","tasks":[{"name":"c"`+on+`}]}`)
		o := s.world.Objective(objectiveID)
		p := o.Plan(more.at("plan", "id").String())
		for i, b := range map[int]int{1: len(p.Before(p.Tasks[1])), 2: len(p.Before(p.Tasks[2])), 3: len(o.Before(p))} {
			if (b == 1) != want {
				t.Errorf("with %q, %d waits for %d others", on, i, b)
			}
		}
		for _, path := range [][]string{{"plan"}, {"plan", "tasks", "1"}, {"plan", "tasks", "2"}} {
			if shown := more.at(append(path, "metadata", "longhaul/v1/atOnce")...).String(); (shown != "true") != want {
				t.Errorf("with %q, %v is shown as %v", on, path, more.at(path...))
			}
		}
	}
}

// An update says by a list which plans a plan depends on. Null and no list change nothing, and
// the list that was read raises no revision.
func TestPlanUpdate_reorders(t *testing.T) {
	s := newService(t)
	s.have(t)
	for _, step := range []struct{ change, want string }{ // the second plan, and by how much the revision rises
		{`"dependencies":["PLAN"],"name":"New"`, `["PLAN"] pending New 1`},
		{`"dependencies":["PLAN"]`, `["PLAN"] pending New 0`},
		{`"dependencies":null,"name":"Newer"`, `["PLAN"] pending Newer 1`},
		{`"dependencies":[],"longhaul/v1/revision":5`, `[] pending Newer 1`},
		{`"dependencies":[]`, `[] pending Newer 0`},
		{`"dependencies":[],"status":"skipped"`, `[] skipped Newer 1`},
	} {
		before := s.revision()
		ids := strings.NewReplacer("PLAN", planID)
		p := s.must(t, "plans/update", ids.Replace(`{"id":"`+secondID+`",`+step.change+`}`)).at("plan")
		got := fmt.Sprintf("%s %s %s %d", p.at("dependencies"), p.at("status"), p.at("name"), s.revision()-before)
		test.Is(t, step.change, ids.Replace(step.want), got)
	}
}

// Of two that order tasks by the same revision the second is refused, sees what the first has done, and may change
// that.
func TestPlanUpdate_twoEditors(t *testing.T) {
	s := newService(t)
	s.have(t)
	s.must(t, "plans/addTasks", `{"id":"`+planID+`","tasks":[{"name":"Third"}]}`)
	ids := strings.NewReplacer("PLAN", planID, "FIRST", taskID, "SECOND", opt.TaskID(planID, 1), "THIRD", opt.TaskID(planID, 2))
	seen := s.revision()
	order := func(tasks string) node {
		return s.call(t, "plans/update", ids.Replace(fmt.Sprintf(`{"id":"PLAN","tasks":[%s],"longhaul/v1/revision":%d}`, tasks, seen)))
	}
	const ann, bob = `{"id":"THIRD","dependencies":["FIRST"]}`, `{"id":"SECOND","dependencies":["THIRD"]},{"id":"THIRD","dependencies":["FIRST"]}`
	if n := order(ann); n.has("error") {
		t.Fatal(n)
	}
	for _, tasks := range []string{bob, ann} { // the same as another one has, too
		if n := order(tasks); !strings.Contains(n.String(), "STALE_REVISION") {
			t.Errorf("%s by an old revision: %v", tasks, n)
		}
	}
	is := func(in node, want string) {
		t.Helper()
		got := ""
		for i := range 3 {
			got += in.at("tasks", fmt.Sprint(i), "dependencies").String()
		}
		test.Is(t, "they wait for", ids.Replace(want), got)
	}
	o := s.objective(t)
	is(o.at("plans", "0"), `[][]["FIRST"]`)
	seen, _ = strconv.ParseInt(o.at("metadata", "longhaul/v1/revision").String(), 10, 64)
	is(order(bob).at("result", "plan"), `[]["THIRD"]["FIRST"]`)
	is(s.must(t, "plans/get", ids.Replace(`{"id":"PLAN"}`)).at("plan"), `[]["THIRD"]["FIRST"]`)
}

// A plan that is retried has the order that it had before: a completed task stays, and the others come one after another
// as they were put.
func TestPlanUpdate_tasksRetried(t *testing.T) {
	s := newService(t)
	s.have(t)
	s.must(t, "plans/addTasks", `{"id":"`+planID+`","tasks":[{"name":"Third"}]}`)
	s.update(t, objectiveID, "working")
	second, third := opt.TaskID(planID, 1), opt.TaskID(planID, 2)
	s.must(t, "plans/update", `{"id":"`+planID+`","tasks":[{"id":"`+second+`","dependencies":["`+third+`"]},{"id":"`+third+`","dependencies":["`+taskID+`"]}]}`)
	runs := func(id string) {
		t.Helper()
		for _, other := range []string{taskID, second, third} {
			for _, run := range []string{other, opt.RootID(other, 2)} {
				if _, ok := s.running(run); ok != (run == id) {
					t.Errorf("%s runs: %v, want %s alone", run, ok, id)
				}
			}
		}
	}
	runs(taskID)
	s.finish(taskID)
	runs(third)
	s.update(t, third, "failed")
	s.update(t, objectiveID, "submitted")
	s.update(t, objectiveID, "working")
	runs(opt.RootID(third, 2))
	s.finish(opt.RootID(third, 2))
	runs(opt.RootID(second, 2))
	s.finish(opt.RootID(second, 2))
	if p := s.world.Objective(objectiveID).Plan(planID); p.Status != opt.PlanCompleted || len(p.Before(p.Tasks[1])) != 1 || p.Before(p.Tasks[1])[0] != p.Tasks[2] {
		t.Errorf("the plan is %s, its second task waits for %v", p.Status, p.Before(p.Tasks[1]))
	}
}

// An update says by lists what tasks of a plan wait for, all at once. An order that they have raises no revision.
func TestPlanUpdate_tasks(t *testing.T) {
	s := newService(t)
	s.have(t)
	s.must(t, "plans/addTasks", `{"id":"`+planID+`","tasks":[{"name":"Third"}]}`)
	second, third := opt.TaskID(planID, 1), opt.TaskID(planID, 2)
	for _, step := range []struct {
		tasks, want string
		rises       int64
	}{
		{`{"id":"SECOND","dependencies":["THIRD"]},{"id":"THIRD","dependencies":["FIRST"]}`, `[] ["THIRD"] ["FIRST"]`, 1},
		{`{"id":"SECOND","dependencies":["task-2"]}`, `[] ["THIRD"] ["FIRST"]`, 0},
		{`{"id":"SECOND","dependencies":[]}`, `[] [] ["FIRST"]`, 1},
	} {
		before, ids := s.revision(), strings.NewReplacer("FIRST", taskID, "SECOND", second, "THIRD", third)
		p := s.must(t, "plans/update", ids.Replace(`{"id":"`+planID+`","tasks":[`+step.tasks+`]}`)).at("plan", "tasks")
		got := fmt.Sprint(p.at("0", "dependencies"), p.at("1", "dependencies"), p.at("2", "dependencies"))
		if want := ids.Replace(strings.ReplaceAll(step.want, "] [", "][")); strings.ReplaceAll(got, "] [", "][") != want || s.revision()-before != step.rises {
			t.Errorf("%s: %s, want %s; the revision rises by %d", step.tasks, got, want, s.revision()-before)
		}
	}
}
