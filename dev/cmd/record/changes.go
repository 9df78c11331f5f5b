package main

import (
	"context"
	"errors"
	"fmt"

	"longhaul/opt"
	"longhaul/opt/shown"
)

// changed are the shapes of work that clients change while it runs.
var changed = []shape{
	{name: "edited", added: 1, specs: plans("approve Go on?|say one", "say never", "say two"), steps: []step{
		waitFor(opt.TaskInputRequired), addTasks(1, "say more"), skip(2), addPlan("say added", false), reorder(4), reorder(3, 4), reply(1, 0, opt.Reply{Action: opt.Accept}),
	}},
	{name: "reordered", specs: plans("approve Go on?|say one|say two|say three"), steps: []step{
		waitFor(opt.TaskInputRequired), orderTasks(1, [2]int{3, 1}, [2]int{2, 3}), orderTasks(1, [2]int{2, 0}), reply(1, 0, opt.Reply{Action: opt.Accept}),
	}},
	{name: "linked", idle: true, added: 1, steps: []step{
		addPlan("say one|say two|say three", false), link(1, 0, "elsewhere", false), linkOther(1, 1, "work 2s; say theirs"), start,
		inState(1, 0, opt.TaskWorking), move(1, 0, opt.TaskCompleted),
	}},
	{name: "retried-objective", specs: plans("say kept", "fail|say never", "say last"), steps: []step{
		retry(opt.ObjectiveSubmitted), addTasks(3, "say more"), start,
	}},
	{name: "retried-plan", specs: []opt.PlanSpec{optional(plan("Plan 1", "say kept", "fail")), plan("Plan 2", "approve Go on?; say done")}, steps: []step{
		planStatus(1, opt.PlanFailed), retryPlan(1, opt.PlanWorking), inState(1, 1, opt.TaskFailed), planStatus(1, opt.PlanFailed),
		retryPlan(1, opt.PlanPending), reply(2, 0, opt.Reply{Action: opt.Accept}),
	}},
	{name: "by-hand", idle: true, added: 2, steps: []step{
		addPlan("say one", false), addPlan("say two|say three", false),
		move(2, 0, opt.TaskWorking), move(2, 0, opt.TaskInputRequired), root(opt.TaskInputRequired), move(2, 0, opt.TaskWorking), root(opt.TaskWorking),
		move(2, 0, opt.TaskCompleted), start,
	}},
	{name: "by-hand-beside", idle: true, added: 1, steps: []step{
		addPlan("say one|say two", false), move(1, 0, opt.TaskWorking), move(1, 1, opt.TaskWorking), move(1, 1, opt.TaskInputRequired),
		move(1, 1, opt.TaskCompleted), move(1, 0, opt.TaskCompleted),
	}},
	{name: "paused-resumed", specs: plans("work 2s|say done"), steps: []step{
		waitFor(opt.TaskWorking), ask(opt.ObjectiveBlocked), start,
	}},
	{name: "paused-edited", specs: plans("approve Go on?|say next", "say two"), steps: []step{
		waitFor(opt.TaskInputRequired), ask(opt.ObjectiveBlocked), addTasks(2, "say more"), start, reply(1, 0, opt.Reply{Action: opt.Accept}),
	}},
	{name: "shaped-by-another", specs: plans("approve Go on?|say next"), steps: []step{
		waitFor(opt.TaskInputRequired), noteBy("another", 1, 0), reply(1, 0, opt.Reply{Action: opt.Accept}),
	}},
	{name: "reset-objective", specs: plans("approve Go on?; say done", "say last"), steps: []step{
		waitFor(opt.TaskInputRequired), reset(0), reply(1, 0, opt.Reply{Action: opt.Accept}),
	}},
	{name: "reset-objective-twice", specs: plans("approve Go on?; say done"), steps: []step{
		waitFor(opt.TaskInputRequired), reset(0), reset(0), reply(1, 0, opt.Reply{Action: opt.Accept}),
	}},
	{name: "reset-plan", specs: plans("approve Go on?; say done"), steps: []step{
		waitFor(opt.TaskInputRequired), reset(1), replyAgain(1, 0, 1001, opt.Reply{Action: opt.Accept}),
	}},
	{name: "replanned", added: 1, text: "say planned", specs: plans("approve Go on?|say never"), steps: []step{
		waitFor(opt.TaskInputRequired), replan,
	}},
	{name: "replan-dropped", text: "slow", specs: plans("approve Go on?|say done"), steps: []step{
		waitFor(opt.TaskInputRequired), replan, start, reply(1, 0, opt.Reply{Action: opt.Accept}),
	}},
	{name: "works-while-planned", text: "slow", steps: []step{start}},
}

// do sends a command about the n-th plan, and about its m-th task if it is a
// command for a task, and waits for the answer.
func do(c opt.Command, n, m int) step {
	return func(ctx context.Context, w work) error {
		return w.answered(ctx, w.command(c, n, m), func(c opt.Command) error { return w.engine.Command(ctx, c) })
	}
}

// command returns c for the objective, with its own id.
func (w work) command(c opt.Command, n, m int) opt.Command {
	w.commands++
	c.ID, c.ObjectiveID = fmt.Sprintf("command-%d", w.commands), w.id
	if n > 0 {
		c.PlanID = w.plan(n)
	}
	if c.Kind == opt.LinkTask || c.Kind == opt.MoveTask || c.Kind == opt.CancelTask {
		c.TaskID = w.task(n, m)
	}
	return c
}

// answered sends a command and waits until it is answered. A refusal is an error.
func (w work) answered(ctx context.Context, c opt.Command, send func(opt.Command) error) error {
	if err := send(c); err != nil {
		return err
	}
	var answer opt.CommandAnswer
	var err error
	wait := w.untilTrue(ctx, c.ObjectiveID, func() (ok bool) {
		answer, ok, err = w.journal.Answer(ctx, c.ObjectiveID, c.ID)
		return ok || err != nil
	})
	if answer.Refusal != nil {
		return fmt.Errorf("%s: %w", c.Kind, answer.Refusal)
	}
	return errors.Join(err, wait)
}

// reset resets the workflow of an objective, or of its n-th plan, to its first task, and waits until
// the journal shows that.
func reset(n int) step {
	return func(ctx context.Context, w work) error {
		workflowID := w.id
		if n > 0 {
			workflowID = w.plan(n)
		}
		if err := w.reset(ctx, workflowID); err != nil {
			return err
		}
		return w.untilTask(ctx, w.id, func(v shown.TaskView) bool { return v.Rewound })
	}
}

func addTasks(n int, scripts ...string) step {
	return do(opt.Command{Kind: opt.AddTasks, Tasks: plan("", scripts...).Tasks}, n, 0)
}

func skip(n int) step {
	return do(opt.Command{Kind: opt.UpdatePlan, Status: string(opt.PlanSkipped)}, n, 0)
}

// reorder makes a plan depend on others.
func reorder(n int, after ...int) step {
	return func(ctx context.Context, w work) error {
		change := &opt.Change{Dependencies: []string{}}
		for _, m := range after {
			change.Dependencies = append(change.Dependencies, w.plan(m))
		}
		return do(opt.Command{Kind: opt.UpdatePlan, Change: change}, n, 0)(ctx, w)
	}
}

// orderTasks makes tasks of a plan wait for one other each: the first of a pair for the second.
func orderTasks(n int, pairs ...[2]int) step {
	return func(ctx context.Context, w work) error {
		var order []opt.TaskOrder
		for _, pair := range pairs {
			order = append(order, opt.TaskOrder{ID: w.task(n, pair[0]), Dependencies: []string{w.task(n, pair[1])}})
		}
		return do(opt.Command{Kind: opt.OrderTasks, Order: order}, n, 0)(ctx, w)
	}
}

func link(n, m int, to string, follow bool) step {
	return do(opt.Command{Kind: opt.LinkTask, Link: to, Follow: follow}, n, m)
}

// linkOther begins another objective and links a task to it.
func linkOther(n, m int, script string) step {
	return func(ctx context.Context, w work) error {
		other := opening(shape{name: "beside " + w.id, specs: plans(script)})
		if _, err := w.engine.Start(ctx, other); err != nil {
			return err
		}
		if err := w.untilTask(ctx, other.Objective.ID, func(shown.TaskView) bool { return true }); err != nil {
			return err
		}
		return link(n, m, other.Objective.ID, true)(ctx, w)
	}
}

func move(n, m int, to opt.TaskState) step {
	return do(opt.Command{Kind: opt.MoveTask, Status: string(to)}, n, m)
}

func ask(to opt.ObjectiveStatus) step {
	return do(opt.Command{Kind: opt.UpdateObjective, Status: string(to)}, 0, 0)
}

var (
	start  = ask(opt.ObjectiveWorking)
	replan = do(opt.Command{Kind: opt.Replan, Text: "another way"}, 0, 0)
)

// retry waits for the end of an objective and begins a new attempt at it.
func retry(to opt.ObjectiveStatus) step {
	return func(ctx context.Context, w work) error {
		if err := w.untilObjective(ctx, w.id, func(o *opt.Objective) bool { return o.Settled() }); err != nil {
			return err
		}
		o, err := w.journal.Objective(ctx, tenant, w.id)
		if err != nil {
			return err
		}
		if err := w.rememberEnd(ctx, w.id); err != nil {
			return err
		}
		for _, p := range o.Plans {
			if p.Status != opt.PlanCompleted {
				if err := w.rememberEnd(ctx, p.ID); err != nil {
					return err
				}
			}
		}
		head := *o
		head.Plans = nil
		c := w.command(opt.Command{Kind: opt.UpdateObjective, Status: string(to)}, 0, 0)
		return w.answered(ctx, c, func(c opt.Command) error { return w.engine.Retry(ctx, head, c) })
	}
}

// retryPlan begins a new attempt at a plan that failed.
func retryPlan(n int, to opt.PlanStatus) step {
	return func(ctx context.Context, w work) error {
		if err := w.rememberEnd(ctx, w.plan(n)); err != nil {
			return err
		}
		return do(opt.Command{Kind: opt.UpdatePlan, Status: string(to)}, n, 0)(ctx, w)
	}
}

func optional(p opt.PlanSpec) opt.PlanSpec {
	p.Metadata = p.Metadata.With(opt.KeyOptional, true)
	return p
}

// untilObjective waits until the objective is as is says.
func untilObjective(is func(w work, o *opt.Objective) bool) step {
	return func(ctx context.Context, w work) error {
		return w.untilObjective(ctx, w.id, func(o *opt.Objective) bool { return is(w, o) })
	}
}

func root(state opt.TaskState) step {
	return untilObjective(func(_ work, o *opt.Objective) bool { return o.Root == state })
}

func planStatus(n int, s opt.PlanStatus) step {
	return untilObjective(func(w work, o *opt.Objective) bool { return o.Plan(w.plan(n)).Status == s })
}
