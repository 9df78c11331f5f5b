package opt_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

// waitsBeside has a client move a task to a waiting state while another works,
// and start the objective.
func (c *client) waitsBeside() {
	doors := c.newDoors(2)
	p := harness.NewPlan("p", "say never", "await "+doors[0])
	q := harness.NewPlan("q", "await "+doors[1])
	o := c.create("x", p)
	q.Dependencies = []string{} // it does not follow the first
	c.add(o.ID, q)
	r := harness.NewPlan("r", "say last")
	r.Dependencies = []string{o.Plans[0].ID}
	c.add(o.ID, r)
	task := o.Plans[0].Tasks[0].ID
	c.move(task, "working")
	c.move(task, "input-required")
	c.is(c.get(o.ID), "working blocked/input[input-required pending] pending[pending] pending[pending]")
	c.say(harness.Message{Text: "go", ContextID: o.ID})
	c.await(doors[1])
	c.becomes(o.ID, "working blocked/input[input-required pending] working[working] blocked/dependencies[pending]")
	if root := c.root(o.ID, 1); root.State != "INPUT_REQUIRED" {
		c.Errorf("the root task is %s", root.Raw)
	}
	c.control.Open(doors[1], "say done")
	c.becomes(o.ID, "blocked/input blocked/input[input-required pending] completed[completed] blocked/dependencies[pending]")
	c.move(task, "completed")
	c.await(doors[0])
	if root := c.root(o.ID, 1); root.State != "WORKING" {
		c.Errorf("the root task is %s", root.Raw)
	}
	c.control.Open(doors[0], "say done")
	c.ran(c.becomes(o.ID, "completed completed[completed completed] completed[completed] completed[completed]"), 0, 1, 1, 1)
}

// worksWhilePlanned moves an objective to working before its plans are made. They
// are still added.
func (c *client) worksWhilePlanned() {
	door := c.newDoor()
	o := c.shown("objectives/create", params{"name": "x", "description": "await " + door}).Objective
	c.move(o.ID, "planning")
	c.await(door)
	c.is(c.move(o.ID, "working").Objective, "working")
	c.control.Open(door, onePlan)
	c.ran(c.becomes(o.ID, "completed completed[completed]"), 1)
}

// worksWhileReplanned moves an objective to working during a replan. Its old
// plans continue.
func (c *client) worksWhileReplanned() {
	doors := c.newDoors(2)
	o := c.planned(doors[0], harness.NewPlan("p", "await "+doors[1], "say two"), harness.NewPlan("q", "say three"))
	c.await(doors[1])
	c.is(c.shown("objectives/replan", params{"id": o.ID}).Objective, inPlanning+" pending[pending]")
	c.await(doors[0])
	c.is(c.move(o.ID, "working").Objective, "working working[working pending] pending[pending]")
	c.stopped(doors[0])
	c.control.Open(doors[0], onePlan)
	c.control.Open(doors[1], "say one")
	c.ran(c.becomes(o.ID, "completed completed[completed completed] completed[completed]"), 1, 1, 1)
}

// resumes resumes an objective after a pause. It shows no status in between.
func (c *client) resumes() {
	o, door := c.atDoor()
	c.move(o.ID, "blocked")
	c.move(o.ID, "working")
	c.control.Open(door, "say done")
	c.becomes(o.ID, "completed completed[completed]")
	events := test.Value(c.c.All(c.ctx, o.ID, 0))(c)
	var got []string
	for _, e := range events {
		var t streamed
		test.OK(c, json.Unmarshal([]byte(e.Data), &t))
		if event := t.Result.StatusUpdate.Metadata.Event; event.Kind == "objective" && event.From != event.To {
			got = append(got, event.To)
		}
	}
	if want := []string{"submitted", "working", "blocked", "working", "completed"}; !slices.Equal(got, want) {
		c.Errorf("the objective was %v, want %v", got, want)
	}
}

// follow links a task to another task of the service, and it ends in the same
// way.
func (c *client) follow() {
	door := c.newDoor()
	other := c.create("y", harness.NewPlan("p", "await "+door))
	o := c.create("x", harness.NewPlan("p", "say never", "say two"))
	task := o.Plans[0].Tasks[0].ID
	for _, id := range []string{task, o.ID, o.Plans[0].ID, o.Plans[0].Tasks[1].ID} {
		c.unchanged(o.ID, func() {
			if _, err := c.try("tasks/link", params{"id": task, "a2aTaskId": id}); harness.Code(err) != -32602 {
				c.Errorf("linked to %s: %v", id, err)
			}
		})
	}
	c.call("tasks/link", params{"id": task, "a2aTaskId": other.ID})
	c.move(o.ID, "working")
	c.becomes(o.ID, "working working[working pending]")
	c.move(other.ID, "working")
	c.await(door)
	c.control.Open(door, "say theirs")
	c.ran(c.becomes(o.ID, "completed completed[completed completed]"), 0, 1)
	if made := c.root(task, 1).Artifacts; len(made) != 1 || made[0].Text != "theirs" || made[0].ID != "1-0-1-0-echo" {
		c.Errorf("the task made %+v", made)
	}

	failed := c.create("z", harness.NewPlan("p", "say never", "say never"))
	c.call("tasks/link", params{"id": failed.Plans[0].Tasks[1].ID, "a2aTaskId": opt.RootID(c.canceled(), 1)})
	c.call("tasks/link", params{"id": failed.Plans[0].Tasks[0].ID, "a2aTaskId": other.Plans[0].Tasks[0].ID})
	c.move(failed.ID, "working")
	c.ran(c.becomes(failed.ID, "failed failed/linked[completed canceled]"), 0, 0)
}

// canceled makes an objective that was canceled, and returns its id.
func (c *client) canceled() string {
	o := c.create("canceled", harness.NewPlan("p", "say never"))
	c.move(o.ID, "canceled")
	return o.ID
}

// followNoMore cancels a task that follows another, which continues.
func (c *client) followNoMore() {
	door := c.newDoor()
	other := c.create("y", harness.NewPlan("p", "await "+door))
	p := harness.NewPlan("p", "say never", "say two")
	p.Tasks[0].Metadata = harness.Optional()
	o := c.create("x", p)
	task := o.Plans[0].Tasks[0].ID
	c.call("tasks/link", params{"id": task, "a2aTaskId": other.ID})
	c.move(other.ID, "working")
	c.await(door)
	c.move(o.ID, "working")
	c.becomes(o.ID, "working working[working pending]")
	if canceled, err := c.c.Cancel(c.ctx, task); err != nil || canceled.State != "CANCELED" {
		c.Errorf("the answer is %+v, %v", canceled, err)
	}
	c.ran(c.becomes(o.ID, "completed completed[canceled completed]"), 0, 1)
	c.is(c.get(other.ID), "working working[working]")
	c.control.Open(door, "say done")
	c.becomes(other.ID, "completed completed[completed]")
}

// race has many clients make the same change at once with the same revision.
func (c *client) race() {
	c.eachChange(func(c *client, method string, o *harness.Objective) {
		var all sync.WaitGroup
		errs := make([]error, 6)
		for i := range errs {
			p := changes(o)[method]
			p["longhaul/v1/revision"] = o.Revision()
			all.Go(func() { _, errs[i] = c.try(method, p) })
		}
		all.Wait()
		first := 0
		for _, err := range errs {
			switch {
			case err == nil:
				first++
			case harness.Reason(err) != "STALE_REVISION":
				c.Error(err)
			}
		}
		test.Is(c, "clients were first", 1, first)
	})
}

// planAgain retries an optional plan of an open objective, twice.
func (c *client) planAgain() {
	doors := c.newDoors(2)
	first := harness.NewPlan("p", "say kept", "fail")
	first.Metadata = harness.Optional()
	o := c.create("x", first, harness.NewPlan("q", "await "+doors[0]), harness.NewPlan("r", "say last"))
	id, task := o.Plans[0].ID, o.Plans[0].Tasks[1].ID
	c.move(o.ID, "working")
	c.await(doors[0])
	c.becomes(o.ID, "working failed/told-to[completed failed] working[working] pending[pending]")
	if p := c.move(id, "working").Plan; p.Status != "working" && p.Status != "failed" {
		c.Errorf("the plan is %+v", p)
	}
	c.becomes(o.ID, "working failed/told-to[completed failed] working[working] pending[pending]")
	c.ran(c.get(o.ID), 1, 2, 1, 0)
	if p := c.move(id, "pending").Plan; p.Status != "pending" || p.Tasks[0].Status != "completed" || p.Tasks[1].Status != "pending" {
		c.Errorf("the plan is %+v", p)
	}
	c.is(c.get(o.ID), "working pending[completed pending] working[working] pending[pending]")
	c.move(task, "completed")
	o = c.becomes(o.ID, "working completed[completed completed] working[working] pending[pending]")
	if got, want := o.Plans[0].Tasks[1].A2ATaskID, opt.RootID(task, 3); got != want || o.Plans[0].Tasks[0].A2ATaskID != o.Plans[0].Tasks[0].ID {
		c.Errorf("tasks are %+v, want the second known as %s", o.Plans[0].Tasks, want)
	}
	for n, want := range []string{"FAILED", "FAILED", "COMPLETED"} {
		test.Is(c, fmt.Sprintf("attempt %d at the task", n+1), want, c.root(task, n+1).State)
	}
	// The number of a later attempt at the objective is higher.
	c.move(o.ID, "canceled")
	c.stopped(doors[0])
	c.control.Open(doors[0], "say second")
	c.move(o.ID, "submitted")
	c.move(o.ID, "working")
	o = c.becomes(o.ID, "completed completed[completed completed] completed[completed] completed[completed]")
	c.ran(o, 1, 2, 2, 1)
	if got, want := o.Plans[1].Tasks[0].A2ATaskID, opt.RootID(o.Plans[1].Tasks[0].ID, 2); got != want {
		c.Errorf("the task is known as %s, want %s", got, want)
	}
}

// reorder puts the last plan before the second while the first works.
func (c *client) reorder() {
	doors := c.newDoors(2)
	o := c.create("x", harness.NewPlan("p", "await "+doors[0]), harness.NewPlan("q", "say two"), harness.NewPlan("r", "await "+doors[1]))
	c.move(o.ID, "working")
	c.await(doors[0])
	before := c.get(o.ID).Revision()
	second, third := o.Plans[1].ID, o.Plans[2].ID
	c.unchanged(o.ID, func() { // the third would follow the second, which would wait for it
		if _, err := c.try("plans/update", params{"id": second, "dependencies": []string{third}}); harness.Code(err) != -32602 || !strings.Contains(err.Error(), `"r" follows "q" in the list`) {
			c.Errorf("a cycle through the list: %v", err)
		}
	})
	c.shown("plans/update", params{"id": third, "dependencies": []string{}})
	p := c.shown("plans/update", params{"id": second, "dependencies": []string{third}, "name": "later"}).Plan
	if planWord(*p) != "blocked/dependencies" || !slices.Equal(p.Dependencies, []string{third}) || p.Name != "later" {
		c.Errorf("the plan is %+v", p)
	}
	if now := c.get(o.ID).Revision(); now <= before {
		c.Errorf("the revision was %d and is %d", before, now)
	}
	c.await(doors[1])
	c.becomes(o.ID, "working working[working] blocked/dependencies[pending] working[working]")
	for id, on := range map[string]string{third: second, o.Plans[0].ID: second} {
		c.unchanged(o.ID, func() {
			_, err := c.try("plans/update", params{"id": id, "dependencies": []string{on}})
			c.refused(err, "working", "other dependencies")
		})
	}
	for _, on := range []string{second, "plan-x"} {
		c.unchanged(o.ID, func() {
			if _, err := c.try("plans/update", params{"id": second, "dependencies": []string{on}}); harness.Code(err) != -32602 {
				c.Errorf("on %s: %v", on, err)
			}
		})
	}
	c.control.Open(doors[1], "say three")
	c.becomes(o.ID, "working working[working] completed[completed] completed[completed]")
	c.control.Open(doors[0], "say one")
	c.ran(c.becomes(o.ID, "completed completed[completed] completed[completed] completed[completed]"), 1, 1, 1)
	var texts []string
	for _, a := range c.root(o.ID, 1).Artifacts {
		texts = append(texts, a.Text)
	}
	slices.Sort(texts)
	if !slices.Equal(texts, []string{"one", "two"}) { // the third plan is not a leaf any more
		c.Errorf("the root task made %v", texts)
	}
}
