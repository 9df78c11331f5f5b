package opt_test

import (
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// Effects of a client's change of status on running work.
func steering(t *testing.T, s *service) {
	s.each(t, "a message starts what was begun by hand", (*client).startAfterHand)
	s.each(t, "a task waits by hand beside others", (*client).waitsBeside)
	s.each(t, "works while it is planned", (*client).worksWhilePlanned)
	s.each(t, "works while it is replanned", (*client).worksWhileReplanned)
	s.each(t, "goes on after a pause", (*client).resumes)
	s.each(t, "starts by itself", (*client).autoStart)
	s.each(t, "a plan out of turn", (*client).planOutOfTurn)
	s.each(t, "pause", (*client).pause)
	s.each(t, "pause at the last task of a plan", (*client).pauseAtTheEnd)
	s.each(t, "pause a plan", (*client).pausePlan)
	s.each(t, "cancel", (*client).cancel)
	s.each(t, "cancel a task that runs", (*client).cancelTask)
	s.each(t, "cancel a task that does not", (*client).cancelPending)
	s.each(t, "skip everything", (*client).skipAll)
}

func (c *client) startAfterHand() {
	o := c.create("x", harness.NewPlan("p", "say never", "say one"), harness.NewPlan("q", "say two"))
	moved := c.move(o.Plans[0].Tasks[0].ID, "completed")
	if moved.Plan.Status != "working" || moved.Objective.Status != "working" {
		c.Errorf("above it there are %s and %s", moved.Plan.Status, moved.Objective.Status)
	}
	c.is(c.get(o.ID), "working working[completed pending] pending[pending]")
	task := c.say(harness.Message{Text: "go", ContextID: o.ID})
	if task.ID != o.ID || task.State != "COMPLETED" {
		c.Errorf("the task is %s", task.Raw)
	}
	c.ran(c.get(o.ID), 0, 1, 1)
}

func (c *client) autoStart() {
	auto := map[string]any{"opt/v1/autoStart": true}
	o := c.shown("objectives/create", params{"name": "x", "metadata": auto}).Objective
	c.add(o.ID, harness.NewPlan("p", "say one"))
	c.becomes(o.ID, "completed completed[completed]")

	o = c.create("y", harness.NewPlan("p", "say one"))
	late := harness.NewPlan("q", "say two")
	late.Metadata = auto
	c.add(o.ID, late)
	c.becomes(o.ID, "completed completed[completed] completed[completed]")
}

// A plan that a client starts runs before the plans before it.
func (c *client) planOutOfTurn() {
	doors := c.newDoors(2)
	o := c.create("x", harness.NewPlan("p", "await "+doors[0]), harness.NewPlan("q", "await "+doors[1]))
	test.Is(c, "the plan", "working", c.move(o.Plans[1].ID, "working").Plan.Status)
	c.await(doors[1])
	c.becomes(o.ID, "working pending[pending] working[working]")
	c.control.Open(doors[1], "say two")
	c.await(doors[0])
	c.becomes(o.ID, "working working[working] completed[completed]")
	c.control.Open(doors[0], "say one")
	c.ran(c.becomes(o.ID, "completed completed[completed] completed[completed]"), 1, 1)
}

// Running tasks may finish; nothing new begins, also after the answer.
func (c *client) pause() {
	door := c.newDoor()
	o := c.create("x", harness.NewPlan("p", "await "+door, "say two"), harness.NewPlan("q", "say three"))
	c.move(o.ID, "working")
	c.await(door)
	c.is(c.move(o.ID, "blocked").Objective, "blocked/operator blocked/operator[working pending] pending[pending]")
	c.control.Open(door, "say one")
	o = c.becomes(o.ID, "blocked/operator blocked/operator[completed pending] pending[pending]")
	c.shown("plans/addTasks", params{"id": o.Plans[0].ID, "tasks": []any{map[string]any{"name": "say late"}}})
	c.is(c.get(o.ID), "blocked/operator blocked/operator[completed pending pending] pending[pending]")
	c.ran(c.get(o.ID), 1, 0, 0, 0)
	c.move(o.ID, "working")
	c.ran(c.becomes(o.ID, "completed completed[completed completed completed] completed[completed]"), 1, 1, 1, 1)
}

func (c *client) pauseAtTheEnd() {
	o, door := c.atDoor(harness.NewPlan("q", "say two"))
	c.move(o.ID, "blocked")
	c.control.Open(door, "say one")
	c.becomes(o.ID, "blocked/operator completed[completed] pending[pending]")
	c.shown("objectives/update", params{"id": o.ID, "name": "y"}) // the objective has handled all earlier inputs
	c.ran(c.becomes(o.ID, "blocked/operator completed[completed] pending[pending]"), 1, 0)
	c.move(o.ID, "working")
	c.ran(c.becomes(o.ID, "completed completed[completed] completed[completed]"), 1, 1)
}

func (c *client) pausePlan() {
	doors := c.newDoors(2)
	o := c.create("x", harness.NewPlan("p", "await "+doors[0], "say two"), harness.NewPlan("q", "await "+doors[1]))
	c.move(o.ID, "working")
	c.move(o.Plans[1].ID, "working")
	c.await(doors[0])
	c.await(doors[1])
	if p := c.move(o.Plans[0].ID, "blocked").Plan; planWord(*p) != "blocked/operator" {
		c.Errorf("the plan is %s", planWord(*p))
	}
	c.control.Open(doors[0], "say one")
	c.becomes(o.ID, "working blocked/operator[completed pending] working[working]")
	c.control.Open(doors[1], "say three")
	c.ran(c.becomes(o.ID, "blocked/plan-paused blocked/operator[completed pending] completed[completed]"), 1, 0, 1)
	c.move(o.Plans[0].ID, "working")
	c.ran(c.becomes(o.ID, "completed completed[completed completed] completed[completed]"), 1, 1, 1)
}

// cancel cancels an objective during its work.
func (c *client) cancel() {
	door := c.newDoor()
	o := c.create("x", harness.NewPlan("p", "say one"), harness.NewPlan("q", "await "+door, "say never"), harness.NewPlan("r", "say never"))
	c.move(o.ID, "working")
	c.await(door)
	if task, err := c.c.Cancel(c.ctx, o.ID); err != nil || task.State != "CANCELED" {
		c.Errorf("the answer is %+v, %v", task, err)
	}
	const want = "canceled completed[completed] failed/canceled[canceled canceled] skipped[canceled]"
	c.becomes(o.ID, want)
	c.stopped(door)
	before := c.root(o.ID, 1)
	if _, err := c.plain.Cancel(c.ctx, o.ID); err == nil || !strings.Contains(err.Error(), "-32002") || !strings.Contains(err.Error(), "it is canceled") {
		c.Errorf("canceled again: %v", err)
	}
	if after := c.root(o.ID, 1); string(after.Raw) != string(before.Raw) {
		c.Errorf("canceled again, it is %s, was %s", after.Raw, before.Raw)
	}
	c.ran(c.becomes(o.ID, want), 1, 1, 0, 0)
}

// cancelTask cancels a running, optional task.
func (c *client) cancelTask() {
	door := c.newDoor()
	p := harness.NewPlan("p", "await "+door, "say two")
	p.Tasks[0].Metadata = harness.Optional()
	o := c.create("x", p)
	c.move(o.ID, "working")
	c.await(door)
	if task, err := c.c.Cancel(c.ctx, o.Plans[0].Tasks[0].ID); err != nil || task.State != "CANCELED" {
		c.Errorf("the answer is %+v, %v", task, err)
	}
	c.stopped(door)
	c.ran(c.becomes(o.ID, "completed completed[canceled completed]"), 1, 1)
	if _, err := c.c.Cancel(c.ctx, o.ID); harness.Code(err) != -32002 {
		c.Errorf("canceling a completed task: %v", err)
	}
}

// cancelPending cancels tasks before their turn, in both ways. They never run.
func (c *client) cancelPending() {
	door := c.newDoor()
	p := harness.NewPlan("p", "await "+door, "say never", "say never", "say never", "say last")
	for i := range p.Tasks {
		p.Tasks[i].Metadata = harness.Optional()
	}
	o := c.create("x", p)
	tasks := o.Plans[0].Tasks
	c.move(tasks[1].ID, "canceled")
	c.move(o.ID, "working")
	c.await(door)
	c.move(tasks[2].ID, "canceled")
	if task, err := c.c.Cancel(c.ctx, tasks[3].ID); err != nil || task.State != "CANCELED" {
		c.Errorf("the answer is %+v, %v", task, err)
	}
	c.is(c.get(o.ID), "working working[working canceled canceled canceled pending]")
	c.control.Open(door, "say one")
	c.ran(c.becomes(o.ID, "completed completed[completed canceled canceled canceled completed]"), 1, 0, 0, 0, 1)
}

// skipAll skips all plans of an objective: it waits for another plan.
func (c *client) skipAll() {
	o := c.create("x", harness.NewPlan("p", "say never"))
	c.move(o.ID, "working")
	o = c.create("x", harness.NewPlan("p", "say never"))
	c.move(o.Plans[0].ID, "skipped")
	c.move(o.ID, "working")
	c.is(c.get(o.ID), "working skipped[canceled]")
	c.add(o.ID, harness.NewPlan("q", "say two"))
	c.ran(c.becomes(o.ID, "completed skipped[canceled] completed[completed]"), 0, 1)
}
