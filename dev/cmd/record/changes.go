package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"longhaul/opt"
	"longhaul/workflows"
)

// changed are the shapes of work that clients change while it runs.
var changed = []shape{
	{name: "edited", added: 1, specs: plans("approve Go on?|say one", "say never", "say two"), steps: []step{
		waitFor(opt.TaskInputRequired), addTasks(1, "say more"), skip(2), addPlan("say added", false), reorder(4), reorder(3, 4), reply(1, 0, opt.Reply{Action: opt.Accept}),
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
	return func(ctx context.Context, r *recorder, engine *workflows.Client, id string) error {
		return r.answered(ctx, r.command(c, id, n, m), func(c opt.Command) error { return engine.Command(ctx, c) })
	}
}

// command returns c for an objective, with its own id.
func (r *recorder) command(c opt.Command, id string, n, m int) opt.Command {
	r.commands++
	c.ID, c.ObjectiveID = fmt.Sprintf("command-%d", r.commands), id
	if n > 0 {
		c.PlanID = opt.PlanID(id, n)
	}
	if c.Kind == opt.LinkTask || c.Kind == opt.MoveTask || c.Kind == opt.CancelTask {
		c.TaskID = opt.TaskID(c.PlanID, m)
	}
	return c
}

// answered sends a command and waits until it is answered. A refusal is an error.
func (r *recorder) answered(ctx context.Context, c opt.Command, send func(opt.Command) error) error {
	if err := send(c); err != nil {
		return err
	}
	var answer opt.CommandAnswer
	var err error
	wait := r.untilTrue(ctx, c.ObjectiveID, func() (ok bool) {
		answer, ok, err = r.journal.Answer(ctx, c.ObjectiveID, c.ID)
		return ok || err != nil
	})
	if answer.Refusal != nil {
		return fmt.Errorf("%s: %w", c.Kind, answer.Refusal)
	}
	return errors.Join(err, wait)
}

// judged waits until the journal has the verdict on a message of a principal.
func (r *recorder) judged(ctx context.Context, id, by, messageID string) (err error) {
	wait := r.untilTrue(ctx, id, func() (ok bool) {
		_, ok, err = r.journal.Judgement(ctx, id, by, messageID)
		return ok || err != nil
	})
	return errors.Join(err, wait)
}

// reset resets the workflow of an objective, or of its n-th plan, to its first task, and waits until
// the journal shows that.
func reset(n int) step {
	return func(ctx context.Context, r *recorder, _ *workflows.Client, id string) error {
		workflowID := id
		if n > 0 {
			workflowID = opt.PlanID(id, n)
		}
		if err := r.reset(ctx, workflowID); err != nil {
			return err
		}
		return r.untilTask(ctx, id, func(v opt.TaskView) bool { return v.Rewound })
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
	return func(ctx context.Context, r *recorder, engine *workflows.Client, id string) error {
		change := &opt.Change{Dependencies: []string{}}
		for _, m := range after {
			change.Dependencies = append(change.Dependencies, opt.PlanID(id, m))
		}
		return do(opt.Command{Kind: opt.UpdatePlan, Change: change}, n, 0)(ctx, r, engine, id)
	}
}

func link(n, m int, to string, follow bool) step {
	return do(opt.Command{Kind: opt.LinkTask, Link: to, Follow: follow}, n, m)
}

// linkOther begins another objective and links a task to it.
func linkOther(n, m int, script string) step {
	return func(ctx context.Context, r *recorder, engine *workflows.Client, id string) error {
		other := opening(shape{name: "beside " + id, specs: plans(script)})
		if _, err := engine.Start(ctx, other); err != nil {
			return err
		}
		if err := r.untilTask(ctx, other.Objective.ID, func(opt.TaskView) bool { return true }); err != nil {
			return err
		}
		return link(n, m, other.Objective.ID, true)(ctx, r, engine, id)
	}
}

func move(n, m int, to opt.TaskState) step {
	return do(opt.Command{Kind: opt.MoveTask, Status: string(to)}, n, m)
}

func ask(to opt.ObjectiveStatus) step {
	return do(opt.Command{Kind: opt.UpdateObjective, Status: string(to)}, 0, 0)
}

func start(ctx context.Context, r *recorder, engine *workflows.Client, id string) error {
	return ask(opt.ObjectiveWorking)(ctx, r, engine, id)
}

func replan(ctx context.Context, r *recorder, engine *workflows.Client, id string) error {
	return do(opt.Command{Kind: opt.Replan, Text: "another way"}, 0, 0)(ctx, r, engine, id)
}

// retry waits for the end of an objective and begins a new attempt at it.
func retry(to opt.ObjectiveStatus) step {
	return func(ctx context.Context, r *recorder, engine *workflows.Client, id string) error {
		if err := r.untilObjective(ctx, id, func(o *opt.Objective) bool { return o.Settled() }); err != nil {
			return err
		}
		o, err := r.journal.Objective(ctx, tenant, id)
		if err != nil {
			return err
		}
		if err := r.rememberRun(ctx, id); err != nil {
			return err
		}
		for _, p := range o.Plans {
			if p.Status != opt.PlanCompleted {
				if err := r.rememberRun(ctx, p.ID); err != nil {
					return err
				}
			}
		}
		head := *o
		head.Plans = nil
		c := r.command(opt.Command{Kind: opt.UpdateObjective, Status: string(to)}, id, 0, 0)
		return r.answered(ctx, c, func(c opt.Command) error { return engine.Retry(ctx, head, c) })
	}
}

// retryPlan begins a new attempt at a plan that failed.
func retryPlan(n int, to opt.PlanStatus) step {
	return func(ctx context.Context, r *recorder, engine *workflows.Client, id string) error {
		if err := r.rememberRun(ctx, opt.PlanID(id, n)); err != nil {
			return err
		}
		return do(opt.Command{Kind: opt.UpdatePlan, Status: string(to)}, n, 0)(ctx, r, engine, id)
	}
}

func optional(p opt.PlanSpec) opt.PlanSpec {
	p.Metadata = p.Metadata.With(opt.KeyOptional, true)
	return p
}

// rememberRun waits for the end of a workflow that will begin again, and remembers its
// run.
func (r *recorder) rememberRun(ctx context.Context, workflowID string) error {
	run := r.temporal.GetWorkflow(ctx, workflowID, "")
	if _ = run.Get(ctx, nil); ctx.Err() != nil {
		return ctx.Err()
	}
	r.ended[workflowID] = slices.Insert(r.ended[workflowID], 0, run.GetRunID())
	return nil
}

func root(state opt.TaskState) step {
	return func(ctx context.Context, r *recorder, _ *workflows.Client, id string) error {
		return r.untilObjective(ctx, id, func(o *opt.Objective) bool { return o.Root == state })
	}
}

func planStatus(n int, s opt.PlanStatus) step {
	return func(ctx context.Context, r *recorder, _ *workflows.Client, id string) error {
		return r.untilObjective(ctx, id, func(o *opt.Objective) bool { return o.Plan(opt.PlanID(id, n)).Status == s })
	}
}

func inState(n, m int, state opt.TaskState) step {
	return func(ctx context.Context, r *recorder, _ *workflows.Client, id string) error {
		return r.untilTask(ctx, opt.TaskID(opt.PlanID(id, n), m), func(v opt.TaskView) bool { return v.State == state })
	}
}
