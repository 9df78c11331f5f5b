package opt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

// Changes of plans while they run, and new attempts.
func changing(t *testing.T, s *service) {
	s.each(t, "add tasks with dependencies", (*client).addDependent)
	s.each(t, "add plans", (*client).addPlans)
	s.each(t, "interrupted by nothing", (*client).undisturbed)
	s.each(t, "retry", (*client).retry)
	s.each(t, "retry what was canceled", (*client).retryCanceled)
	s.each(t, "retry with large results", (*client).retryLarge)
	s.each(t, "retry at once", (*client).retryAtOnce)
	s.each(t, "replan", (*client).replan)
	s.each(t, "replan a list", (*client).replanList)
	s.each(t, "replan without a plan", (*client).replanInVain)
	s.each(t, "link", (*client).link)
	s.each(t, "link to a task of the service", (*client).follow)
	s.each(t, "link to a task of the service, and cancel", (*client).followNoMore)
	s.each(t, "a race for a revision", (*client).race)
	s.each(t, "try a plan again", (*client).planAgain)
	s.each(t, "reorder", (*client).reorder)
}

// specs makes the tasks of a request from scripts.
func specs(scripts ...string) []harness.PlanTask { return harness.NewPlan("", scripts...).Tasks }

// addDependent adds tasks with dependencies to a list while its first task runs. The
// others of the list keep their place in it.
func (c *client) addDependent() {
	doors := c.newDoors(4)
	o := c.create("x", harness.NewPlan("p", "await "+doors[0], "await "+doors[1]))
	c.move(o.ID, "working")
	c.await(doors[0])
	tasks := specs("await "+doors[2], "say four", "await "+doors[3], "say six")
	tasks[0].Dependencies, tasks[1].Dependencies = []string{"task-0"}, []string{o.Plans[0].Tasks[1].ID, "task-2"}
	tasks[2].Dependencies = []string{} // it begins at once, and the last task follows it
	c.shown("plans/addTasks", params{"id": o.Plans[0].ID, "tasks": tasks})
	c.await(doors[3])
	c.becomes(o.ID, "working working[working pending pending pending working pending]")
	c.control.Open(doors[0], "say one")
	c.await(doors[1])
	c.await(doors[2])
	c.becomes(o.ID, "working working[completed working working pending working pending]")
	c.control.Open(doors[3], "say five")
	c.becomes(o.ID, "working working[completed working working pending completed completed]")
	c.control.Open(doors[2], "say three")
	c.becomes(o.ID, "working working[completed working completed pending completed completed]")
	c.control.Open(doors[1], "say two")
	c.ran(c.becomes(o.ID, "completed completed[completed completed completed completed completed completed]"), 1, 1, 1, 1, 1, 1)
}

func (c *client) addPlans() {
	o, door := c.atDoor()
	late := harness.NewPlan("q", "say two")
	if p := c.add(o.ID, late); p.Status != "pending" {
		c.Errorf("a new plan is %s", p.Status)
	}
	late.Dependencies = []string{o.Plans[0].ID} // the plan before it keeps its place in the list
	c.add(o.ID, late)
	late.Dependencies = []string{}
	c.add(o.ID, late)
	c.becomes(o.ID, "working working[working] pending[pending] blocked/dependencies[pending] completed[completed]")
	c.control.Open(door, "say one")
	c.ran(c.becomes(o.ID, "completed completed[completed] completed[completed] completed[completed] completed[completed]"), 1, 1, 1, 1)
	_, err := c.c.CreatePlan(c.ctx, o.ID, late)
	if harness.Code(err) != -32001 || harness.Reason(err) != "INVALID_STATE_TRANSITION" {
		c.Errorf("a plan for an objective that has ended: %v", err)
	}
}

// changes are calls that raise the revision of an objective with a plan that was
// not started.
func changes(o *harness.Objective) map[string]params {
	plan, task := o.Plans[0].ID, o.Plans[0].Tasks[0].ID
	return map[string]params{
		"objectives/update": {"id": o.ID, "name": "another"},
		"objectives/replan": {"id": o.ID},
		"plans/create":      {"objectiveId": o.ID, "name": "another"},
		"plans/update":      {"id": plan, "name": "another"},
		"plans/addTasks":    {"id": plan, "tasks": specs("say more")},
		"tasks/link":        {"id": task, "a2aTaskId": "elsewhere"},
		// It changes no plan, and so no revision.
		"tasks/updateStatus": {"id": task, "status": "working"},
	}
}

// eachChange runs f once for each method of changes, with a new objective whose
// planner waits.
func (c *client) eachChange(f func(c *client, method string, o *harness.Objective)) {
	for method := range changes(&harness.Objective{Plans: []harness.ObjectivePlan{{Tasks: make([]harness.TaskOfPlan, 1)}}}) {
		c.each(c.T, method, func(c *client) {
			door := c.newDoor()
			o := c.shown("objectives/create", params{"name": "x", "description": "await " + door}).Objective
			c.add(o.ID, harness.NewPlan("p", "say one"))
			f(c, method, c.get(o.ID))
		})
	}
}

// undisturbed makes every change around a running task. The task must not run
// again.
func (c *client) undisturbed() {
	o, door := c.atDoor(harness.NewPlan("q", "say two"))
	plan := o.Plans[0].ID
	c.call("objectives/update", params{"id": o.ID, "name": "y", "metadata": map[string]any{"a": 1}})
	c.call("plans/update", params{"id": plan, "name": "y", "description": "z"})
	c.call("plans/addTasks", params{"id": plan, "tasks": specs("say more")})
	for _, id := range []string{o.ID, plan} {
		c.move(id, "blocked")
		c.move(id, "working")
	}
	c.add(o.ID, harness.NewPlan("r", "say three"))
	c.move(o.Plans[1].ID, "skipped")
	c.control.Open(door, "say one")
	c.ran(c.becomes(o.ID, "completed completed[completed completed] skipped[canceled] completed[completed]"), 1, 1, 0, 1)
	test.Is(c, "the task that ran all the time was run times", 1, len(c.control.Knocked(door)))
}

// retry begins a second attempt at an objective that failed in the middle:
// completed tasks do not run again, and their results are used.
func (c *client) retry() {
	doors := c.newDoors(1)
	first, second, third := harness.NewPlan("p", "say first"), harness.NewPlan("q", "await "+doors[0]), harness.NewPlan("r", "say third")
	o := c.create("x", first)
	second.Dependencies = []string{o.Plans[0].ID}
	third.Dependencies = []string{c.add(o.ID, second).ID}
	c.add(o.ID, third)
	c.control.Open(doors[0], "fail")
	c.move(o.ID, "working")
	o = c.becomes(o.ID, "failed completed[completed] failed/told-to[failed] skipped[canceled]")
	task := o.Plans[1].Tasks[0].ID
	old := []*harness.Task{c.root(o.ID, 1), c.root(task, 1), c.root(o.Plans[0].Tasks[0].ID, 1)}
	if old[0].State != "FAILED" || old[1].State != "FAILED" {
		c.Errorf("root task and task are %s and %s", old[0].Raw, old[1].Raw)
	}

	c.is(c.move(o.ID, "submitted").Objective, "submitted completed[completed] pending[pending] pending[pending]")
	if root := c.root(o.ID, 2); root.State != "SUBMITTED" || root.ContextID != o.ID || len(root.Artifacts) > 0 {
		c.Errorf("the root task of the second attempt is %s", root.Raw)
	}
	c.control.Open(doors[0], "what came before")
	c.move(o.ID, "working")
	o = c.becomes(o.ID, "completed completed[completed] completed[completed] completed[completed]")
	if got, want := o.Plans[1].Tasks[0].A2ATaskID, opt.RootID(task, 2); got != want || o.Plans[1].Tasks[0].ID != task {
		c.Errorf("the task is %+v, want it known as %s", o.Plans[1].Tasks[0], want)
	}
	if got, want := c.root(task, 2).Artifacts, "what came before\n· say first"; len(got) != 1 || got[0].Text != want {
		c.Errorf("the second attempt made %+v, want %q", got, want)
	}
	if root := c.root(o.ID, 2); root.State != "COMPLETED" || len(root.Artifacts) != 1 || root.Artifacts[0].Text != "third" {
		c.Errorf("the root task of the second attempt is %s", root.Raw)
	}
	c.ran(o, 1, 2, 1)
	if got, want := c.control.Knocked(doors[0]), []string{task + ":1", task + "~2:1"}; !slices.Equal(got, want) {
		c.Errorf("the task that failed was run as %v, want %v", got, want)
	}
	by := `"metadata":{"longhaul/v1/retriedBy":"` + opt.RootID(o.ID, 2) + `",` // of the root task alone
	for i, was := range old {
		want := string(was.Raw)
		if i == 0 {
			want = strings.Replace(want, `"metadata":{`, by, 1)
		}
		if now := c.root(was.ID, 1); string(now.Raw) != want {
			c.Errorf("the task that had ended is\n%s\nwant\n%s", now.Raw, want)
		}
	}
	if _, err := c.c.Send(c.ctx, harness.Message{ID: c.Name(), TaskID: o.ID, Text: "hello"}); harness.Code(err) != -32004 {
		c.Errorf("a message to the root task of the first attempt: %v", err)
	}
	if _, err := c.c.Cancel(c.ctx, o.ID); harness.Code(err) != -32002 {
		c.Errorf("canceling the root task of the first attempt: %v", err)
	}
	c.unchanged(o.ID, func() {
		_, err := c.try("objectives/update", params{"id": o.ID, "status": "submitted"})
		c.refused(err, "completed", "submitted")
	})
}

// retryCanceled retries objectives that were canceled before and during their
// work, twice.
func (c *client) retryCanceled() {
	door := c.newDoor()
	o := c.create("x", harness.NewPlan("p", "say first"), harness.NewPlan("q", "await "+door, "say third"))
	c.move(o.ID, "canceled")
	c.is(c.move(o.ID, "submitted").Objective, "submitted pending[pending] pending[pending pending]")
	c.move(o.ID, "working")
	c.await(door)
	c.move(o.ID, "canceled")
	c.becomes(o.ID, "canceled completed[completed] failed/canceled[canceled canceled]")
	c.stopped(door)
	c.control.Open(door, "say second")
	c.move(o.ID, "submitted")
	c.move(o.ID, "working")
	o = c.becomes(o.ID, "completed completed[completed] completed[completed completed]")
	c.ran(o, 1, 2, 1)
	for n, want := range []string{"CANCELED", "CANCELED", "COMPLETED"} {
		test.Is(c, fmt.Sprintf("the root task of attempt %d", n+1), want, c.root(o.ID, n+1).State)
	}
}

// retryLarge retries an objective with results that are larger than one payload
// of Temporal.
func (c *client) retryLarge() {
	door := c.newDoor()
	o := c.create("x", harness.NewPlan("p", "await "+door), harness.NewPlan("q", "fail"))
	c.control.Open(door, "say "+strings.Repeat("large ", 500_000))
	c.move(o.ID, "working")
	c.becomes(o.ID, "failed completed[completed] failed/told-to[failed]")
	c.is(c.move(o.ID, "submitted").Objective, "submitted completed[completed] pending[pending]")
}

// retryAtOnce retries an objective at once after a client has failed it.
func (c *client) retryAtOnce() {
	o, door := c.atDoor()
	c.move(o.Plans[0].ID, "failed")
	c.until(o.ID, "it has failed", func(o *harness.Objective) bool { return o.Status == "failed" })
	c.move(o.ID, "submitted")
	c.move(o.ID, "working")
	c.until(o.ID, "it is run again", func(*harness.Objective) bool { return len(c.control.Knocked(door)) == 2 })
	c.control.Open(door, "say done")
	c.ran(c.becomes(o.ID, "completed completed[completed]"), 2)
}

// planned makes an objective whose planner waits at a door, and starts it.
func (c *client) planned(door string, plans ...*harness.Plan) *harness.Objective {
	c.Helper()
	o := c.shown("objectives/create", params{"name": "x", "description": "await " + door}).Objective
	for _, p := range plans {
		c.add(o.ID, p)
	}
	c.move(o.ID, "working")
	return c.get(o.ID)
}

const (
	inPlanning = "planning blocked/operator[working pending]"
	onePlan    = `[{"name": "new", "tasks": [{"name": "n", "description": "say new"}]}]`
)

// replan replans while a task runs, which is canceled.
func (c *client) replan() {
	doors := c.newDoors(2)
	o := c.planned(doors[0], harness.NewPlan("p", "await "+doors[1], "say never"))
	c.await(doors[1])
	before := c.get(o.ID).Revision()
	again := c.shown("objectives/replan", params{"id": o.ID, "reason": "Better ideas"}).Objective
	c.is(again, inPlanning)
	if again.Revision() <= before {
		c.Errorf("the revision was %d and is %d", before, again.Revision())
	}
	c.await(doors[0])
	c.control.Open(doors[0], onePlan)
	c.stopped(doors[1])
	c.ran(c.becomes(o.ID, "completed skipped[canceled canceled] completed[completed]"), 1, 0, 1)
	if root := c.root(o.ID, 1); root.State != "COMPLETED" || root.Artifacts[len(root.Artifacts)-1].Text != "new" {
		c.Errorf("the root task is %s", root.Raw)
	}
	_, err := c.try("objectives/replan", params{"id": o.ID})
	c.refused(err, "completed", "planning")
}

// replanList replaces a working plan and the plans after it, which do not begin.
func (c *client) replanList() {
	doors := c.newDoors(2)
	plans := []*harness.Plan{harness.NewPlan("p", "await "+doors[1], "say never")}
	for range 5 {
		plans = append(plans, harness.NewPlan("q", "say never"))
	}
	o := c.planned(doors[0], plans...)
	c.await(doors[1])
	c.shown("objectives/replan", params{"id": o.ID})
	c.control.Open(doors[1], "say one")
	inPlanning := "planning blocked/operator[completed pending]" + strings.Repeat(" pending[pending]", 5)
	c.becomes(o.ID, inPlanning)
	c.unchanged(o.ID, func() { // another client asks for a replan
		c.is(c.shown("objectives/replan", params{"id": o.ID}).Objective, inPlanning)
	})
	c.control.Open(doors[0], onePlan)
	c.becomes(o.ID, "completed skipped[completed canceled]"+strings.Repeat(" skipped[canceled]", 5)+" completed[completed]")
}

// replanInVain has a replan without new plans. The old ones continue.
func (c *client) replanInVain() {
	doors := c.newDoors(2)
	o := c.planned(doors[0], harness.NewPlan("p", "await "+doors[1], "say two"), harness.NewPlan("q", "say three"))
	c.await(doors[1])
	c.is(c.shown("objectives/replan", params{"id": o.ID}).Objective, inPlanning+" pending[pending]")
	c.control.Open(doors[0], "fail")
	c.becomes(o.ID, "working working[working pending] pending[pending]")
	c.control.Open(doors[1], "say one")
	c.ran(c.becomes(o.ID, "completed completed[completed completed] completed[completed]"), 1, 1, 1)
}

// link links a task to a task of another server. The task does not run here: a
// client moves it.
func (c *client) link() {
	o := c.create("x", harness.NewPlan("p", "say never", "say two"))
	id := o.Plans[0].Tasks[0].ID
	task := c.shown("tasks/link", params{"id": id, "a2aTaskId": "elsewhere"}).Task
	if task.ID != id || task.A2ATaskID != "elsewhere" || task.Status != "pending" {
		c.Errorf("the task is %+v", task)
	}
	c.move(id, "working")
	c.unchanged(o.ID, func() {
		_, err := c.try("tasks/link", params{"id": id, "a2aTaskId": "another"})
		c.refused(err, "working", "linked")
	})
	c.move(o.ID, "working")
	c.move(id, "completed")
	c.ran(c.becomes(o.ID, "completed completed[completed completed]"), 0, 1)
}
